package scaffold_test

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/scaffold"
	"sfbridge/mapping"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func load(t *testing.T, names ...string) []*mapping.File {
	t.Helper()
	var files []*mapping.File
	for _, name := range names {
		f, err := mapping.Load(name)
		require.NoError(t, err)
		files = append(files, f)
	}
	return files
}

func parse(t *testing.T, text string) *mapping.File {
	t.Helper()
	f, err := mapping.Parse("test.yaml", []byte("source: shop\nprovider: stripe\nroutes:\n"+text))
	require.NoError(t, err)
	return f
}

func plan(t *testing.T, dir string, files ...*mapping.File) *scaffold.Plan {
	t.Helper()
	p, err := scaffold.NewPlan(scaffold.Config{Mappings: files, Dir: dir})
	require.NoError(t, err)
	return p
}

// written is every file below a folder.
func written(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	require.NoError(t, fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			var data []byte
			data, err = os.ReadFile(filepath.Join(dir, name))
			out[name] = string(data)
		}
		return err
	}))
	return out
}

func states(p *scaffold.Plan) map[scaffold.State]int {
	out := map[scaffold.State]int{}
	for _, f := range p.Files {
		out[f.State]++
	}
	return out
}

func TestWritesWhatTheMappingNeeds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := plan(t, dir, load(t, "testdata/shop.yaml")...)
	assert.Empty(t, written(t, dir), "a plan writes nothing")
	require.NoError(t, p.Write(false))
	got := written(t, dir)
	const golden = "testdata/shop"
	if *update {
		require.NoError(t, os.RemoveAll(golden))
		for name, text := range got {
			require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(golden, name)), 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(golden, name), []byte(text), 0o644))
		}
	}
	assert.Equal(t, written(t, golden), got)
	assert.Equal(t, []string{"Account: see that the integration user may edit the standard fields Name", "Shop_Order__c: see that the integration user may edit the standard fields AccountId"}, p.Notes)
	assert.Equal(t, map[scaffold.State]int{scaffold.Written: len(got)}, states(p))
}

func TestTwiceChangesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files := load(t, "testdata/shop.yaml")
	require.NoError(t, plan(t, dir, files...).Write(true))
	before := written(t, dir)
	p := plan(t, dir, files...)
	require.NoError(t, p.Write(true))
	assert.Equal(t, before, written(t, dir))
	assert.Equal(t, map[scaffold.State]int{scaffold.Unchanged: len(before)}, states(p))
}

func TestTheSamplesServeAsTheyAre(t *testing.T) {
	t.Parallel()
	p := plan(t, "../../apex/samples", load(t, "../../config/examples/stripe.yaml")...)
	for _, f := range p.Files {
		want := scaffold.Unchanged
		if strings.Contains(f.Path, scaffold.DefaultPermissionSet) {
			want = scaffold.New
		}
		assert.Equal(t, want, f.State, "%s: %v", f.Path, f.Differs)
	}
	assert.Empty(t, p.Notes)
}

const orderMapping = `
  - records:
      - object: Order__c
        key: {field: Ext__c, from: $.id}
        order: true
        fields: {Total__c: {from: $.total, as: number}, Parent__r: {lookup: Parent__c, by: Ext__c, from: $.p}, Must__c: $.must}
`

