package poll

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sfbridge/bridge/event"
)

// However rows are taken and come back, no event is in work before an earlier
// one of its entity that holds it back, no two batches share a queue, and in
// the end every row has been taken.
func TestBacklogKeepsOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := &world{b: newBacklog(), open: map[string]*event.Event{}, now: noon}
		n := rapid.IntRange(0, 40).Draw(t, "rows")
		for i := range n {
			e := row(rapid.SampledFrom([]string{"a", "c", "d", "i", ""}).Draw(t, "object"), int64(i))
			if rapid.Bool().Draw(t, "unordered") {
				unordered(e)
			}
			if rapid.IntRange(0, 3).Draw(t, "not due") == 0 {
				retryable(e, rapid.SampledFrom([]string{event.CodeLock, event.CodeParent}).Draw(t, "code"))
			}
			w.open[e.RowID] = e
		}
		for range 400 {
			if len(w.open) == 0 {
				break
			}
			w.step(t)
		}
		w.finish(t)
	})
}

// world is an org as a backlog sees it.
type world struct {
	b      *backlog
	open   map[string]*event.Event
	flight [][]*event.Event
	now    time.Time
}

func (w *world) query() answer {
	var a answer
	for _, e := range w.open {
		if e.NextAttempt.After(w.now) {
			a.waiting = append(a.waiting, e)
		} else {
			a.due = append(a.due, e)
		}
	}
	slices.SortFunc(a.due, fetchOrder)
	return a
}

func (w *world) step(t *rapid.T) {
	switch rapid.IntRange(0, 3).Draw(t, "step") {
	case 0:
		w.b.queryStarts()
		w.b.merge(w.query())
	case 1:
		w.now = w.now.Add(rapid.SampledFrom([]time.Duration{time.Second, time.Hour}).Draw(t, "pause"))
	case 2:
		w.take(t, rapid.IntRange(1, 7).Draw(t, "limit"))
	case 3:
		if len(w.flight) > 0 {
			w.settle(t, rapid.IntRange(0, len(w.flight)-1).Draw(t, "batch"))
		}
	}
}

func (w *world) take(t *rapid.T, limit int) {
	batch := w.b.take(w.now, limit, never)
	if len(batch) > limit {
		t.Fatalf("%d rows in a batch of %d", len(batch), limit)
	}
	taken := map[string]bool{}
	for _, e := range batch {
		for _, other := range w.flight {
			if slices.ContainsFunc(other, func(o *event.Event) bool { return o.Queue == e.Queue }) {
				t.Fatalf("queue %s is in two batches", e.Queue)
			}
		}
		for _, earlier := range w.open {
			if earlier.Entity() == e.Entity() && earlier.HoldsBack() && event.Compare(earlier, e) < 0 && !taken[earlier.RowID] {
				t.Fatalf("%s is in work before %s", e.RowID, earlier.RowID)
			}
		}
		taken[e.RowID] = true
	}
	if len(batch) > 0 {
		w.flight = append(w.flight, batch)
	}
}

func (w *world) settle(t *rapid.T, i int) {
	var fates []fate
	for _, e := range w.flight[i] {
		switch rapid.IntRange(0, 3).Draw(t, "fate") {
		case 0:
			fates = append(fates, fate{event: e, until: w.now.Add(time.Minute)})
		case 1:
			later := *e
			later.Status, later.ErrorCode, later.NextAttempt = event.Retryable, event.CodeLock, w.now.Add(time.Minute)
			w.open[e.RowID] = &later
			fates = append(fates, fate{event: &later, ended: true})
		default:
			delete(w.open, e.RowID)
			fates = append(fates, fate{event: done(e), ended: true})
		}
	}
	w.b.settle(fates)
	w.flight = slices.Delete(w.flight, i, i+1)
}

// finish works on with an org that takes everything.
func (w *world) finish(t *rapid.T) {
	for range 100 {
		for _, batch := range w.flight {
			var fates []fate
			for _, e := range batch {
				delete(w.open, e.RowID)
				fates = append(fates, fate{event: done(e), ended: true})
			}
			w.b.settle(fates)
		}
		w.flight = nil
		w.now = w.now.Add(2 * time.Hour)
		w.b.queryStarts()
		w.b.merge(w.query())
		w.take(t, 200)
	}
	if len(w.open) > 0 {
		t.Fatalf("%d rows were never taken", len(w.open))
	}
}
