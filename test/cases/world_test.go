package cases_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/test/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

const hookSecret = "demo-secret-two"

// world is an org with one bridge. The wire between them is there when asked
// for.
type world struct {
	*testing.T
	org    *harness.Org
	wire   *harness.Wire
	bridge *harness.Bridge
}

// things is a mapping that keeps an event's id and title.
const things = `
routes:
  - name: all
    records:
      - object: Thing__c
        key: {field: Ext__c, from: $.id}
        fields: {Title__c: $.title}
`

// generic is the mapping of a source with ids and types in the usual places.
func generic(source, rest string) string {
	return "source: " + source + "\nprovider: generic\nsecrets: [\"${HOOK}\"]\nevent: {id: $.id, type: $.type, object: $.object}\n" + rest
}

// serve starts org and bridge with the mappings of some sources.
func serve(t *testing.T, mappings ...string) world {
	t.Helper()
	w := prepare(t, nil, mappings...)
	w.bridge.Start(t)
	return w
}

// serveStaged is serve with a bridge that answers when Salesforce holds the event.
func serveStaged(t *testing.T, mappings ...string) world {
	t.Helper()
	w := prepare(t, func(c *harness.Config) { c.Receiver = "{linger: 5ms, ack: staged}" }, mappings...)
	w.bridge.Start(t)
	return w
}

// prepare is serve for tests that change the settings or start by themselves.
func prepare(t *testing.T, change func(*harness.Config), mappings ...string) world {
	t.Helper()
	org := harness.StartOrg(t, "--samples", "--metadata", metadata(t))
	c := harness.Config{Org: org, Env: map[string]string{"HOOK": hookSecret}, Mappings: map[string]string{}}
	for i, text := range mappings {
		c.Mappings[fmt.Sprintf("m%d.yaml", i)] = text
	}
	if change != nil {
		change(&c)
	}
	return world{T: t, org: org, wire: c.Via, bridge: harness.Prepare(t, c)}
}

// beside is another bridge with one role on the same org and mappings.
func (w world) beside(role string) world {
	w.Helper()
	c := w.bridge.Config
	c.Name, c.Dir, c.Via, c.Only = role, "", nil, []string{role}
	return world{T: w.T, org: w.org, bridge: harness.StartBridge(w, c)}
}

// staged has a bridge that only receives store bodies as new events.
func (w world) staged(source string, bodies ...string) {
	w.Helper()
	receiver := w.beside("receive")
	receiver.accepted(source, bodies...)
	receiver.bridge.Stop(w)
}

// overWire puts a wire between org and bridge.
func overWire(t *testing.T) func(*harness.Config) {
	return func(c *harness.Config) { c.Via = harness.StartWire(t, c.Org) }
}

// send delivers a body to a generic source.
func (w world) send(source, body string) harness.Answer {
	w.Helper()
	return w.post(source, http.Header{"X-Signature": {harness.HMACHex(hookSecret, []byte(body))}, "Content-Type": {"application/json"}}, body)
}

// accepted delivers bodies that must be taken as new.
func (w world) accepted(source string, bodies ...string) {
	w.Helper()
	for _, body := range bodies {
		w.status(w.send(source, body), http.StatusAccepted, "accepted")
	}
}

func (w world) post(source string, header http.Header, body string) harness.Answer {
	w.Helper()
	answer, err := w.bridge.Post(w.Context(), source, header, []byte(body))
	require.NoError(w, err)
	return answer
}

// status checks an answer's HTTP status and its word: the status of an
// acceptance, the error of a refusal.
func (w world) status(a harness.Answer, status int, word string) {
	w.Helper()
	var said struct{ Status, Error string }
	require.NoError(w, json.Unmarshal(a.Body, &said), "%s", a.Body)
	assert.Equal(w, status, a.Status, "%s", a.Body)
	assert.Equal(w, word, said.Status+said.Error, "%s", a.Body)
}

// events are the staging rows by their event id.
func (w world) events() map[string]harness.Row {
	w.Helper()
	return byField(w.org.Query(w, "SELECT Event_Id__c, Status__c, Outcome__c, Error_Code__c, Error__c, Attempts__c, Duplicate_Count__c, "+
		"Payload__c, Payload_Encoding__c, Target_Id__c, Next_Attempt_At__c FROM Inbound_Event__c"), "Event_Id__c")
}

// settled waits for the end of all work and returns the staging rows.
func (w world) settled() map[string]harness.Row {
	w.Helper()
	w.org.Settle(w)
	return w.events()
}

