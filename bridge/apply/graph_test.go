package apply_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/apply"
	"sfbridge/bridge/event"
	"sfbridge/salesforce"
	"sfbridge/salesforce/simorg/fault"
)

func newWideBed(t *testing.T, change ...func(*bedConfig)) *bed {
	t.Helper()
	return newBed(t, wide, append(change, withObjects(wideObjects()...))...)
}

func wideObjects() []map[string]string {
	return []map[string]string{object("W1__c", true), object("W2__c", true), object("W3__c", true), object("W4__c", true)}
}

// Salesforce stops after the 14th failed graph of a call; those that were not
// tried are sent again.
func TestHaltedGraphsAreSentAgain(t *testing.T) {
	t.Parallel()
	b := newWideBed(t)
	var events []ev
	for i := range 40 {
		e := wideEvent(fmt.Sprintf("w%02d", i), fmt.Sprintf("o%02d", i), 1, 30)
		if i < 20 {
			e.payload = strings.Replace(e.payload, "a@example.com", "no address", 1)
		}
		events = append(events, e)
	}
	b.stage(events...)
	b.apply()
	assert.Equal(t, map[string]int{"Review INVALID_EMAIL_ADDRESS": 20, "Completed Created": 20}, b.tally())
}

// Entities that write one record go one after another.
func TestGraphsOfEntitiesThatShareARecord(t *testing.T) {
	t.Parallel()
	b := newWideBed(t)
	one, two := wideEvent("w1", "a", 1, 30), wideEvent("w2", "a", 2, 30)
	two.object = "another"
	b.stage(one, two)
	b.apply()
	assert.Equal(t, map[string]int{"Completed Created": 1, "Completed Updated": 1}, b.tally())
	assert.Equal(t, "w2", b.payments()["a"].String("Note__c"))
}

func TestLockedRowInAGraph(t *testing.T) {
	t.Parallel()
	b := newWideBed(t)
	b.stage(wideEvent("w1", "a", 1, 30), wideEvent("w2", "b", 1, 30))
	b.plant(fault.Fault{Operation: fault.Any, Object: "Payment__c", Key: "a", Kind: fault.LockRow, Times: 1000})
	b.apply()
	assert.Equal(t, "Retryable UNABLE_TO_LOCK_ROW", b.ended("w1"))
	assert.Zero(t, b.event("w1").Attempts)
	assert.Equal(t, "Completed Created", b.ended("w2"))
	b.org.ClearFaults()
	b.apply()
	assert.Equal(t, "Completed Created", b.ended("w1"))
}

// graphScript answers the first graph calls by itself.
type graphScript struct {
	apply.Org
	answer func(call int, graphs []salesforce.Graph) ([]salesforce.GraphResult, error)
	calls  int
}

func (g *graphScript) Graph(ctx context.Context, graphs []salesforce.Graph) ([]salesforce.GraphResult, error) {
	g.calls++
	if results, err := g.answer(g.calls, graphs); results != nil || err != nil {
		return results, err
	}
	return g.Org.Graph(ctx, graphs)
}

func scriptedGraphs(answer func(int, []salesforce.Graph) ([]salesforce.GraphResult, error)) func(*bedConfig) {
	return func(c *bedConfig) {
		c.wrap = func(o apply.Org) apply.Org { return &graphScript{Org: o, answer: answer} }
	}
}

// rolledBack is the answer of graphs that failed without saying why.
func rolledBack(graphs []salesforce.Graph) []salesforce.GraphResult {
	out := make([]salesforce.GraphResult, len(graphs))
	for i, g := range graphs {
		out[i].ID = g.ID
		for _, s := range g.Requests {
			out[i].Responses = append(out[i].Responses, salesforce.Subresponse{Ref: s.Ref, Status: 400,
				Faults: []salesforce.Fault{{Code: "PROCESSING_HALTED", Class: salesforce.ClassCollateral}}})
		}
	}
	return out
}

// A graph that fails without a reason is tried event by event; then its event
// waits as for a lock, and is charged when that takes too long.
func TestUnnamedFailureOfAGraph(t *testing.T) {
	t.Parallel()
	b := newWideBed(t, scriptedGraphs(func(_ int, graphs []salesforce.Graph) ([]salesforce.GraphResult, error) {
		return rolledBack(graphs), nil
	}))
	b.stage(wideEvent("w1", "a", 1, 30), wideEvent("w2", "a", 2, 30), wideEvent("w3", "b", 1, 30))
	b.apply()
	assert.Equal(t, "Retryable UNKNOWN", b.ended("w1"))
	assert.Zero(t, b.event("w1").Attempts)
	assert.Equal(t, "Received", b.ended("w2"), "held back")
	assert.Equal(t, "Retryable UNKNOWN", b.ended("w3"))
	b.now = b.now.Add(2 * time.Hour)
	b.apply()
	assert.Equal(t, 1, b.event("w1").Attempts)
}

