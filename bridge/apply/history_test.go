package apply_test

import (
	"context"
	"fmt"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"sfbridge/bridge/event"
	"sfbridge/salesforce"
	"sfbridge/salesforce/simorg/fault"
)

// told is one event of a drawn history.
type told struct {
	ev
	delete bool
	status string
}

// drawTold draws the history of one payment: snapshots whose states follow the
// permitted steps in the order in which they are to win. It returns them in
// that order, which is sorted here without the code under test.
func drawTold(t *rapid.T, object string) []told {
	n := rapid.IntRange(1, 6).Draw(t, "events of "+object)
	events := make([]told, n)
	for i := range events {
		events[i].id = fmt.Sprintf("%s-%c%d", object, 'a'+byte(rapid.IntRange(0, 25).Draw(t, "letter")), i)
		events[i].order = rapid.Int64Range(1, 4).Draw(t, "order")
		events[i].delete = rapid.IntRange(0, 6).Draw(t, "kind") == 0
	}
	key := func(e told) string { return fmt.Sprintf("%d|%t|%s", e.order, e.delete, e.id) }
	sort.Slice(events, func(i, j int) bool { return key(events[i]) < key(events[j]) })
	states := []string{"Pending", "Succeeded", "Refunded"}
	state := 0
	for i := range events {
		if i == 0 || events[i].order != events[i-1].order { // equal orders keep one state
			state = min(state+rapid.IntRange(0, 1).Draw(t, "step"), 2)
		}
		events[i].status = states[state]
		if events[i].delete {
			events[i].ev = deletion(events[i].id, object, events[i].order)
		} else {
			events[i].ev = charge(events[i].id, object, events[i].order, states[state])
		}
	}
	return events
}

func drawFaults(t *rapid.T) []fault.Fault {
	kinds := []fault.Kind{
		fault.LockRow, fault.LockNested, fault.DuplicateRace, fault.Limit, fault.ConcurrentLimit, fault.Unavailable,
		fault.HTML503, fault.HTML200, fault.DropBefore, fault.DropAfter, fault.ExpireSession, fault.Malformed, fault.Truncated,
	}
	faults := make([]fault.Fault, rapid.IntRange(0, 3).Draw(t, "faults"))
	for i := range faults {
		faults[i] = fault.Fault{
			Operation: rapid.SampledFrom([]fault.Operation{
				fault.Composite, fault.CollectionsUpsert, fault.CollectionsUpdate, fault.Query, fault.Describe, fault.Delete, fault.Row,
			}).Draw(t, "operation"),
			Kind:  rapid.SampledFrom(kinds).Draw(t, "fault"),
			After: rapid.IntRange(0, 3).Draw(t, "after"),
			Times: rapid.IntRange(1, 3).Draw(t, "times"),
		}
	}
	return faults
}

// Any order of arrival, any split into batches, any fault, two workers at
// once: the records end as the last event of each history says.
func TestHistoriesEndTheSame(t *testing.T) {
	t.Parallel()
	unsure := [][]string{nil, {"culprit-unnamed"}, {"priorvalue-unlocked"}, {"halted-mates", "created-missing", "duplicate-unknown-id"}}
	folding := strings.ReplaceAll(shopRoutes, "        state:", "        coalesce: true\n        state:")
	rapid.Check(t, func(rt *rapid.T) {
		tb := &scopedTB{TB: t, drawn: rt}
		defer tb.runCleanups()
		mappings := rapid.SampledFrom([]string{shopRoutes, folding, withEffects(shopRoutes), withEffects(folding)}).Draw(rt, "mapping")
		switches := rapid.SampledFrom(unsure).Draw(rt, "unsure")
		b := newBed(tb, mappings, func(c *bedConfig) { c.org.Unsure = switches })
		playHistory(rt, b)
	})
}