// metric is the value of a metric without labels.
func (w world) metric(name string) string {
	w.Helper()
	for line := range strings.Lines(w.bridge.Metrics(w)) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// review checks that an event waits for a person, and why.
func (w world) review(row harness.Row, code string, words ...string) {
	w.Helper()
	assert.Equal(w, "Review", row["Status__c"], "%v", row)
	assert.Equal(w, code, row["Error_Code__c"], "%v", row)
	for _, word := range words {
		assert.Contains(w, row["Error__c"], word)
	}
}

// completed checks that an event is done, and how.
func (w world) completed(row harness.Row, outcome string) {
	w.Helper()
	assert.Equal(w, "Completed", row["Status__c"], "%v", row)
	assert.Equal(w, outcome, row["Outcome__c"], "%v", row)
}

// records are the rows of an object by a field.
func (w world) records(object, by string, fields ...string) map[string]harness.Row {
	w.Helper()
	return byField(w.org.Query(w, "SELECT "+strings.Join(append(fields, by), ", ")+" FROM "+object), by)
}

func byField(rows []harness.Row, field string) map[string]harness.Row {
	found := map[string]harness.Row{}
	for _, r := range rows {
		delete(r, "attributes")
		found[fmt.Sprint(r[field])] = r
	}
	return found
}

// payload is the stored payload of a row, as it was received.
func payload(t *testing.T, row harness.Row) string {
	t.Helper()
	text, ok := row["Payload__c"].(string)
	require.True(t, ok, "%v", row)
	if row["Payload_Encoding__c"] == "Base64" {
		raw, err := base64.StdEncoding.DecodeString(text)
		require.NoError(t, err)
		return string(raw)
	}
	return text
}

func mac(secret, text string) []byte {
	h := hmac.New(sha256.New, []byte(secret))
	h.Write([]byte(text))
	return h.Sum(nil)
}

func github(id, signature string) http.Header {
	return http.Header{"X-Hub-Signature-256": {"sha256=" + signature}, "X-Github-Delivery": {id}, "X-Github-Event": {"issues"},
		"Content-Type": {"application/json"}}
}

func now() string { return fmt.Sprint(time.Now().Unix()) }

// do sends a request and returns the text of its answer.
func do(t *testing.T, req *http.Request) string {
	t.Helper()
	r, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	return string(text)
}

// metadata is a folder with an object that has a field of each kind, and a
// detail of it.
func metadata(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	key := "<type>Text</type><length>255</length><externalId>true</externalId><unique>true</unique><caseSensitive>true</caseSensitive>"
	object(t, dir, "Thing__c", map[string]string{
		"Ext__c":   key,
		"Fold__c":  strings.Replace(key, "<caseSensitive>true", "<caseSensitive>false", 1),
		"Title__c": "<type>Text</type><length>255</length>",
		"Short__c": "<type>Text</type><length>80</length>",
		"Tiny__c":  "<type>Text</type><length>3</length>",
		"Long__c":  "<type>LongTextArea</type><length>32768</length><visibleLines>3</visibleLines>",
		"Qty__c":   "<type>Number</type><precision>16</precision><scale>2</scale>",
		"Vip__c":   "<type>Checkbox</type><defaultValue>false</defaultValue>",
		"At__c":    "<type>DateTime</type>",
		"Tags__c":  "<type>MultiselectPicklist</type><visibleLines>4</visibleLines>" + picklist("red", "blue"),
	})
	object(t, dir, "Part__c", map[string]string{
		"Ext__c":   key,
		"Note__c":  "<type>Text</type><length>80</length>",
		"Thing__c": "<type>MasterDetail</type><referenceTo>Thing__c</referenceTo><relationshipName>Parts</relationshipName>",
	})
	return dir
}

func picklist(values ...string) string {
	var b strings.Builder
	for _, v := range values {
		fmt.Fprintf(&b, "<value><fullName>%s</fullName><default>false</default><label>%s</label></value>", v, v)
	}
	return "<valueSet><restricted>true</restricted><valueSetDefinition><sorted>false</sorted>" + b.String() + "</valueSetDefinition></valueSet>"
}

func object(t *testing.T, dir, name string, fields map[string]string) {
	t.Helper()
	const head = `<?xml version="1.0" encoding="UTF-8"?>` + "\n"
	folder := filepath.Join(dir, "objects", name)
	require.NoError(t, os.MkdirAll(filepath.Join(folder, "fields"), 0o755))
	sharing := "ReadWrite"
	if name == "Part__c" {
		sharing = "ControlledByParent"
	}
	write(t, folder, name+".object-meta.xml", head+`<CustomObject xmlns="http://soap.sforce.com/2006/04/metadata">`+
		"<label>"+name+"</label><pluralLabel>"+name+"</pluralLabel><deploymentStatus>Deployed</deploymentStatus><sharingModel>"+sharing+"</sharingModel>"+
		"<nameField><displayFormat>N-{0000}</displayFormat><label>Number</label><type>AutoNumber</type></nameField></CustomObject>")
	for field, rest := range fields {
		write(t, filepath.Join(folder, "fields"), field+".field-meta.xml", head+`<CustomField xmlns="http://soap.sforce.com/2006/04/metadata">`+
			"<fullName>"+field+"</fullName><label>"+field+"</label>"+rest+"</CustomField>")
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
}

// number reads a number of a row.
func number(t *testing.T, v any) float64 {
	t.Helper()
	n, ok := v.(json.Number)
	require.True(t, ok, "%v is no number", v)
	f, err := n.Float64()
	require.NoError(t, err)
	return f
}

// attempts are the failures that were charged to an event.
func attempts(t *testing.T, row harness.Row) float64 {
	t.Helper()
	if row["Attempts__c"] == nil {
		return 0
	}
	return number(t, row["Attempts__c"])
}

func repeat(text string, n int) string { return string(bytes.Repeat([]byte(text), n)) }
