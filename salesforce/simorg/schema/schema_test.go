package schema_test

import (
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/salesforce/simorg/schema"
)

const xmlHead = `<?xml version="1.0" encoding="UTF-8"?>` + "\n"

func object(body string) *fstest.MapFile {
	return &fstest.MapFile{Data: []byte(xmlHead + `<CustomObject xmlns="http://soap.sforce.com/2006/04/metadata">` + body + `</CustomObject>`)}
}

func field(name, body string) *fstest.MapFile {
	return &fstest.MapFile{Data: []byte(xmlHead + `<CustomField xmlns="http://soap.sforce.com/2006/04/metadata"><fullName>` +
		name + `</fullName><label>` + name + `</label>` + body + `</CustomField>`)}
}

func rule(name, body string) *fstest.MapFile {
	return &fstest.MapFile{Data: []byte(xmlHead + `<ValidationRule xmlns="http://soap.sforce.com/2006/04/metadata"><fullName>` +
		name + `</fullName>` + body + `</ValidationRule>`)}
}

const plainObject = `<label>Thing</label><pluralLabel>Things</pluralLabel><sharingModel>ReadWrite</sharingModel>` +
	`<nameField><displayFormat>T-{0000}</displayFormat><label>No</label><type>AutoNumber</type></nameField>`

// things is a folder with Thing__c and the given files beside it.
func things(files map[string]*fstest.MapFile) schema.Source {
	m := fstest.MapFS{"main/objects/Thing__c/Thing__c.object-meta.xml": object(plainObject)}
	for name, f := range files {
		m["main/objects/"+name] = f
	}
	return schema.Source{Name: "dir", FS: m}
}

func TestReadsFieldsAsDeclared(t *testing.T) {
	t.Parallel()
	s, err := schema.Load(things(map[string]*fstest.MapFile{
		"Thing__c/fields/Key__c.field-meta.xml":   field("Key__c", `<length>40</length><type>Text</type><unique>true</unique><externalId>true</externalId><caseSensitive>true</caseSensitive><required>true</required>`),
		"Thing__c/fields/Sum__c.field-meta.xml":   field("Sum__c", `<precision>18</precision><scale>2</scale><type>Number</type><defaultValue>1.5</defaultValue>`),
		"Thing__c/fields/On__c.field-meta.xml":    field("On__c", `<type>Checkbox</type><defaultValue>true</defaultValue>`),
		"Thing__c/fields/Kind__c.field-meta.xml":  field("Kind__c", `<type>Picklist</type><valueSet><restricted>true</restricted><valueSetDefinition><value><fullName>A</fullName><default>true</default><label>A</label></value><value><fullName>B</fullName><default>false</default><isActive>false</isActive><label>B</label></value></valueSetDefinition></valueSet>`),
		"Thing__c/fields/Owner__c.field-meta.xml": field("Owner__c", `<type>Lookup</type><referenceTo>account</referenceTo><relationshipName>Things</relationshipName>`),
		"Thing__c/fields/Greet__c.field-meta.xml": field("Greet__c", `<type>Text</type><length>10</length><defaultValue>"hi"</defaultValue>`),
		"Account/fields/Ext__c.field-meta.xml":    field("Ext__c", `<length>20</length><type>Text</type>`),
		"Account/Account.object-meta.xml":         object(`<label>Account</label>`),
		"Setup__mdt/Setup__mdt.object-meta.xml":   object(`<label>Setup</label>`),
		"Setup__mdt/fields/X__c.field-meta.xml":   field("X__c", `<type>MetadataRelationship</type>`),
	}))
	require.NoError(t, err)
	o := s.Object("thing__C")
	require.NotNil(t, o)
	assert.Equal(t, "a00", o.KeyPrefix)
	assert.Same(t, o, s.ByID("a00000000000001AAA"))
	assert.Nil(t, s.Object("Setup__mdt"), "configuration holds no rows")

	key := o.Field("KEY__C")
	assert.Equal(t, "Key__c", key.Name)
	assert.True(t, key.Unique && key.ExternalID && key.CaseSensitive && key.Required && key.Indexed() && key.ExactCase())
	assert.Equal(t, 40, key.Length)
	assert.True(t, decimal.RequireFromString("1.5").Equal(o.Field("Sum__c").Default.(decimal.Decimal)))
	assert.Equal(t, true, o.Field("On__c").Default)
	assert.Equal(t, "hi", o.Field("Greet__c").Default)
	assert.Equal(t, "A", o.Field("Kind__c").Default)
	_, ok := o.Field("Kind__c").HasValue("B")
	assert.False(t, ok, "an inactive value")
	spelled, ok := o.Field("Kind__c").HasValue("a")
	assert.True(t, ok)
	assert.Equal(t, "A", spelled)

	owner := o.Relationship("owner__R")
	require.NotNil(t, owner)
	assert.Equal(t, []string{"Account"}, owner.ReferenceTo)
	assert.Equal(t, schema.SetNull, owner.OnDelete)
	assert.Contains(t, s.Object("Account").Children, schema.Child{Object: o, Field: owner, Name: "Things__r"})
	assert.NotNil(t, s.Object("Account").Field("Ext__c"))
}