func playHistory(t *rapid.T, b *bed) {
	want, histories := map[string]told{}, map[string][]told{}
	var all []ev
	for i := range rapid.IntRange(1, 4).Draw(t, "payments") {
		object := fmt.Sprintf("ch_%d", i)
		history := drawTold(t, object)
		want[object], histories[object] = history[len(history)-1], history
		for _, e := range history {
			all = append(all, e.ev)
		}
	}
	all = rapid.Permutation(all).Draw(t, "arrival")
	b.applierCount(2)
	for len(all) > 0 {
		n := rapid.IntRange(1, len(all)).Draw(t, "batch")
		b.stage(all[:n]...)
		all = all[n:]
		b.org.AddFaults(drawFaults(t)...)
		b.work(rapid.IntRange(1, 2).Draw(t, "workers"))
		b.org.ClearFaults()
	}
	for range 40 {
		b.now = b.now.Add(20 * time.Minute)
		if b.work(1) == 0 {
			break
		}
	}
	payments := b.payments()
	var story string
	for _, row := range b.org.Rows(event.Object) {
		story += fmt.Sprintf("%v %v %v\n%v\n", row[event.FieldID], row[event.FieldStatus], row[event.FieldOutcome], row[event.FieldHistory])
	}
	for object, last := range want {
		if last.delete {
			require.NotContains(t, payments, object)
			continue
		}
		require.Contains(t, payments, object, "%v", b.tally())
		require.Equal(t, "shop:"+last.id, payments[object].String("Source_Event__c"), story)
		require.Equal(t, last.status, payments[object].String("Status__c"))
		require.Equal(t, last.id, payments[object].String("Note__c"))
	}
	expected := map[string]bool{}
	if len(b.files["shop"].Effects()) > 0 {
		expected = transitions(t, b, histories)
	}
	require.Equal(t, expected, b.outbox(), story)
	for _, row := range b.org.Rows(event.Object) {
		require.Contains(t, []any{"Completed", "Applied"}, row[event.FieldStatus], "%v", row[event.FieldHistory])
	}
}

// transitions are the keys of the effects that the events have caused, told by
// the outcomes alone: those that wrote, in the order in which they win.
func transitions(t *rapid.T, b *bed, histories map[string][]told) map[string]bool {
	keys := map[string]bool{}
	for object, history := range histories {
		before := ""
		for _, e := range history {
			row := b.event(e.id)
			switch row.Outcome {
			case event.Created, event.Updated, event.Superseded:
				if e.status != before {
					keys["shop:"+e.id+":moved:"+object] = true
					require.NotEqual(t, "Completed", string(row.Status), "nobody has delivered its effect")
				}
				before = e.status
			case event.Deleted:
				if !strings.Contains(row.History, "the record was not there") {
					before = ""
				}
			}
		}
	}
	return keys
}

// outbox is the keys of all effects.
func (b *bed) outbox() map[string]bool {
	keys := map[string]bool{}
	for _, row := range b.org.Rows(event.EffectObject) {
		keys[row[event.EffectFieldKey].(string)] = true
	}
	return keys
}

func (b *bed) applierCount(n int) {
	b.workers = nil
	for range n {
		b.workers = append(b.workers, b.newApplier(bedConfig{}))
	}
}

// work lets workers apply what is due at the same time, as processes that share
// no store would, and returns how much was due.
func (b *bed) work(workers int) int {
	b.t.Helper()
	var batch []*event.Event
	for try := 0; ; try++ { // planted faults may strike the query too
		var err error
		if batch, err = b.tryDue(); err == nil {
			break
		}
		require.Less(b.t, try, 20, "%v", err)
	}
	var wait sync.WaitGroup
	for _, a := range b.workers[:workers] {
		wait.Add(1)
		go func() {
			defer wait.Done()
			ctx, cancel := context.WithTimeout(b.ctx, time.Minute)
			defer cancel()
			_, err := a.Apply(ctx, inOrderOf(batch))
			if err != nil {
				_, ours := salesforce.AsError(err)
				require.True(b.t, ours, "%v", err)
			}
		}()
	}
	wait.Wait()
	return len(batch)
}

func inOrderOf(batch []*event.Event) []*event.Event {
	out := make([]*event.Event, len(batch))
	for i, e := range batch {
		copied := *e
		out[i] = &copied
	}
	return out
}

// scopedTB runs its cleanups at the end of a drawn case, not of the test.
type scopedTB struct {
	testing.TB
	drawn    *rapid.T
	cleanups []func()
}

func (s *scopedTB) FailNow()                          { s.drawn.FailNow() }
func (s *scopedTB) Errorf(format string, args ...any) { s.drawn.Errorf(format, args...) }

func (s *scopedTB) Cleanup(f func()) { s.cleanups = append(s.cleanups, f) }

func (s *scopedTB) runCleanups() {
	for i := len(s.cleanups) - 1; i >= 0; i-- {
		s.cleanups[i]()
	}
}
