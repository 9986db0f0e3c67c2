package reconcile_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/event"
	"sfbridge/bridge/outbound"
	"sfbridge/bridge/reconcile"
	"sfbridge/salesforce"
)

const list = "https://api.example.com/charges"

func TestDriftIsFoundAndRepaired(t *testing.T) {
	t.Parallel()
	b := newBed(t, whole)
	held := func(updated int64) map[string]any {
		return map[string]any{"Amount__c": json.Number("12.5"), "Status__c": "Succeeded", "Source_Order__c": updated * 1000}
	}
	b.payment("ch_same", held(old))
	b.payment("ch_other", map[string]any{"Amount__c": 13, "Status__c": "Pending", "Note__c": "n", "Source_Order__c": old * 1000})
	b.payment("ch_newer", map[string]any{"Amount__c": 1, "Source_Order__c": (old + 60) * 1000})
	b.payment("ch_open", map[string]any{"Amount__c": 1})
	b.row(event.Event{ID: "shop:open", ObjectID: "ch_open", Type: "charge.updated"}, nil)
	b.row(event.Event{ID: "shop:reconcile:ch_left:1:1", ObjectID: "ch_left", Status: event.Review, ErrorCode: event.CodeTransition}, nil)
	b.provider.page(list, fmt.Sprintf(`{"data":[%s,%s,%s],"next":"/charges?page=2"}`, charge("ch_same", "12.50", old), charge("ch_other", "12.50", old), charge("ch_newer", "12.50", old)))
	b.provider.page(list+"?page=2", fmt.Sprintf(`{"data":[%s,%s,%s,%s,{"id":"ch_bad","updated":%d,"amount":"x"},{}],"next":null}`,
		charge("ch_gone", "7", old), charge("ch_young", "7", young), charge("ch_open", "7", old), charge("ch_left", "7", old), old))

	s := b.once(b.reconciler())
	assert.True(t, s.Finished, s.Problem)
	assert.Equal(t, []string{list, list + "?page=2"}, b.provider.asked)
	assert.Equal(t, "Bearer s3cret", b.provider.auth[1])
	assert.Equal(t, map[string]reconcile.Kind{
		"ch_otherch_other": reconcile.Different, "ch_gonech_gone": reconcile.Missing, "ch_leftch_left": reconcile.Missing,
		"ch_bad": reconcile.Unmapped, "": reconcile.Unmapped,
	}, kinds(s.Drift))
	assert.Equal(t, 9, s.Objects)
	assert.Equal(t, 3, s.Young, "the young one, the one under way and the one that a newer event has changed")
	assert.Equal(t, 2, s.Repaired)
	assert.Equal(t, 3, s.Drifting)
	assert.Equal(t, 3, s.Unrepaired())
	assert.Equal(t, map[string]int{"shop missing": 2, "shop different": 1, "shop unmapped": 2}, b.metrics.drift)
	for _, d := range s.Drift {
		switch d.Key {
		case "ch_other":
			assert.Equal(t, []reconcile.FieldDiff{
				{Field: "Amount__c", Provider: json.Number("12.50"), Salesforce: json.Number("13.0")},
				{Field: "Note__c", Provider: nil, Salesforce: "n"},
				{Field: "Status__c", Provider: "Succeeded", Salesforce: "Pending"},
			}, d.Fields)
			assert.NotEmpty(t, d.RowID)
		case "ch_left":
			assert.Contains(t, d.Reason, "an earlier repair waits in Review")
			assert.Empty(t, d.Repair)
		}
	}
	require.Len(t, b.staged, 2)
	e := b.staged[1]
	assert.Equal(t, fmt.Sprintf("shop:reconcile:ch_gone:%d:%d", old*1000, now.UnixMilli()), e.ID)
	assert.Equal(t, e.ID, s.Drift[len(s.Drift)-2].Repair)
	assert.Equal(t, event.Received, e.Status)
	assert.Equal(t, event.HomeQueue(event.ByBridge, "shop:ch_gone"), e.HomeQueue)
	assert.Contains(t, e.History, "new -> Received by bridge: reconciliation found")
}