func TestEveryObjectHasTheStandardFields(t *testing.T) {
	t.Parallel()
	s, err := schema.Load(things(nil))
	require.NoError(t, err)
	for _, o := range s.Objects() {
		for i, f := range o.Fields {
			assert.Equal(t, i, f.Slot)
			assert.Same(t, o, f.Object)
			assert.Same(t, f, o.Field(f.Name))
			assert.Len(t, f.Targets(), len(f.ReferenceTo), "%s.%s", o.Name, f.Name)
		}
		assert.Equal(t, "Id", o.Fields[schema.SlotID].Name)
		for _, name := range []string{"CreatedDate", "CreatedById", "LastModifiedDate", "LastModifiedById", "SystemModstamp", "IsDeleted"} {
			require.NotNil(t, o.Field(name), "%s.%s", o.Name, name)
			assert.False(t, o.Field(name).Createable)
		}
		assert.Same(t, o, s.ByID(schema.NewID(o.KeyPrefix, 7)))
	}
	assert.Same(t, s.Object("User"), s.Object("Thing__c").Relationship("Owner").Targets()[0])
	assert.Equal(t, false, s.Object("Thing__c").NewRow()[s.Object("Thing__c").Field("IsDeleted").Slot])
}

func TestADetailHasAMasterAndNoOwner(t *testing.T) {
	t.Parallel()
	s, err := schema.Load(things(map[string]*fstest.MapFile{
		"Part__c/Part__c.object-meta.xml":        object(plainObject),
		"Part__c/fields/Thing__c.field-meta.xml": field("Thing__c", `<type>MasterDetail</type><referenceTo>Thing__c</referenceTo><relationshipName>Parts</relationshipName>`),
	}))
	require.NoError(t, err)
	part := s.Object("Part__c")
	assert.Nil(t, part.Field("OwnerId"))
	master := part.Field("Thing__c")
	assert.True(t, master.Required)
	assert.False(t, master.Updateable, "reparenting isn't allowed unless the metadata says so")
	assert.Equal(t, schema.Cascade, master.OnDelete)
}

