package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/event"
	"sfbridge/config/examples"
	"sfbridge/mapping"
)

// atTerminal runs a command line whose output a person reads.
func atTerminal(t *testing.T, args ...string) result {
	t.Helper()
	var out, errs bytes.Buffer
	code := run(t.Context(), args, environment{
		in: strings.NewReader(""), out: &out, err: &errs, terminal: true,
		now: func() time.Time { return time.Unix(1767225610, 0) }, user: "ada",
	})
	return result{code, out.String(), errs.String()}
}

func TestMapShowsPeopleWhereValuesComeFrom(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := write(t, dir, "stripe.yaml", string(examples.Stripe))
	payload := write(t, dir, "charge.json", charge)
	r := atTerminal(t, "map", "--mapping", file, "--payload", payload)
	require.Equal(t, exitOK, r.code, r.err)
	assert.True(t, strings.HasPrefix(squeeze(r.out), `stripe:evt_1 type charge.succeeded object ch_1 order 1767225600000 route charge: apply
upsert Payment__c by Stripe_Charge_Id__c
FIELD SOURCE VALUE RESULT
Stripe_Charge_Id__c $.data.object.id "ch_1" "ch_1"
`), r.out)
	for _, line := range []string{
		`Amount__c $.data.object.amount 1250 12.50`,
		`Origin__c (fixed) "Stripe" "Stripe"`,
		`Note__c $.data.object.description null null (cleared)`,
		`Paid_At__c $.data.object.created 1767225600 "2026-01-01T00:00:00.000Z"`,
		`Source_Order__c the event's order 1767225600000 1767225600000`,
		`Source_Event__c the event's id "stripe:evt_1" "stripe:evt_1"`,
	} {
		assert.Contains(t, squeeze(r.out), line)
	}

	bad := write(t, dir, "bad.json", strings.Replace(strings.Replace(charge, `"usd"`, `"<z>"`, 1), `"description":null,`, "", 1))
	r = atTerminal(t, "map", "--mapping", file, "--payload", bad)
	assert.Equal(t, exitFailed, r.code)
	out := squeeze(r.out)
	assert.Contains(t, out, "Amount__c $.data.object.amount 1250 ! has a currency that ISO 4217 doesn't know")
	assert.Contains(t, out, "Note__c $.data.object.description (missing) (left out)")
	assert.Contains(t, out, `review: Amount__c from $.data.object.amount: has a currency that ISO 4217 doesn't know: "<z>"`)
}

// squeeze makes every run of blanks one, so that no width matters.
func squeeze(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = strings.Join(strings.Fields(line), " ")
	}
	return strings.Join(lines, "\n")
}

func TestMapSumsUpSeveralPayloads(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := write(t, dir, "stripe.yaml", string(examples.Stripe))
	args := []string{"map", "--mapping", file,
		"--payload", write(t, dir, "good.json", charge),
		"--payload", write(t, dir, "other.json", strings.Replace(charge, "charge.succeeded", "payout.paid", 1)),
		"--payload", write(t, dir, "broken.json", "{"),
	}
	r := bridge(t, nil, "", args...)
	assert.Equal(t, exitFailed, r.code)
	var report struct {
		Events  []struct{ Outcome string }
		Summary mapSummary
	}
	require.NoError(t, json.Unmarshal([]byte(r.out), &report))
	assert.Len(t, report.Events, 2)
	require.Len(t, report.Summary.Failed, 1)
	assert.Contains(t, report.Summary.Failed[0].Payload, "broken.json")
	report.Summary.Failed = nil
	assert.Equal(t, mapSummary{Payloads: 3, Events: 2, Apply: 1, Ignore: 1}, report.Summary)

	r = atTerminal(t, args...)
	assert.Equal(t, exitFailed, r.code)
	assert.Contains(t, r.out, "not a delivery of this source: the body is not JSON")
	assert.Contains(t, squeeze(r.out), "broken.json not read - - -\n", "all columns, or those of the next row are lost")
	assert.Contains(t, squeeze(r.out), "all 2 1 1 0")

	r = bridge(t, nil, "", args[:5]...)
	assert.Equal(t, exitOK, r.code)
	assert.NotContains(t, r.out, "summary", "one payload is the events alone")

	r = bridge(t, nil, "", append(args[:3:3], args[7:]...)...)
	assert.Equal(t, exitFailed, r.code)
	assert.Contains(t, r.err, "broken.json")
}

