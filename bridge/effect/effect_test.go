package effect_test

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"sfbridge/bridge/effect"
	"sfbridge/bridge/event"
	"sfbridge/bridge/outbound"
	"sfbridge/bridge/verify"
	"sfbridge/salesforce"
	"sfbridge/salesforce/simorg"
	"sfbridge/salesforce/simorg/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const key = "shop:e1:receipt:ch_1"

func TestDeliveredAndRecorded(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.applied("e1", map[string]string{"receipt": post})
	before := b.event("e1")
	b.run()
	require.Len(t, b.receipt.got, 1)
	got := b.receipt.got[0]
	assert.Equal(t, http.MethodPost, got.Method)
	assert.Equal(t, url, got.URL)
	assert.JSONEq(t, `{"charge":"ch_1"}`, string(got.Body))
	assert.Equal(t, key, got.Header.Get("Idempotency-Key"))
	assert.Equal(t, key, got.Header.Get("webhook-id"))

	e := b.effect(key)
	assert.Equal(t, event.EffectDone, e.Status)
	assert.Empty(t, e.Queue)
	assert.Equal(t, [2]string{"HTTP 200", "thanks"}, [2]string{e.Code, e.Response})
	assert.Contains(t, e.History, "Ready -> Done by bridge: HTTP 200")
	after := b.event("e1")
	assert.Equal(t, event.Completed, after.Status)
	assert.Equal(t, event.Created, after.Outcome)
	assert.Greater(t, after.Revision, before.Revision)
	assert.Contains(t, after.History, "Applied -> Completed by bridge: effects delivered")
	assert.Equal(t, counts{"effect done": 1, "event Created": 1}, b.counts)
	b.run()
	assert.Len(t, b.receipt.got, 1, "delivered once")
}

// The signature is that of Standard Webhooks, over the bytes that are sent.
func TestSignature(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.cfg.Targets = targets(func() (effect.Target, bool) {
		signing, err := effect.SigningKey("whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=")
		require.NoError(t, err)
		return effect.Target{URL: url, Key: signing}, true
	})
	b.worker = b.make(b.cfg)
	b.applied("e1", map[string]string{"receipt": `{"post":{"body":{"b":1.10,"a":"é"}}}`})
	b.run()
	got := b.receipt.got[0]
	assert.Equal(t, `{"b":1.10,"a":"é"}`, string(got.Body), "as it is stored")
	table, err := verify.LoadTable()
	require.NoError(t, err)
	v, err := verify.New(verify.Config{
		Rules: []verify.Rule{table["standard-webhooks"]}, Secrets: []string{"whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="},
	})
	require.NoError(t, err)
	result := v.Verify(verify.Request{Method: got.Method, URL: got.URL, Header: got.Header, Body: got.Body, Now: b.now})
	assert.Equal(t, verify.OK, result.Reason)
}

type targets func() (effect.Target, bool)

func (f targets) EffectTarget(string, string) (effect.Target, bool) { return f() }

func TestSigningKeys(t *testing.T) {
	t.Parallel()
	k, err := effect.SigningKey("plain text")
	require.NoError(t, err)
	assert.Equal(t, "plain text", string(k))
	for _, bad := range []string{"whsec_", "whsec_%%%"} {
		_, err := effect.SigningKey(bad)
		require.Error(t, err)
		assert.NotContains(t, err.Error(), "%%%")
	}
	assert.Equal(t, "shop:1:a:b", effect.HeaderKey("shop:1:a:b"))
	assert.Regexp(t, "^sha256:[0-9a-f]{64}$", effect.HeaderKey("shop:1:a:ü"))
	assert.Regexp(t, "^sha256:[0-9a-f]{64}$", effect.HeaderKey("shop:1:a\n"))
}