func TestALaterSourceReplacesAnEarlierOne(t *testing.T) {
	t.Parallel()
	first := things(map[string]*fstest.MapFile{
		"Thing__c/fields/A__c.field-meta.xml":                  field("A__c", `<length>10</length><type>Text</type>`),
		"Thing__c/validationRules/R.validationRule-meta.xml":   rule("R", `<active>true</active><errorConditionFormula>true</errorConditionFormula><errorMessage>no</errorMessage>`),
		"Thing__c/validationRules/Two.validationRule-meta.xml": rule("Two", `<active>true</active><errorConditionFormula>ISNEW()</errorConditionFormula><errorDisplayField>a__c</errorDisplayField><errorMessage>no</errorMessage>`),
	})
	second := things(map[string]*fstest.MapFile{
		"Thing__c/fields/A__c.field-meta.xml":                field("A__c", `<length>20</length><type>Text</type>`),
		"Thing__c/validationRules/R.validationRule-meta.xml": rule("R", `<active>false</active><errorConditionFormula>true</errorConditionFormula><errorMessage>no</errorMessage>`),
	})
	s, err := schema.Load(first, second)
	require.NoError(t, err)
	o := s.Object("Thing__c")
	assert.Equal(t, 20, o.Field("A__c").Length)
	require.Len(t, o.Rules, 1, "an inactive rule is none")
	assert.Equal(t, "Two", o.Rules[0].Name)
	assert.Equal(t, "A__c", o.Rules[0].DisplayField)
	assert.Equal(t, "dir/main/objects/Thing__c/validationRules/Two.validationRule-meta.xml", o.Rules[0].File)
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	const fieldPath = "Thing__c/fields/F__c.field-meta.xml"
	f := func(body string) map[string]*fstest.MapFile {
		return map[string]*fstest.MapFile{fieldPath: field("F__c", body)}
	}
	for name, c := range map[string]struct {
		files map[string]*fstest.MapFile
		want  string
	}{
		"unknown type":          {f(`<type>Location</type>`), `fields/F__c.field-meta.xml: type: field type "Location" is not simulated`},
		"no type":               {f(``), `type: field type "" is not simulated`},
		"id":                    {f(`<type>Id</type>`), `field type "Id" is not simulated`},
		"formula":               {f(`<type>Number</type><formula>1</formula>`), "formula fields are not simulated"},
		"lookup filter":         {f(`<type>Lookup</type><lookupFilter><active>true</active></lookupFilter>`), "lookup filters are not simulated"},
		"long text length":      {f(`<type>LongTextArea</type><length>200</length>`), "must be 256 to 131072 for LongTextArea"},
		"text length":           {f(`<type>Text</type><length>256</length>`), "must be 1 to 255 for Text"},
		"text without length":   {f(`<type>Text</type>`), "length"},
		"precision":             {f(`<type>Number</type><precision>19</precision><scale>0</scale>`), "precision must be 1 to 18"},
		"scale":                 {f(`<type>Number</type><precision>2</precision><scale>3</scale>`), "precision must be 1 to 18"},
		"unique checkbox":       {f(`<type>Checkbox</type><unique>true</unique>`), "can be neither unique nor an external ID"},
		"no picklist":           {f(`<type>Picklist</type>`), "valueSet: is required"},
		"global picklist":       {f(`<type>Picklist</type><valueSet><valueSetName>G</valueSetName></valueSet>`), "global value sets are not simulated"},
		"value twice":           {f(`<type>Picklist</type><valueSet><valueSetDefinition><value><fullName>A</fullName></value><value><fullName>a</fullName></value></valueSetDefinition></valueSet>`), `value "a" is empty or there twice`},
		"unknown parent":        {f(`<type>Lookup</type><referenceTo>Nix__c</referenceTo>`), `referenceTo: there is no object "Nix__c"`},
		"no parent":             {f(`<type>Lookup</type>`), "referenceTo: exactly one object is required"},
		"delete constraint":     {f(`<type>Lookup</type><referenceTo>Account</referenceTo><deleteConstraint>Nix</deleteConstraint>`), "none of SetNull, Restrict, Cascade"},
		"default formula":       {f(`<type>DateTime</type><defaultValue>NOW()</defaultValue>`), "default formulas are not simulated"},
		"default number":        {f(`<type>Number</type><precision>2</precision><scale>0</scale><defaultValue>x</defaultValue>`), "no literal of this type"},
		"default checkbox":      {f(`<type>Checkbox</type><defaultValue>yes</defaultValue>`), "neither true nor false"},
		"name differs":          {map[string]*fstest.MapFile{fieldPath: field("G__c", `<type>Checkbox</type>`)}, `"G__c" differs from the file's name`},
		"no custom name":        {map[string]*fstest.MapFile{"Thing__c/fields/F.field-meta.xml": field("F", `<type>Checkbox</type>`)}, "must end with __c"},
		"broken":                {map[string]*fstest.MapFile{fieldPath: {Data: []byte("<CustomField>")}}, "CustomField: is no readable metadata"},
		"other root":            {map[string]*fstest.MapFile{fieldPath: object(plainObject)}, "is no readable metadata"},
		"two roots":             {map[string]*fstest.MapFile{fieldPath: {Data: append(field("F__c", `<type>Checkbox</type>`).Data, "<x/>"...)}}, "a second root element"},
		"too large":             {map[string]*fstest.MapFile{fieldPath: {Data: []byte(strings.Repeat(" ", 1<<20+1))}}, "is larger than 1048576 bytes"},
		"platform event":        {map[string]*fstest.MapFile{"Ping__e/fields/F__c.field-meta.xml": field("F__c", `<type>Checkbox</type>`)}, "label and pluralLabel are required"},
		"standard object":       {map[string]*fstest.MapFile{"Lead/fields/F__c.field-meta.xml": field("F__c", `<type>Checkbox</type>`)}, "this standard object is not simulated"},
		"custom setting":        {map[string]*fstest.MapFile{"S__c/S__c.object-meta.xml": object(plainObject + `<customSettingsType>List</customSettingsType>`)}, "custom settings are not simulated"},
		"no name field":         {map[string]*fstest.MapFile{"S__c/S__c.object-meta.xml": object(`<label>S</label><pluralLabel>S</pluralLabel>`)}, "nameField: is required"},
		"name type":             {map[string]*fstest.MapFile{"S__c/S__c.object-meta.xml": object(`<label>S</label><pluralLabel>S</pluralLabel><nameField><type>Number</type></nameField>`)}, "neither Text nor AutoNumber"},
		"name format":           {map[string]*fstest.MapFile{"S__c/S__c.object-meta.xml": object(strings.Replace(plainObject, "{0000}", "{X}", 1))}, "must contain a number"},
		"no label":              {map[string]*fstest.MapFile{"S__c/S__c.object-meta.xml": object(``)}, "label and pluralLabel are required"},
		"rule without formula":  {map[string]*fstest.MapFile{"Thing__c/validationRules/R.validationRule-meta.xml": rule("R", `<active>true</active><errorMessage>m</errorMessage>`)}, "errorConditionFormula: is required"},
		"rule without message":  {map[string]*fstest.MapFile{"Thing__c/validationRules/R.validationRule-meta.xml": rule("R", `<active>true</active><errorConditionFormula>true</errorConditionFormula>`)}, "errorMessage: is required"},
		"rule on unknown field": {map[string]*fstest.MapFile{"Thing__c/validationRules/R.validationRule-meta.xml": rule("R", `<active>true</active><errorConditionFormula>true</errorConditionFormula><errorMessage>m</errorMessage><errorDisplayField>No__c</errorDisplayField>`)}, `there is no field "No__c" on Thing__c`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := schema.Load(things(c.files))
			require.ErrorContains(t, err, c.want)
			var e *schema.Error
			require.ErrorAs(t, err, &e)
			assert.True(t, strings.HasPrefix(e.File, "dir/main/objects/"), e.File)
		})
	}
}