func TestMapDiff(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	old := write(t, dir, "old.yaml", string(examples.Stripe))
	changed := strings.ReplaceAll(string(examples.Stripe), "Origin__c:   {value: Stripe}", "Origin__c:   {value: STRIPE}")
	now := write(t, dir, "new.yaml", strings.ReplaceAll(changed, "Note__c:     {from: $.data.object.description, max: 255}", "Name__c:     $.data.object.nothing"))
	payload := write(t, dir, "charge.json", charge)

	r := bridge(t, nil, "", "map", "--mapping", now, "--diff", old, "--payload", payload)
	require.Equal(t, exitOK, r.code, r.err)
	var diff mapDiff
	require.NoError(t, json.Unmarshal([]byte(r.out), &diff))
	assert.Equal(t, 1, diff.Changed)
	assert.Contains(t, r.out, `{"record":"Payment__c ch_1","field":"Origin__c","change":"changed","old":"Stripe","new":"STRIPE"}`)
	assert.Contains(t, r.out, `{"record":"Payment__c ch_1","field":"Note__c","change":"removed","old":null,"new":null}`)

	r = atTerminal(t, "map", "--mapping", now, "--diff", old, "--payload", payload)
	assert.Equal(t, exitOK, r.code)
	assert.Contains(t, r.out, "  ~ Payment__c ch_1  Origin__c: \"Stripe\" -> \"STRIPE\"\n")
	assert.Contains(t, r.out, "1 of 1 events change\n")

	r = atTerminal(t, "map", "--mapping", old, "--diff", old, "--payload", payload)
	assert.Equal(t, "0 of 1 events change\n", r.out)
}

func TestMapSaysWhatTheServiceWouldLoad(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := write(t, dir, "thin.yaml", `
source: thin
provider: generic
secrets: ["${S}"]
event: {id: $.id, type: $.type}
routes:
  - authority: {get: "https://api.example.com/things/{$.thing}", into: $.object}
    records: [{object: A__c, key: {field: K__c, from: $.thing}, fields: {X__c: $.object.x}}]
`)
	r := atTerminal(t, "map", "--mapping", file, "--payload", write(t, dir, "thin.json", `{"id":"e1","type":"t","thing":"a1"}`))
	assert.Equal(t, exitOK, r.code, r.err)
	assert.Contains(t, r.out, "note: the service first loads the provider's object into $.object (authority)")
	assert.Contains(t, squeeze(r.out), "X__c $.object.x (missing) (left out)")
}

func TestReviewIsOfOneSource(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := write(t, dir, "stripe.yaml", string(examples.Stripe))
	other := write(t, dir, "other.yaml", strings.Replace(string(examples.Stripe), "source: stripe", "source: other", 1))
	r := bridge(t, nil, "", "map", "--mapping", file, "--diff", other, "--review", "--config", "x")
	assert.Equal(t, exitUsage, r.code)
	assert.Contains(t, r.err, "two sources")
	r = bridge(t, nil, "", "map", "--mapping", file, "--diff", file, "--review", "--config", "x", "--source", "other")
	assert.Equal(t, exitUsage, r.code)
	assert.Contains(t, r.err, "the mapping is that of the source stripe")
}

func TestReviewOnAnEmptyOrg(t *testing.T) {
	t.Parallel()
	srv, cfg := org(t, string(examples.Stripe))
	file := write(t, t.TempDir(), "stripe.yaml", string(examples.Stripe))
	r := bridge(t, map[string]string{"TOKEN": srv.AccessToken()}, "", "map", "--mapping", file, "--diff", file, "--review", "--config", cfg)
	assert.Equal(t, exitOK, r.code, r.err)
	assert.JSONEq(t, `{"changes":[],"events":0,"changed":0,"summary":{"payloads":0,"events":0,"apply":0,"ignore":0,"review":0,"failed":[]}}`, r.out)
}

func TestReviewAdvisesPeople(t *testing.T) {
	t.Parallel()
	load := func(text string) *mapping.File {
		f, err := mapping.Parse("m.yaml", []byte(text))
		require.NoError(t, err)
		return f
	}
	r := storedReview{before: load(string(examples.Stripe)), after: load(strings.ReplaceAll(string(examples.Stripe), "charge.succeeded, ", ""))}
	stored := func(change func(*event.Event)) *event.Event {
		e := &event.Event{ID: "stripe:1", Type: "charge.succeeded", Encoding: event.Plain, Payload: []byte(charge)}
		change(e)
		return e
	}
	require.NoError(t, r.compare(stored(func(*event.Event) {})))
	require.NoError(t, r.compare(stored(func(e *event.Event) { e.ID, e.Payload = "stripe:2", nil })))
	require.NoError(t, r.compare(stored(func(e *event.Event) { e.ID, e.Encoding, e.Payload = "stripe:3", "", nil })))
	out := shown(t, func(env environment) error { r.diff.show(env); r.advise(env, mapOptions{}); return nil })
	assert.Contains(t, out, "stripe:1\n")
	assert.Contains(t, out, `~ outcome: "apply" -> `)
	assert.Contains(t, out, "2 of 2 events change\n")
	assert.Contains(t, out, "0 would be applied, 1 ignored, 1 wait for a person\nnext: ")
	assert.Equal(t, []failedPayload{{"stripe:3", "its payload was cleared by retention"}}, r.diff.Summary.Failed)
}

// A reason quotes what it is about: it isn't quoted once more.
func TestAReasonInADiffIsQuotedOnce(t *testing.T) {
	t.Parallel()
	const reason = `isn't a number: "12x50"`
	assert.Equal(t, "- error in Amount__c: "+reason,
		difference(mapping.Difference{Field: "error in Amount__c", Change: mapping.Removed, Old: reason}))
	assert.Equal(t, `~ Payment__c ch_1  Note__c: "a" -> "b"`,
		difference(mapping.Difference{Record: "Payment__c ch_1", Field: "Note__c", Change: mapping.Changed, Old: "a", New: "b"}))
}