func put(t *testing.T, dir, name, body string) {
	t.Helper()
	kind := strings.TrimSuffix(strings.Split(filepath.Base(name), ".")[1], "-meta")
	root := map[string]string{"field": "CustomField", "validationRule": "ValidationRule", "permissionset": "PermissionSet"}[kind]
	text := `<?xml version="1.0" encoding="UTF-8"?>` + "\n<" + root + ` xmlns="http://soap.sforce.com/2006/04/metadata">` + "\n  " + body + "\n</" + root + ">\n"
	file := filepath.Join(dir, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
}

// Everything is there already, in places and shapes of its own, and does not
// serve.
func existing(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	const object = "pkg/main/objects/Order__c/"
	put(t, dir, object+"fields/Ext__c.field-meta.xml", "<fullName>Ext__c</fullName>\n  <!-- theirs -->\n  <label>Theirs</label>\n  <length>40</length>\n  <type>Text</type>")
	put(t, dir, object+"fields/Source_Order__c.field-meta.xml", "<fullName>Source_Order__c</fullName><precision>10</precision><scale>2</scale><type>Number</type>")
	put(t, dir, object+"fields/Source_Event__c.field-meta.xml", "<fullName>Source_Event__c</fullName><length>80</length><type>Text</type>")
	put(t, dir, object+"fields/Source_Prior__c.field-meta.xml", "<fullName>Source_Prior__c</fullName><type>LongTextArea</type>")
	put(t, dir, object+"fields/Must__c.field-meta.xml", "<fullName>Must__c</fullName><required>true</required><type>Text</type>")
	put(t, dir, object+"validationRules/Refuse_Moved.validationRule-meta.xml", "<fullName>Refuse_Moved</fullName><active>false</active><errorConditionFormula>false</errorConditionFormula><errorMessage>no</errorMessage>")
	put(t, dir, "pkg/main/permissionsets/Bridge_Targets.permissionset-meta.xml", "<fieldPermissions><editable>false</editable><field>order__c.Total__c</field><readable>true</readable></fieldPermissions>\n  <label>Mine</label>\n"+
		"  <objectPermissions><allowCreate>false</allowCreate><allowDelete>true</allowDelete><allowEdit>true</allowEdit><allowRead>true</allowRead><object>Order__c</object></objectPermissions>")
	return dir
}

func TestWhatExistsIsChangedOnlyWhenAskedFor(t *testing.T) {
	t.Parallel()
	dir := existing(t)
	before := written(t, dir)
	p := plan(t, dir, parse(t, orderMapping))
	require.NoError(t, p.Write(false))
	after := written(t, dir)
	for name, text := range before {
		assert.Equal(t, text, after[name], name)
	}
	assert.True(t, p.Waiting())
	assert.Contains(t, after, "objects/Parent__c/fields/Ext__c.field-meta.xml", "what is new is written")
	differs := map[string][]string{}
	for _, f := range p.Files {
		if f.State == scaffold.Differs {
			differs[filepath.Base(f.Path)] = f.Differs
		}
	}
	assert.Equal(t, map[string][]string{
		"Ext__c.field-meta.xml":                {"it is no external ID", "it is not unique", "keys that differ in letter case would be one record"},
		"Source_Order__c.field-meta.xml":       {"it is too small for an order value"},
		"Source_Event__c.field-meta.xml":       {"it is too short for an event id"},
		"Refuse_Moved.validationRule-meta.xml": {"it is not active", "its formula is another", "its message lacks MOVED, which the bridge tells it by"},
		"Bridge_Targets.permissionset-meta.xml": {"Order__c is granted in part", "Order__c.Ext__c is not granted", "Order__c.Parent__c is not granted", "Order__c.Source_Event__c is not granted", "Order__c.Source_Order__c is not granted",
			"Order__c.Source_Prior__c is not granted", "Order__c.Total__c is granted in part", "Parent__c is not granted", "Parent__c.Ext__c is not granted"},
	}, differs)
	assert.Equal(t, []string{"Order__c.Source_Prior__c is of type LongTextArea, and has to be Text(255): change it by hand"}, p.Notes)
}

func TestAskedForOnlyWhatDiffersChanges(t *testing.T) {
	t.Parallel()
	dir := existing(t)
	require.NoError(t, plan(t, dir, parse(t, orderMapping)).Write(true))
	got := written(t, dir)
	const head = `<?xml version="1.0" encoding="UTF-8"?>` + "\n"
	assert.Equal(t, head+`<CustomField xmlns="http://soap.sforce.com/2006/04/metadata">
  <fullName>Ext__c</fullName>
    <caseSensitive>true</caseSensitive>
    <externalId>true</externalId>
  <!-- theirs -->
  <label>Theirs</label>
  <length>40</length>
  <type>Text</type>
    <unique>true</unique>
</CustomField>
`, got["pkg/main/objects/Order__c/fields/Ext__c.field-meta.xml"])
	set := got["pkg/main/permissionsets/Bridge_Targets.permissionset-meta.xml"]
	assert.Contains(t, set, "<label>Mine</label>")
	assert.Contains(t, set, "<allowDelete>true</allowDelete>", "what was given stays")
	assert.Equal(t, 1, strings.Count(strings.ToLower(set), "order__c.total__c"))
	assert.NotContains(t, set, "Must__c", "a required field can't be named")
	assert.False(t, plan(t, dir, parse(t, orderMapping)).Waiting())
}

func TestAProjectKeepsNewFilesInItsDefaultPackage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	project := func(text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "sfdx-project.json"), []byte(text), 0o600))
	}
	project(`{"packageDirectories":[{"path":"other"},{"path":"app","default":true}]}`)
	require.NoError(t, plan(t, dir, parse(t, orderMapping)).Write(false))
	assert.Contains(t, written(t, dir), "app/main/default/objects/Order__c/fields/Ext__c.field-meta.xml")
	for _, bad := range []string{`{`, `{"packageDirectories":[]}`, `{"packageDirectories":[{"path":"../out"}]}`} {
		project(bad)
		_, err := scaffold.NewPlan(scaffold.Config{Dir: dir})
		assert.ErrorContains(t, err, "sfdx-project.json", bad)
	}
}