// Every way in which a receiver can fail, up to the last try.
func TestFailures(t *testing.T) {
	t.Parallel()
	broken := func(err error) func(outbound.Request) (outbound.Response, error) {
		return func(outbound.Request) (outbound.Response, error) { return outbound.Response{}, err }
	}
	for name, c := range map[string]struct {
		answer func(outbound.Request) (outbound.Response, error)
		status event.EffectStatus
		code   string
		next   time.Duration
	}{
		"server error":     {status(500), event.EffectRetryable, "HTTP 500", 5 * time.Second},
		"refused":          {status(422), event.EffectRetryable, "HTTP 422", 5 * time.Second},
		"redirect":         {status(302, "Location", "http://127.0.0.1/"), event.EffectRetryable, "HTTP 302", 5 * time.Second},
		"too many":         {status(429, "Retry-After", "90"), event.EffectRetryable, "HTTP 429", 90 * time.Second},
		"asks for a year":  {status(503, "Retry-After", "31536000"), event.EffectRetryable, "HTTP 503", 24 * time.Hour},
		"gone":             {status(410), event.EffectReview, "HTTP 410", 0},
		"no answer":        {broken(errors.New("connection refused")), event.EffectRetryable, "NO_ANSWER", 5 * time.Second},
		"answer too large": {broken(outbound.ErrTooLarge), event.EffectRetryable, "TOO_LARGE", 5 * time.Second},
		"private address":  {broken(fmt.Errorf("%w: x is not public", outbound.ErrForbidden)), event.EffectReview, "FORBIDDEN", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t)
			b.receipt.answer = c.answer
			b.applied("e1", map[string]string{"receipt": post})
			b.run()
			e := b.effect(key)
			assert.Equal(t, c.status, e.Status)
			assert.Equal(t, c.code, e.Code)
			assert.Equal(t, 1, e.Attempts)
			if c.status == event.EffectReview {
				assert.Empty(t, e.Queue)
				assert.Equal(t, event.Review, b.event("e1").Status)
				assert.Equal(t, event.CodeEffect, b.event("e1").ErrorCode)
				return
			}
			assert.Equal(t, c.next, e.NextAttempt.Sub(b.now))
			assert.Equal(t, event.Applied, b.event("e1").Status)
			b.run()
			assert.Len(t, b.receipt.got, 1, "not before its time")
			for range 2 {
				b.now = b.now.Add(25 * time.Hour)
				b.run()
			}
			assert.Equal(t, event.EffectReview, b.effect(key).Status, "attempts used up")
			assert.Equal(t, event.Review, b.event("e1").Status)
			assert.Contains(t, b.event("e1").Error, "effect receipt failed: "+c.code+", failed 3 times")
			assert.Equal(t, map[string]int{key: 3}, b.receipt.keys(), "one key for every try")
		})
	}
}

// An effect that fails for good sends the event to Review at once; the others
// go on, each by itself.
func TestEffectsFailIndependently(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.receipt.answer = func(r outbound.Request) (outbound.Response, error) {
		switch {
		case strings.Contains(r.Header.Get("Idempotency-Key"), ":gone:"):
			return status(410)(r)
		case strings.Contains(r.Header.Get("Idempotency-Key"), ":later:") && len(b.receipt.got) <= 3:
			return status(503)(r)
		}
		return status(204)(r)
	}
	b.applied("e1", map[string]string{"receipt": post, "gone": post, "later": post})
	b.run()
	assert.Equal(t, event.EffectDone, b.effect(key).Status)
	assert.Equal(t, event.EffectRetryable, b.effect("shop:e1:later:ch_1").Status)
	assert.Equal(t, event.Review, b.event("e1").Status)
	revision := b.event("e1").Revision
	b.now = b.now.Add(time.Minute)
	b.run()
	assert.Equal(t, event.EffectDone, b.effect("shop:e1:later:ch_1").Status)
	assert.Equal(t, event.Review, b.event("e1").Status, "one has failed")
	assert.Greater(t, b.event("e1").Revision, revision, "the result moves it on all the same")
	assert.Equal(t, map[string]int{key: 1, "shop:e1:gone:ch_1": 1, "shop:e1:later:ch_1": 2}, b.receipt.keys())
}

func TestRecordsOfTheirOwn(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	line := func(key string, qty any) string {
		return record("Payment_Line__c", "Line_Key__c", key, map[string]any{"Qty__c": qty})
	}
	b.applied("e1", map[string]string{"one": line("L1", 1), "two": line("L2", 2), "again": line("L1", 3)})
	b.applied("e2", map[string]string{"bad": line("L3", "no number")})
	b.applied("e3", map[string]string{"missing": record("Payment_Line__c", "Line_Key__c", "L4", map[string]any{"Nothing__c": 1})})
	b.run()
	assert.Equal(t, event.Completed, b.event("e1").Status)
	assert.Equal(t, event.Review, b.event("e2").Status)
	assert.Equal(t, event.Review, b.event("e3").Status)
	assert.Equal(t, event.EffectDone, b.effect("shop:e1:again:ch_1").Status, "a record named twice is written twice")
	assert.Len(t, b.org.Rows("Payment_Line__c"), 2)
}