// A folder may add to an object that an org has already.
func TestAnObjectThatIsOnlyAddedToIsTakenToExist(t *testing.T) {
	t.Parallel()
	s, err := schema.Load(things(map[string]*fstest.MapFile{
		"Other__c/fields/F__c.field-meta.xml": field("F__c", `<type>Checkbox</type>`),
		"Case/fields/F__c.field-meta.xml":     field("F__c", `<type>Checkbox</type>`),
	}))
	require.NoError(t, err)
	require.NotNil(t, s.Object("Other__c"))
	assert.NotNil(t, s.Object("Other__c").Field("F__c"))
	assert.Equal(t, schema.Text, s.Object("Other__c").Field("Name").Type)
	assert.NotNil(t, s.Object("Case").Field("F__c"))
}

func TestTwoLookupsCannotShareARelationshipName(t *testing.T) {
	t.Parallel()
	lookup := `<type>Lookup</type><referenceTo>Account</referenceTo><relationshipName>Things</relationshipName>`
	_, err := schema.Load(things(map[string]*fstest.MapFile{
		"Thing__c/fields/A__c.field-meta.xml": field("A__c", lookup),
		"Thing__c/fields/B__c.field-meta.xml": field("B__c", lookup),
	}))
	require.ErrorContains(t, err, `B__c.field-meta.xml: relationshipName: "Things" is already the name of Thing__c.A__c on Account`)
}