func TestWhatCannotBeWrittenIsSaid(t *testing.T) {
	t.Parallel()
	p := plan(t, t.TempDir(), parse(t, `
  - name: a
    when: {type: a}
    records:
      - {object: Contact, action: update, key: {field: Id, from: $.id}, fields: {Email: $.email}}
      - {object: Case, key: {field: acme__Key__c, from: $.id}, fields: {Subject: $.s}}
      - {object: Task, key: {field: Ext__c, from: $.id}, order: true, fields: {Subject: $.s}}
`))
	assert.Equal(t, []string{
		"Case.acme__Key__c is no custom field of yours, so it can't be written here: it has to be Text(255), an external ID, unique and case sensitive",
		"Task: custom fields of tasks and events are fields of Activity: add Ext__c, Source_Order__c, Source_Event__c, Source_Prior__c there by hand",
		"Case: see that the integration user may edit the standard fields Subject",
		"Contact: see that the integration user may edit the standard fields Email",
		"Task: give the integration user the user permission Edit Tasks",
		"Task: see that the integration user may edit the standard fields Subject",
	}, p.Notes)
	require.Len(t, p.Files, 1, "the permission set")
}

func TestGuardsInDifferentFieldsHaveRulesOfTheirOwn(t *testing.T) {
	t.Parallel()
	p := plan(t, t.TempDir(), parse(t, `
  - name: a
    when: {type: a}
    records: [{object: Order__c, key: {field: Ext__c, from: $.id}, order: true, fields: {A__c: $.a}}]
  - name: b
    when: {type: b}
    records: [{object: Order__c, key: {field: Ext__c, from: $.id}, order: {field: V__c, event: E__c, prior: Quite_A_Long_Name_For_A_Prior_Event__c}, fields: {A__c: $.a}}]
`))
	var rules []string
	for _, f := range p.Files {
		if strings.Contains(f.Path, "validationRules") {
			rules = append(rules, filepath.Base(f.Path))
		}
	}
	assert.ElementsMatch(t, []string{"Refuse_Moved.validationRule-meta.xml", "Refuse_Moved_Quite_A_Long_Name_For_A_Pri.validationRule-meta.xml"}, rules)
}

func TestBrokenFilesAndNamesAreRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, dir, "objects/Order__c/fields/Ext__c.field-meta.xml", "<a>")
	_, err := scaffold.NewPlan(scaffold.Config{Mappings: []*mapping.File{parse(t, orderMapping)}, Dir: dir})
	assert.ErrorContains(t, err, "Ext__c.field-meta.xml: is no readable metadata")
	_, err = scaffold.NewPlan(scaffold.Config{Dir: dir, PermissionSet: "a b"})
	assert.ErrorContains(t, err, "no API name")
}