// notice is a platform event of an org.
func notice() fstest.MapFS {
	const head = `<?xml version="1.0" encoding="UTF-8"?>`
	return fstest.MapFS{
		"Notice__e/Notice__e.object-meta.xml": {Data: []byte(head + `<CustomObject xmlns="http://soap.sforce.com/2006/04/metadata">
			<eventType>HighVolume</eventType><label>Notice</label><pluralLabel>Notices</pluralLabel></CustomObject>`)},
		"Notice__e/fields/Text__c.field-meta.xml": {Data: []byte(head + `<CustomField xmlns="http://soap.sforce.com/2006/04/metadata">
			<fullName>Text__c</fullName><label>Text</label><type>Text</type><length>10</length></CustomField>`)},
	}
}

func TestPlatformEvents(t *testing.T) {
	t.Parallel()
	b := newBed(t, func(c *simorg.Config) { c.Metadata = []fs.FS{notice()} })
	published := func(text string) string {
		return fmt.Sprintf(`{"platform_event":{"object":"Notice__e","fields":{"Text__c":%q}}}`, text)
	}
	b.applied("e1", map[string]string{"one": published("paid"), "two": published("paid")})
	b.applied("e2", map[string]string{"long": published("more than ten letters")})
	b.run()
	assert.Equal(t, event.Completed, b.event("e1").Status)
	assert.Equal(t, event.Review, b.event("e2").Status)
	rows := b.org.Rows("Notice__e")
	require.Len(t, rows, 2)
	assert.Equal(t, "paid", rows[0]["Text__c"])
	_, err := b.client.Query(b.ctx, "SELECT Text__c FROM Notice__e")
	require.Error(t, err, "published, not kept")
	_, err = b.client.Update(b.ctx, salesforce.Row{Object: "Notice__e", ID: rows[0]["Id"].(string), Fields: map[string]any{"Text__c": "x"}})
	require.Error(t, err)
}

func TestRequestsThatCantBeSent(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.applied("e1", map[string]string{"unknown": post, "broken": "no JSON", "kind": `{"mail":{}}`})
	b.run()
	for name, code := range map[string]string{"unknown": "NO_MAPPING", "broken": "REQUEST", "kind": "REQUEST"} {
		e := b.effect("shop:e1:" + name + ":ch_1")
		assert.Equal(t, event.EffectReview, e.Status, name)
		assert.Equal(t, code, e.Code)
	}
	assert.Empty(t, b.receipt.got)
}

// A full batch costs three calls: due rows, what they are, results.
func TestCallsOfFullBatches(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	for _, id := range ids(200) {
		b.applied(id, map[string]string{"receipt": post})
	}
	before := b.org.Stats().APICalls.Total
	b.run()
	assert.Equal(t, 3, b.org.Stats().APICalls.Total-before)
	assert.Len(t, b.receipt.keys(), 200)
	for _, row := range b.org.Rows(event.Object) {
		assert.Equal(t, "Completed", row[event.FieldStatus])
	}
}

// A row that somebody else moves on between read and record is read again; what
// was sent is recorded all the same.
func TestRowMovedMeanwhile(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.applied("e1", map[string]string{"receipt": post})
	b.applied("e2", map[string]string{"receipt": post})
	b.receipt.answer = func(r outbound.Request) (outbound.Response, error) {
		if strings.Contains(r.Header.Get("Idempotency-Key"), "e1") {
			ev := b.event("e1")
			b.update(event.Object, ev.RowID, map[string]any{
				event.FieldStatus: "Review", event.FieldExpectedRevision: ev.Revision, event.FieldRevision: ev.Revision + 5,
			})
		}
		return status(200)(r)
	}
	b.run()
	assert.Equal(t, event.EffectDone, b.effect(key).Status)
	assert.Equal(t, event.Review, b.event("e1").Status, "a person has it")
	assert.Equal(t, event.Completed, b.event("e2").Status)
	assert.Equal(t, map[string]int{key: 1, "shop:e2:receipt:ch_1": 1}, b.receipt.keys())
}