// A graph call that Salesforce can't read is cut down until the event is found.
func TestRefusedGraphCall(t *testing.T) {
	t.Parallel()
	refuse := func(f salesforce.Fault) func(*bedConfig) {
		return scriptedGraphs(func(_ int, graphs []salesforce.Graph) ([]salesforce.GraphResult, error) {
			for _, g := range graphs {
				if len(g.Requests) == 104 { // lock, outcome, two records, 5 x 20 lines
					return nil, &salesforce.Error{Op: salesforce.OpGraph, Status: 400, Fault: f}
				}
			}
			return nil, nil
		})
	}
	t.Run("Data", func(t *testing.T) {
		t.Parallel()
		b := newWideBed(t, refuse(salesforce.Fault{Code: "JSON_PARSER_ERROR", Class: salesforce.ClassData}))
		stageForGraphs(b)
		b.apply()
		assert.Equal(t, map[string]int{"Review JSON_PARSER_ERROR": 1, "Completed Created": 3}, b.tally())
		assert.Equal(t, "Review JSON_PARSER_ERROR", b.ended("bad"))
	})
	t.Run("TooLarge", func(t *testing.T) {
		t.Parallel()
		b := newWideBed(t, refuse(tooLong))
		stageForGraphs(b)
		b.apply()
		assert.Equal(t, "Retryable REQUEST_RUNNING_TOO_LONG", b.ended("bad"))
		assert.Equal(t, 3, b.tally()["Completed Created"])
	})
	t.Run("Limit", func(t *testing.T) {
		t.Parallel()
		b := newWideBed(t, refuse(salesforce.Fault{Code: "REQUEST_LIMIT_EXCEEDED", Class: salesforce.ClassLimit}))
		stageForGraphs(b)
		_, err := b.applier.Apply(b.ctx, b.due())
		assert.Equal(t, salesforce.ClassLimit, salesforce.ClassOf(err))
		assert.Zero(t, b.event("bad").Attempts)
	})
}

// stageForGraphs stages events that need graphs; the one called bad has a
// number of rows of its own.
func stageForGraphs(b *bed) {
	b.stage(wideEvent("w1", "a", 1, 30), wideEvent("bad", "b", 1, 20), wideEvent("w2", "c", 1, 30), wideEvent("w3", "d", 1, 30))
}

// The reply of the call that writes the outcomes of failed events is lost.
func TestLostReplyOfOutcomes(t *testing.T) {
	t.Parallel()
	for _, happened := range []bool{true, false} {
		t.Run(fmt.Sprint(happened), func(t *testing.T) {
			t.Parallel()
			b := newBed(t, shop, func(c *bedConfig) {
				c.wrap = func(o apply.Org) apply.Org { return &forgetful{Org: o, happened: happened} }
			})
			b.stage(charges(3)...)
			b.plant(fault.Fault{Operation: fault.CollectionsUpsert, Object: "Payment__c", Key: "ch_001", Kind: fault.Validation})
			report := b.apply()
			assert.Equal(t, "Review FIELD_CUSTOM_VALIDATION_EXCEPTION", b.ended("e001"))
			assert.Equal(t, apply.Moved, report.Results[1].Disposition)
			assert.Equal(t, event.Review, report.Results[1].Status)
			assert.Equal(t, 1, strings.Count(b.event("e001").History, "->"))
		})
	}
}

// forgetful loses the reply of the first UpdateAll.
type forgetful struct {
	apply.Org
	happened bool
	done     bool
}

func (f *forgetful) UpdateAll(ctx context.Context, rows []salesforce.Row, all bool) ([]salesforce.SaveResult, error) {
	if f.done {
		return f.Org.UpdateAll(ctx, rows, all)
	}
	f.done = true
	if f.happened {
		if _, err := f.Org.UpdateAll(ctx, rows, all); err != nil {
			return nil, err
		}
	}
	return nil, &salesforce.Error{Op: salesforce.OpUpdateAll, Fault: salesforce.Fault{Class: salesforce.ClassUnknownOutcome}}
}

func TestReadsOfManyObjectsShareACall(t *testing.T) {
	t.Parallel()
	b := newWideBed(t)
	b.stage(wideEvent("warm", "z", 1, 1))
	b.apply()
	b.stage(wideEvent("w1", "a", 1, 1))
	batch := b.due()
	calls := b.calls(func() {
		_, err := b.applier.Apply(b.ctx, batch)
		require.NoError(t, err)
	})
	assert.Equal(t, 3, calls, "seven objects are read in two calls")
}
