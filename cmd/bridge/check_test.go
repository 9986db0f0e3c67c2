package main

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/salesforce/simorg"
)

const xmlHead = `<?xml version="1.0" encoding="UTF-8"?>` + "\n"

// orderObject is an object that an admin made by hand: no guard fields, a
// required field, and a key that folds letter case.
func orderObject() fstest.MapFS {
	out := fstest.MapFS{"objects/Order__c/Order__c.object-meta.xml": {Data: []byte(xmlHead +
		`<CustomObject xmlns="http://soap.sforce.com/2006/04/metadata"><deploymentStatus>Deployed</deploymentStatus><label>Order</label><pluralLabel>Orders</pluralLabel>` +
		`<nameField><label>Name</label><type>Text</type></nameField><sharingModel>ReadWrite</sharingModel></CustomObject>`)}}
	for name, rest := range map[string]string{
		"Key__c":    `<externalId>true</externalId><length>80</length><type>Text</type><unique>true</unique><caseSensitive>false</caseSensitive>`,
		"Region__c": `<length>10</length><required>true</required><type>Text</type>`,
		"Total__c":  `<precision>16</precision><scale>2</scale><type>Number</type>`,
		"Number__c": `<precision>18</precision><scale>0</scale><type>Number</type>`,
		"Note__c":   `<length>40</length><type>Text</type>`,
		"State__c": `<type>Picklist</type><valueSet><restricted>true</restricted><valueSetDefinition><sorted>false</sorted>` +
			`<value><fullName>Open</fullName><default>false</default><label>Open</label></value></valueSetDefinition></valueSet>`,
		"Source_Order__c": `<precision>18</precision><scale>0</scale><type>Number</type>`,
		"Source_Event__c": `<length>255</length><type>Text</type>`,
		"Source_Prior__c": `<length>255</length><type>Text</type>`,
	} {
		out["objects/Order__c/fields/"+name+".field-meta.xml"] = &fstest.MapFile{Data: []byte(xmlHead +
			`<CustomField xmlns="http://soap.sforce.com/2006/04/metadata"><fullName>` + name + `</fullName><label>` + name + `</label>` + rest + `</CustomField>`)}
	}
	return out
}

// Each mistake of a mapping is named before the first event.
func TestCheckNamesWhatTheOrgWouldRefuse(t *testing.T) {
	t.Parallel()
	srv, err := simorg.New(simorg.Config{Metadata: []fs.FS{orderObject()}})
	require.NoError(t, err)
	require.NoError(t, srv.Start())
	t.Cleanup(func() { assert.NoError(t, srv.Close()) })
	dir := t.TempDir()
	write(t, dir, "shop.yaml", `
source: shop
provider: generic
secrets: ["${S}"]
event: {id: $.id, type: $.type, object: $.id}
routes:
  - name: order
    records:
      - object: Order__c
        key: {field: Key__c, from: $.id}
        order: true
        state: {field: State__c, allow: {Open: [Closed]}}
        fields:
          Total__c: {from: $.total, as: text}
          Number__c: {from: $.id, as: integer}
          Note__c: {from: $.note, max: 50}
          State__c: {from: $.state, map: {open: Open, closed: Closed}}
          Custmer__r: {lookup: Customer__c, by: Key__c, from: $.customer}
`)
	cfg := write(t, dir, "bridge.yaml", fmt.Sprintf(`
salesforce:
  login_url: %s
  allow_http: true
  auth: {flow: session, instance_url: %[1]s, access_token: "${TOKEN}"}
mappings: [shop.yaml]
`, srv.URL()))
	vars := map[string]string{"TOKEN": srv.AccessToken()}
	r := bridge(t, vars, "", "check", "--config", cfg, "--org")
	assert.Equal(t, exitFailed, r.code, r.err)
	for _, finding := range []string{
		`{"where":"Order__c.Key__c","what":"the key folds letter case`,
		`{"where":"Order__c.State__c","what":"the list has no active value \"Closed\"`,
		`{"where":"Order__c.Total__c","what":"as: text doesn't fit a number field","do":"write as: number, or map another field"`,
		`{"where":"Order__c.Number__c","what":"an id goes into a number: the org keeps 15 digits`,
		`{"where":"Order__c.Note__c","what":"max: 50 is more than the 40 characters`,
		`{"where":"Order__c.Custmer__c","what":"the field doesn't exist`,
		`{"where":"Order__c.Refuse_Moved","what":"no validation rule with MOVED`,
		`{"where":"Order__c.Region__c","what":"the field is required`,
	} {
		assert.Contains(t, r.out, finding)
	}
	assert.Equal(t, 8, strings.Count(r.out, `"where":"Order__c`), r.out)
	assert.Contains(t, r.out, `"mapping":"`+filepath.Join(dir, "shop.yaml")+` route order"`)
}

// A login that is refused says so; it is no org without objects.
func TestCheckTellsARefusedLoginFromAMissingObject(t *testing.T) {
	t.Parallel()
	srv, err := simorg.New(simorg.Config{})
	require.NoError(t, err)
	require.NoError(t, srv.Start())
	t.Cleanup(func() { assert.NoError(t, srv.Close()) })
	dir := t.TempDir()
	write(t, dir, "shop.yaml", `
source: shop
provider: stripe
secrets: ["${S}"]
routes: [{name: ping, when: {type: ping}, ignore: true}]
`)
	cfg := write(t, dir, "bridge.yaml", fmt.Sprintf(`
salesforce:
  login_url: %s
  allow_http: true
  auth: {flow: client_credentials, client_id: sim, client_secret: "${SECRET}"}
mappings: [shop.yaml]
`, srv.URL()))
	r := bridge(t, map[string]string{"SECRET": "another"}, "", "check", "--config", cfg, "--org")
	assert.Equal(t, exitFailed, r.code)
	assert.Contains(t, r.err, "salesforce.auth.client_id")
	assert.NotContains(t, r.out+r.err, "doesn't exist")
}

func TestCheckWarnsOfSourcesThatShareAGuard(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"crm", "shop"} {
		write(t, dir, name+".yaml", "source: "+name+"\nprovider: generic\nsecrets: [\"${S}\"]\nevent: {id: $.id, type: $.type, object: $.id}\n"+
			"routes: [{records: [{object: Contact, key: {field: K__c, from: $.id}, order: true, fields: {X__c: $.a}}]}]\n")
	}
	cfg := write(t, dir, "bridge.yaml", "salesforce: {login_url: https://login.salesforce.com, auth: {flow: session, access_token: \"${T}\", instance_url: https://acme.my.salesforce.com}}\nmappings: [crm.yaml, shop.yaml]\n")
	r := bridge(t, nil, "", "check", "--config", cfg)
	assert.Equal(t, exitOK, r.code, r.out+r.err)
	assert.Contains(t, r.out, "Contact.Source_Order__c keeps the order of source crm too")
}
