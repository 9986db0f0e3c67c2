package org_test

import (
	"fmt"
	"testing"
	"testing/fstest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"sfbridge/salesforce/simorg/org"
	"sfbridge/salesforce/simorg/schema"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const xmlns = ` xmlns="http://soap.sforce.com/2006/04/metadata">`

// metadata builds a source folder: objects with a text name, and fields
// "Object.Field" with the inner XML of their declaration.
func metadata(objects []string, fields map[string]string, rules map[string]string) fstest.MapFS {
	fs := fstest.MapFS{}
	add := func(path, root, inner string) {
		fs["objects/"+path] = &fstest.MapFile{Data: []byte("<" + root + xmlns + inner + "</" + root + ">")}
	}
	for _, o := range objects {
		add(o+"/"+o+".object-meta.xml", "CustomObject", `<label>`+o+`</label><pluralLabel>`+o+`s</pluralLabel><nameField><label>Name</label><type>Text</type></nameField><sharingModel>ReadWrite</sharingModel>`)
	}
	for name, inner := range fields {
		var o, f string
		if n, err := fmt.Sscanf(name, "%s %s", &o, &f); n != 2 || err != nil {
			panic(name)
		}
		add(o+"/fields/"+f+".field-meta.xml", "CustomField", "<fullName>"+f+"</fullName><label>"+f+"</label>"+inner)
	}
	for name, inner := range rules {
		var o, r string
		if n, err := fmt.Sscanf(name, "%s %s", &o, &r); n != 2 || err != nil {
			panic(name)
		}
		add(o+"/validationRules/"+r+".validationRule-meta.xml", "ValidationRule", "<fullName>"+r+"</fullName><active>true</active>"+inner)
	}
	return fs
}

const (
	textKey = `<type>Text</type><length>40</length><externalId>true</externalId>`
	lookup  = `<type>Lookup</type><referenceTo>Parent__c</referenceTo>`
)

func family() fstest.MapFS {
	return metadata([]string{"Parent__c", "Detail__c", "Loose__c", "Bound__c"}, map[string]string{
		"Parent__c Folded__c": textKey + `<unique>true</unique><caseSensitive>false</caseSensitive>`,
		"Parent__c Exact__c":  textKey + `<unique>true</unique><caseSensitive>true</caseSensitive>`,
		"Parent__c Tag__c":    textKey,
		"Parent__c Number__c": `<type>Number</type><precision>6</precision><scale>2</scale><externalId>true</externalId><unique>true</unique>`,
		"Parent__c Level__c":  `<type>Number</type><precision>4</precision><scale>0</scale><defaultValue>1</defaultValue>`,
		"Parent__c Kinds__c":  `<type>MultiselectPicklist</type><visibleLines>4</visibleLines><valueSet><restricted>true</restricted><valueSetDefinition><sorted>false</sorted><value><fullName>A</fullName><default>false</default><label>A</label></value><value><fullName>B</fullName><default>false</default><label>B</label></value></valueSetDefinition></valueSet>`,
		"Parent__c Day__c":    `<type>Date</type>`,
		"Parent__c On__c":     `<type>Checkbox</type><defaultValue>true</defaultValue>`,
		"Detail__c Parent__c": `<type>MasterDetail</type><referenceTo>Parent__c</referenceTo><relationshipName>Details</relationshipName><relationshipOrder>0</relationshipOrder>`,
		"Loose__c Parent__c":  lookup + `<relationshipName>Loose</relationshipName><deleteConstraint>SetNull</deleteConstraint>`,
		"Bound__c Parent__c":  lookup + `<relationshipName>Bound</relationshipName><deleteConstraint>Restrict</deleteConstraint>`,
	}, map[string]string{
		"Parent__c Top_Level":  `<errorConditionFormula>Level__c &gt; 100</errorConditionFormula><errorMessage>TOO HIGH</errorMessage>`,
		"Parent__c Even_Level": `<errorConditionFormula>Level__c = 101</errorConditionFormula><errorMessage>ODD</errorMessage><errorDisplayField>Level__c</errorDisplayField>`,
	})
}

// db is an org over the family, with shorthands.
type db struct {
	t *testing.T
	*org.Org
}

func setup(t *testing.T, change ...func(*org.Config)) *db {
	t.Helper()
	s, err := schema.Load(schema.Source{Name: "test", FS: family()})
	require.NoError(t, err)
	cfg := org.Config{Schema: s, LockWait: 10 * time.Second, Now: func() time.Time { return time.Unix(1_800_000_000, 500) }}
	for _, c := range change {
		c(&cfg)
	}
	o, err := org.New(cfg)
	require.NoError(t, err)
	return &db{t, o}
}

func (d *db) field(object, name string) *schema.Field {
	f := d.Schema().Object(object).Field(name)
	require.NotNil(d.t, f, name)
	return f
}

// rec makes a record: alternating field names and values.
func (d *db) rec(object string, pairs ...any) org.Record {
	r := org.Record{Object: d.Schema().Object(object)}
	for i := 0; i < len(pairs); i += 2 {
		name, _ := pairs[i].(string)
		value := pairs[i+1]
		if n, ok := value.(int); ok {
			value = decimal.NewFromInt(int64(n))
		}
		r.Set = append(r.Set, org.Assignment{Field: d.field(object, name), Value: value})
	}
	return r
}

// do runs one statement in a transaction of its own.
func (d *db) do(dml org.DML) []org.Result {
	tx := d.Begin()
	defer tx.Commit()
	return tx.Do(dml)
}

func (d *db) insert(object string, pairs ...any) string {
	d.t.Helper()
	res := d.do(org.DML{Verb: org.Insert, Records: []org.Record{d.rec(object, pairs...)}})[0]
	require.True(d.t, res.OK(), res.Errors)
	return res.ID
}

func (d *db) remove(object string, ids ...string) []string {
	dml := org.DML{Verb: org.Delete}
	for _, id := range ids {
		dml.Records = append(dml.Records, org.Record{Object: d.Schema().Object(object), ID: id})
	}
	return codes(d.do(dml))
}

func (d *db) rows(object string) []schema.Row { return d.Rows(d.Schema().Object(object)) }

func (d *db) value(object, field string) any {
	d.t.Helper()
	rows := d.rows(object)
	require.NotEmpty(d.t, rows)
	return rows[0][d.field(object, field).Slot]
}

func codes(results []org.Result) []string {
	list := make([]string, len(results))
	for i, r := range results {
		if !r.OK() {
			list[i] = r.Errors[0].Code
		}
	}
	return list
}

func (d *db) upsert(key string, values ...string) []org.Result {
	dml := org.DML{Verb: org.Upsert, Key: d.field("Parent__c", key)}
	for _, v := range values {
		dml.Records = append(dml.Records, org.Record{Object: d.Schema().Object("Parent__c"), Key: v})
	}
	return d.do(dml)
}

func TestKeysFoldAsTheirFieldCompares(t *testing.T) {
	t.Parallel()
	d := setup(t)
	assert.Equal(t, []string{"DUPLICATE_VALUE", "DUPLICATE_VALUE", ""}, codes(d.upsert("Folded__c", "ab", "AB", "c")))
	assert.Equal(t, []string{"", ""}, codes(d.upsert("Exact__c", "ab", "AB")))
	assert.True(t, d.upsert("Folded__c", "x")[0].Created)
	assert.False(t, d.upsert("Folded__c", "X")[0].Created)
	assert.False(t, d.upsert("Exact__c", "AB")[0].Created)
	assert.True(t, d.upsert("Exact__c", "aB")[0].Created)
	res := d.do(org.DML{Verb: org.Insert, Records: []org.Record{d.rec("Parent__c", "Folded__c", "C")}})
	assert.Equal(t, []string{"DUPLICATE_VALUE"}, codes(res))

	loose := setup(t, func(c *org.Config) { c.FoldNoKeys = true })
	assert.Equal(t, []string{"", "DUPLICATE_VALUE"}, codes(loose.upsert("Folded__c", "ab", "AB")), "the second fails on the index")
}

func TestKeyThatIsNotUnique(t *testing.T) {
	t.Parallel()
	d := setup(t)
	a, b := d.insert("Parent__c", "Tag__c", "t"), d.insert("Parent__c", "Tag__c", "t")
	d.insert("Parent__c", "Tag__c", "T")
	res := d.upsert("Tag__c", "t", "T", "new")
	assert.Equal(t, []string{"DUPLICATE_EXTERNAL_ID", "", ""}, codes(res))
	assert.Equal(t, []string{a, b}, res[0].Matches)
	assert.Equal(t, "Tag__c: more than one record found for external id field: ["+a+", "+b+"]", res[0].Errors[0].Message)
	assert.False(t, res[1].Created, "case counts")
	assert.True(t, res[2].Created)
}

func TestNumberAsKey(t *testing.T) {
	t.Parallel()
	d := setup(t)
	key := d.field("Parent__c", "Number__c")
	put := func(text string) org.Result {
		return d.do(org.DML{Verb: org.Upsert, Key: key, Records: []org.Record{{Object: key.Object, Key: decimal.RequireFromString(text)}}})[0]
	}
	assert.True(t, put("1.50").Created)
	assert.False(t, put("1.5").Created)
	assert.True(t, put("15").Created)
	assert.Equal(t, "NUMBER_OUTSIDE_VALID_RANGE", put("12345").Errors[0].Code)
}

func TestDefaultsAndRules(t *testing.T) {
	t.Parallel()
	d := setup(t)
	id := d.insert("Parent__c")
	assert.Equal(t, "1", fmt.Sprint(d.value("Parent__c", "Level__c")))
	assert.Equal(t, true, d.value("Parent__c", "On__c"))
	assert.Equal(t, id, d.value("Parent__c", "Name"), "a row without a name is called by its id")
	assert.Equal(t, time.Unix(1_800_000_000, 0).UTC(), d.value("Parent__c", "CreatedDate"))
	assert.Equal(t, org.UserID, d.value("Parent__c", "OwnerId"))

	res := d.do(org.DML{Verb: org.Insert, Records: []org.Record{d.rec("Parent__c", "Level__c", 101)}})[0]
	require.Len(t, res.Errors, 2, "all rules are reported")
	assert.Equal(t, org.RowError{Code: "FIELD_CUSTOM_VALIDATION_EXCEPTION", Message: "ODD", Fields: []string{"Level__c"}}, res.Errors[0])
	assert.Equal(t, org.RowError{Code: "FIELD_CUSTOM_VALIDATION_EXCEPTION", Message: "TOO HIGH"}, res.Errors[1])

	d.insert("Parent__c", "Level__c", nil, "Kinds__c", "b;A;B;", "Day__c", time.Date(2026, 1, 5, 23, 0, 0, 0, time.UTC))
	last := d.rows("Parent__c")[1]
	assert.Nil(t, last[d.field("Parent__c", "Level__c").Slot], "null is no reason for the default")
	assert.Equal(t, "B;A", last[d.field("Parent__c", "Kinds__c").Slot])
	assert.Equal(t, time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC), last[d.field("Parent__c", "Day__c").Slot])
	res = d.do(org.DML{Verb: org.Insert, Records: []org.Record{d.rec("Parent__c", "Kinds__c", "A;C")}})[0]
	assert.Equal(t, "INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST", res.Errors[0].Code)

	d.Reset()
	assert.Empty(t, d.Counts())
}