func TestWithoutRepairNothingIsStaged(t *testing.T) {
	t.Parallel()
	b := newBed(t, `{list: "https://api.example.com/charges", items: "$[*]", type: charge.listed, into: $.data}`)
	b.payment("ch_later", map[string]any{"Amount__c": 1, "Source_Order__c": now.Add(time.Second).UnixMilli()})
	b.provider.page(list, fmt.Sprintf(`[%s,%s]`, charge("ch_1", "7", young), charge("ch_later", "7", young)))
	r := b.reconciler()
	s := b.once(r)
	assert.True(t, s.Finished, s.Problem)
	assert.Equal(t, 1, s.Missing, "without an order, the list itself is what counts")
	assert.Equal(t, 1, s.Young, "an event has come after the list was asked for")
	assert.Empty(t, b.staged)
	assert.Equal(t, 1, s.Unrepaired())
	assert.Equal(t, []reconcile.Sweep{s}, r.Last().Sweeps)
	assert.Empty(t, b.reconciler().Last().Sweeps)
}

func TestExtraRecordsOfACompleteList(t *testing.T) {
	t.Parallel()
	b := newBed(t, `{list: "https://api.example.com/charges", items: "$[*]", type: charge.listed, into: $.data, order: {from: "@.updated", as: unix_s}, complete: true}`)
	held := map[string]any{"Amount__c": 7, "Status__c": "Succeeded"}
	b.payment("ch_1", held)
	b.payment("ch_extra", held)
	b.payment("ch_elsewhere", map[string]any{"Source_Event__c": "other:evt"})
	b.payment("ch_by_hand", map[string]any{"Source_Event__c": nil})
	b.provider.page(list, fmt.Sprintf(`[%s,%s]`, charge("ch_1", "7", old), charge("ch_young", "7", young)))
	s := b.once(b.reconciler())
	assert.True(t, s.Finished, s.Problem)
	assert.Equal(t, map[string]reconcile.Kind{"ch_extra": reconcile.Extra}, kinds(s.Drift))
	b.now = now.Add(-55 * time.Minute)
	assert.Zero(t, b.once(b.reconciler()).Extra, "the record is younger than ten minutes")
}

func TestABrokenSweepGoesOnWhereItStopped(t *testing.T) {
	t.Parallel()
	b := newBed(t, whole)
	for n := range 3 {
		next := fmt.Sprintf(`"/charges?page=%d"`, n+1)
		address := list
		if n > 0 {
			address = fmt.Sprintf("%s?page=%d", list, n)
		}
		if n == 2 {
			next = `""`
		}
		b.provider.page(address, fmt.Sprintf(`{"data":[%s],"next":%s}`, charge(fmt.Sprintf("ch_%d", n), "7", old), next))
	}
	b.provider.fault = func(_ int, address string) (outbound.Response, error, bool) {
		return outbound.Response{}, errors.New("connection refused"), address == list+"?page=1"
	}
	s := b.once(b.reconciler())
	assert.False(t, s.Finished)
	assert.Contains(t, s.Problem, "does not answer")
	assert.Equal(t, 1, s.Pages)
	assert.Equal(t, []time.Duration{2 * time.Second, 4 * time.Second}, b.slept, "it was tried three times")

	b.provider.fault, b.provider.asked, b.now = nil, nil, now.Add(time.Hour)
	s = b.once(b.reconciler())
	assert.True(t, s.Finished, s.Problem)
	assert.True(t, s.Resumed)
	assert.Equal(t, []string{list + "?page=1", list + "?page=2"}, b.provider.asked)
	assert.Equal(t, 3, s.Missing)
	assert.Len(t, b.staged, 3)
	for _, e := range b.staged {
		assert.Contains(t, e.ID, fmt.Sprint(now.UnixMilli()), "the key of the sweep stays")
	}
	assert.Equal(t, 3, b.metrics.drift["shop missing"], "nothing is counted twice")

	b.now = now.Add(2 * time.Hour)
	assert.False(t, b.once(b.reconciler()).Resumed)
}