func TestAllProblemsAtOnce(t *testing.T) {
	t.Parallel()
	_, err := schema.Load(things(map[string]*fstest.MapFile{
		"Thing__c/fields/A__c.field-meta.xml": field("A__c", `<type>Nix</type>`),
		"Thing__c/fields/B__c.field-meta.xml": field("B__c", `<type>Nix</type>`),
	}))
	joined, ok := err.(interface{ Unwrap() []error })
	require.True(t, ok)
	assert.Len(t, joined.Unwrap(), 2)
}

func TestIDs(t *testing.T) {
	t.Parallel()
	full, ok := schema.ID18("001D000000IqhSL")
	assert.True(t, ok)
	assert.Equal(t, "001D000000IqhSLIAZ", full)
	same, ok := schema.ID18(full)
	assert.True(t, ok)
	assert.Equal(t, full, same)
	for _, bad := range []string{"", "001", "001D000000IqhSLIAA", "001D000000Iqh-L", "001D000000IqhSLI"} {
		_, ok := schema.ID18(bad)
		assert.False(t, ok, bad)
	}
	assert.Equal(t, "a01000000000001AAA", schema.NewID("a01", 1))
	assert.NotEqual(t, schema.NewID("a01", 61), schema.NewID("a01", 62))
}

func TestFolding(t *testing.T) {
	t.Parallel()
	plain := &schema.Field{Type: schema.Text}
	unique := &schema.Field{Type: schema.Text, Unique: true, ExternalID: true}
	exact := &schema.Field{Type: schema.Text, Unique: true, ExternalID: true, CaseSensitive: true}
	assert.Equal(t, "ab", plain.Fold("aB"))
	assert.Equal(t, "ab", unique.Fold("aB"))
	assert.Equal(t, "aB", exact.Fold("aB"))
	assert.Equal(t, "aB", plain.UpsertFold("aB"), "an external ID that is not unique matches by exact case")
	assert.Equal(t, "ab", unique.UpsertFold("aB"))
	assert.Equal(t, "aB", exact.UpsertFold("aB"))
}

func TestAutoNumber(t *testing.T) {
	t.Parallel()
	f := &schema.Field{Type: schema.AutoNumber, Format: "A{YYYY}{YY}{MM}{DD}-{000}"}
	at := time.Date(2026, 3, 4, 0, 0, 0, 0, time.UTC)
	assert.Equal(t, "A2026260304-007", f.Number(7, at))
	assert.Equal(t, "A2026260304-12345", f.Number(12345, at))
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte(`<CustomField><fullName>F__c</fullName><label>F</label><type>Text</type><length>3</length></CustomField>`))
	f.Add(field("F__c", `<type>Picklist</type><valueSet/>`).Data)
	f.Add([]byte("<!DOCTYPE x [<!ENTITY a \"b\">]><CustomField>&a;</CustomField>"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := schema.Load(things(map[string]*fstest.MapFile{"Thing__c/fields/F__c.field-meta.xml": {Data: data}}))
		if (s == nil) != (err != nil) {
			t.Fatal("either a schema or an error")
		}
	})
}