// An event that a person discards while a try is under way: what failed is not
// tried again, what arrived is recorded.
func TestDiscardedMeanwhile(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		answer int
		want   event.EffectStatus
	}{"the try fails": {503, event.EffectReview}, "it arrives": {200, event.EffectDone}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t)
			b.applied("e1", map[string]string{"receipt": post})
			b.receipt.answer = func(r outbound.Request) (outbound.Response, error) {
				e := b.effect(key)
				b.update(event.EffectObject, e.RowID, e.Closed("discarded"))
				ev := b.event("e1")
				b.update(event.Object, ev.RowID, map[string]any{
					event.FieldStatus: "Completed", event.FieldOutcome: "Discarded",
					event.FieldExpectedRevision: ev.Revision, event.FieldRevision: ev.Revision + 5,
				})
				return status(tt.answer)(r)
			}
			b.run()
			b.now = b.now.Add(25 * time.Hour)
			b.run()
			assert.Equal(t, tt.want, b.effect(key).Status)
			assert.Empty(t, b.effect(key).Queue)
			assert.Equal(t, map[string]int{key: 1}, b.receipt.keys())
		})
	}
}

// Whatever happens to the calls, each effect is recorded as done once, and no
// try goes under another key.
func TestFaults(t *testing.T) {
	t.Parallel()
	kinds := []fault.Kind{
		fault.DropBefore, fault.DropAfter, fault.LockRow, fault.LockNested, fault.Unavailable, fault.HTML200, fault.Truncated,
		fault.Malformed, fault.Limit, fault.ExpireSession, fault.StorageFull,
	}
	for _, kind := range kinds {
		for _, op := range []fault.Operation{fault.Composite, fault.Query, fault.CollectionsUpdate, fault.Row} {
			t.Run(string(kind)+" "+string(op), func(t *testing.T) {
				t.Parallel()
				b := newBed(t, func(c *simorg.Config) { c.Unsure = []string{"culprit-unnamed"} })
				for _, id := range ids(5) {
					b.applied(id, map[string]string{"receipt": post, "line": record("Payment_Line__c", "Line_Key__c", id, map[string]any{"Qty__c": 1})})
				}
				f := fault.Fault{Operation: op, Kind: kind, Times: 3}
				require.NoError(t, f.Validate())
				b.org.AddFaults(f)
				for range 10 {
					_ = b.worker.RunOnce(b.ctx)
					b.now = b.now.Add(25 * time.Hour)
				}
				for _, id := range ids(5) {
					assert.Equal(t, event.Completed, b.event(id).Status, id)
					e := b.effect("shop:" + id + ":receipt:ch_1")
					assert.Equal(t, event.EffectDone, e.Status)
					assert.Equal(t, 1, strings.Count(e.History, "-> Done"), e.History)
				}
				assert.Len(t, b.receipt.keys(), 5)
				assert.Len(t, b.org.Rows("Payment_Line__c"), 5)
			})
		}
	}
}

func TestYields(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.applied("e1", map[string]string{"receipt": post})
	b.cfg.Usage = func() salesforce.Usage { return salesforce.Usage{Used: 95, Max: 100} }
	require.ErrorIs(t, b.make(b.cfg).RunOnce(b.ctx), effect.ErrYields)
	assert.Empty(t, b.receipt.got)
}

func TestQueuesOfOthers(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.applied("e1", map[string]string{"receipt": post})
	home := b.event("e1").HomeQueue
	_, err := b.cfg.Leases.Acquire(b.ctx, "another", []string{"effects/" + home}, time.Hour)
	require.NoError(t, err)
	b.run()
	assert.Empty(t, b.receipt.got)
	require.NoError(t, b.cfg.Leases.Release(b.ctx, "another", []string{"effects/" + home}))
	b.run()
	assert.Len(t, b.receipt.got, 1)
}

func TestRowWithoutEvent(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.applied("e1", map[string]string{"receipt": post})
	_, err := b.client.Delete(b.ctx, event.Object, b.event("e1").RowID)
	require.NoError(t, err)
	b.run()
	assert.Equal(t, event.EffectReview, b.effect(key).Status)
	assert.Empty(t, b.receipt.got)
}

func TestConfig(t *testing.T) {
	t.Parallel()
	_, err := effect.New(effect.Config{Interval: time.Hour, MaxAttempts: -1})
	require.Error(t, err)
	for _, part := range []string{"no Salesforce client", "no targets", "no HTTP client", "no leases", "no owner", "shorter than interval", "-1 attempts"} {
		assert.Contains(t, err.Error(), part)
	}
}