func TestTransactionSeesItsOwnWrites(t *testing.T) {
	t.Parallel()
	d := setup(t)
	kept := d.insert("Parent__c", "Exact__c", "kept", "Tag__c", "old")
	key := d.field("Parent__c", "Exact__c")
	tx := d.Begin()
	res := tx.Do(org.DML{Verb: org.Insert, Records: []org.Record{d.rec("Parent__c", "Exact__c", "new", "Tag__c", "t")}})
	change := d.rec("Parent__c", "Exact__c", "moved", "Tag__c", "t")
	change.ID = kept
	require.Equal(t, []string{""}, codes(tx.Do(org.DML{Verb: org.Update, Records: []org.Record{change}})))
	assert.Len(t, tx.Find(key, "new"), 1)
	assert.Empty(t, tx.Find(key, "kept"), "freed")
	assert.Len(t, tx.Find(d.field("Parent__c", "Tag__c"), "t"), 2)
	again := tx.Do(org.DML{Verb: org.Insert, AllOrNone: true, Records: []org.Record{
		d.rec("Parent__c", "Exact__c", "kept"), d.rec("Parent__c", "Exact__c", "new")}})
	assert.Equal(t, []string{org.CodeRolledBack, "DUPLICATE_VALUE"}, codes(again))
	assert.Empty(t, tx.Find(key, "kept"), "taken back with its statement")

	outside := d.Begin()
	assert.Empty(t, outside.Find(key, "new"))
	assert.Len(t, outside.Find(key, "kept"), 1)
	outside.Rollback()
	tx.Rollback()
	assert.Equal(t, map[string]int{"Parent__c": 1}, d.Counts())
	assert.Equal(t, "kept", d.value("Parent__c", "Exact__c"))
	assert.False(t, d.Begin().Deleted(key.Object, res[0].ID), "a row that was rolled back was never there")
}

func TestBadRuleIsRefused(t *testing.T) {
	t.Parallel()
	s, err := schema.Load(schema.Source{Name: "test", FS: metadata([]string{"A__c"}, nil, map[string]string{
		"A__c Odd": `<errorConditionFormula>Nope__c = 1</errorConditionFormula><errorMessage>x</errorMessage>`})})
	require.NoError(t, err)
	_, err = org.New(org.Config{Schema: s, Now: time.Now})
	require.ErrorContains(t, err, "rule Odd of A__c")
}