func TestAPageThatFailsHalfwayIsDoneAgain(t *testing.T) {
	t.Parallel()
	b := newBed(t, whole)
	b.provider.page(list, fmt.Sprintf(`{"data":[%s,%s]}`, charge("ch_1", "7", old), charge("ch_2", "7", old)))
	b.stage = func(e *event.Event) error {
		if e.ObjectID == "ch_2" {
			return errors.New("nowhere durable")
		}
		return nil
	}
	s := b.once(b.reconciler())
	assert.False(t, s.Finished)
	assert.Contains(t, s.Problem, "staging 1 of 2 repairs: nowhere durable")
	assert.Zero(t, s.Missing)
	b.stage = nil
	s = b.once(b.reconciler())
	assert.True(t, s.Finished)
	assert.Equal(t, 2, s.Repaired)
}

func TestProvidersThatRefuse(t *testing.T) {
	t.Parallel()
	status := func(code int, header ...string) func(*bed) {
		return func(b *bed) {
			b.provider.page(list, "", header...)
			r := b.provider.pages[list]
			r.Status = code
			b.provider.pages[list] = r
		}
	}
	body := func(text string) func(*bed) { return func(b *bed) { b.provider.page(list, text) } }
	for name, c := range map[string]struct {
		prepare func(*bed)
		problem string
		asked   int
	}{
		"not there":        {status(404), "status 404", 1},
		"no access":        {status(401), "status 401", 1},
		"a redirect":       {status(302), "status 302", 1},
		"down":             {status(503), "status 503", 3},
		"a limit":          {status(429, "Retry-After", "3600"), "asks to wait 1h0m0s", 1},
		"no JSON":          {body("<html>"), "no JSON", 1},
		"no list":          {body(`{"data":{"a":1}}`), "the objects of a page", 1},
		"another host":     {body(`{"data":[],"next":"https://evil.example.com/charges"}`), "another host", 1},
		"another scheme":   {body(`{"data":[],"next":"http://api.example.com/charges?page=2"}`), "another host", 1},
		"round and round":  {body(`{"data":[],"next":"/charges"}`), "is this page", 1},
		"true is no place": {body(`{"data":[],"next":true}`), "no address", 1},
		"a number is none": {body(`{"data":[],"next":7}`), "no address", 1},
		"forbidden address": {func(b *bed) {
			b.provider.fault = func(int, string) (outbound.Response, error, bool) {
				return outbound.Response{}, outbound.ErrForbidden, true
			}
		}, "outbound.allow", 1},
		"too large": {func(b *bed) {
			b.provider.fault = func(int, string) (outbound.Response, error, bool) {
				return outbound.Response{}, outbound.ErrTooLarge, true
			}
		}, "too large", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t, whole)
			c.prepare(b)
			s := b.once(b.reconciler())
			assert.False(t, s.Finished)
			assert.Contains(t, s.Problem, c.problem)
			assert.Len(t, b.provider.asked, c.asked)
			assert.NotContains(t, s.Problem, "s3cret")
		})
	}
}

func TestAProviderThatAsksForPatienceGetsIt(t *testing.T) {
	t.Parallel()
	b := newBed(t, whole)
	b.provider.page(list, `{"data":[]}`)
	b.provider.fault = func(n int, _ string) (outbound.Response, error, bool) {
		return outbound.Response{Status: 429, Header: map[string][]string{"Retry-After": {"7"}}}, nil, n == 1
	}
	assert.True(t, b.once(b.reconciler()).Finished)
	assert.Equal(t, []time.Duration{7 * time.Second}, b.slept)
}

func TestTheBudgetIsKept(t *testing.T) {
	t.Parallel()
	b := newBed(t, whole)
	b.provider.page(list, `{"data":[]}`)
	b.usage = salesforce.Usage{Used: 80, Max: 100}
	s := b.once(b.reconciler())
	assert.False(t, s.Finished)
	assert.Contains(t, s.Problem, "API calls")
	assert.Empty(t, b.provider.asked)
	b.usage = salesforce.Usage{Used: 0, Max: 100}
	assert.True(t, b.once(b.reconciler(func(c *reconcile.Config) { c.Share = 1 })).Finished)
	assert.False(t, b.once(b.reconciler(func(c *reconcile.Config) { c.Share = 0.01 })).Finished, "its own share is used up by the look at the rows")
}

func TestTheConfigIsChecked(t *testing.T) {
	t.Parallel()
	_, err := reconcile.New(reconcile.Config{})
	assert.Error(t, err)
}
