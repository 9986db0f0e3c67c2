package poll

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"sfbridge/bridge/event"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func never(string) bool { return false }

// row is a due event of an entity; the number is its order and its place in
// fetching order.
func row(object string, n int64) *event.Event {
	e := &event.Event{
		RowID: fmt.Sprintf("%s%d", object, n), ID: fmt.Sprintf("s:%s:%d", object, n), Source: "s", ObjectID: object,
		Order: &n, SourceTime: noon.Add(time.Duration(n) * time.Second), Status: event.Received,
	}
	e.HomeQueue = event.HomeQueue(event.ByBridge, e.Entity())
	e.Queue = e.HomeQueue
	return e
}

func retryable(e *event.Event, code string) *event.Event {
	e.Status, e.ErrorCode, e.NextAttempt = event.Retryable, code, noon.Add(time.Hour)
	return e
}

func unordered(e *event.Event) *event.Event {
	e.Order = nil
	return e
}

func TestBacklogTake(t *testing.T) {
	t.Parallel()
	type rows = []*event.Event
	tests := []struct {
		name    string
		due     rows
		waiting rows
		limit   int
		want    []string
	}{
		{"oldest first", rows{row("a", 1), row("b", 2)}, nil, 9, []string{"a1", "b2"}},
		{"in the order of the entity", rows{row("a", 2), row("a", 1)}, nil, 9, []string{"a1", "a2"}},
		{"no order comes first", rows{row("a", 1), unordered(row("a", 9))}, nil, 9, []string{"a9", "a1"}},
		{"one waits for an earlier one", rows{row("a", 2)}, rows{retryable(row("a", 1), event.CodeLock)}, 9, nil},
		{"not for a later one", rows{row("a", 2)}, rows{retryable(row("a", 3), event.CodeLock)}, 9, []string{"a2"}},
		{"not for one that waits for its parent", rows{row("a", 2)}, rows{retryable(row("a", 1), event.CodeParent)}, 9, []string{"a2"}},
		{"not for one that waits for its target", rows{row("a", 2)}, rows{retryable(row("a", 1), event.CodeTarget)}, 9, []string{"a2"}},
		{"not for one of another entity", rows{row("a", 2)}, rows{retryable(row("b", 1), event.CodeLock)}, 9, []string{"a2"}},
		{"for one of the sister queue", rows{row("a", 2)}, rows{row("a", 1)}, 9, nil},
		{"a due one before the waiting one goes", rows{row("a", 1), row("a", 3)}, rows{retryable(row("a", 2), event.CodeLock)}, 9, []string{"a1"}},
		{"the first of every entity before the second of any", rows{row("a", 1), row("a", 2), row("i", 3), row("i", 4)}, nil, 3, []string{"a1", "i3", "a2"}},
		{"rows that are not open are left", rows{{RowID: "x", Status: event.Review}}, nil, 9, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBacklog()
			b.merge(answer{due: tt.due, waiting: tt.waiting})
			assert.Equal(t, tt.want, idsOf(b.take(noon, tt.limit, never)))
		})
	}
}

func idsOf(batch []*event.Event) []string {
	var ids []string
	for _, e := range batch {
		ids = append(ids, e.RowID)
	}
	return ids
}

func TestEventsWithoutObjectDontWaitForEachOther(t *testing.T) {
	t.Parallel()
	first, second := row("", 1), row("", 2)
	b := newBacklog()
	b.merge(answer{due: []*event.Event{second}, waiting: []*event.Event{retryable(first, event.CodeLock)}})
	assert.Len(t, b.take(noon, 9, never), 1)
}

func TestQueueInWorkIsLeftAlone(t *testing.T) {
	t.Parallel()
	b := newBacklog()
	b.merge(answer{due: []*event.Event{row("a", 1), row("a", 2), row("a", 3)}})
	first := b.take(noon, 1, never)
	assert.Equal(t, []string{"a1"}, idsOf(first))
	assert.Empty(t, b.take(noon, 9, never))
	assert.Zero(t, b.ready(noon))
	assert.Equal(t, 2, b.coming(noon))
	b.merge(answer{due: []*event.Event{row("a", 1), row("a", 2), row("a", 3)}}) // the query still saw it
	b.settle([]fate{{event: done(first[0]), ended: true}})
	assert.Equal(t, []string{"a2", "a3"}, idsOf(b.take(noon, 9, never)))
}

func TestRowThatEndedDuringTheQueryIsNotDue(t *testing.T) {
	t.Parallel()
	b := newBacklog()
	b.merge(answer{due: []*event.Event{row("a", 1)}})
	batch := b.take(noon, 9, never)
	b.queryStarts()
	b.settle([]fate{{event: done(batch[0]), ended: true}})
	b.merge(answer{due: []*event.Event{row("a", 1), row("a", 2)}})
	assert.Equal(t, []string{"a2"}, idsOf(b.take(noon, 9, never)))
}

// A person may replay an event as soon as its outcome stands in the org, before
// the batch that wrote it has come back.
func TestRowThatIsReplayedBeforeItsBatchCameBackIsNotForgotten(t *testing.T) {
	t.Parallel()
	replayed := func() answer {
		e := row("a", 1)
		e.Revision = 7
		return answer{due: []*event.Event{e}}
	}
	t.Run("in work", func(t *testing.T) {
		t.Parallel()
		b := newBacklog()
		b.merge(answer{due: []*event.Event{row("a", 1)}})
		b.take(noon, 9, never)
		assert.False(t, b.merge(answer{due: []*event.Event{row("a", 1)}}), "it is what is in work")
		assert.True(t, b.merge(replayed()))
		assert.Zero(t, b.ready(noon), "a row is in one batch at a time")
	})
	t.Run("ended during the query", func(t *testing.T) {
		t.Parallel()
		b := newBacklog()
		b.merge(answer{due: []*event.Event{row("a", 1)}})
		batch := b.take(noon, 9, never)
		b.queryStarts()
		b.settle([]fate{{event: done(batch[0]), ended: true}})
		assert.False(t, b.merge(replayed()))
		assert.Equal(t, []string{"a1"}, idsOf(b.take(noon, 9, never)))
	})
}

// What the answer of the running query doesn't know yet goes on holding back.
func TestRetryDuringTheQueryHoldsBack(t *testing.T) {
	t.Parallel()
	for code, want := range map[string][]string{event.CodeLock: nil, event.CodeParent: {"a2"}} {
		b := newBacklog()
		b.merge(answer{due: []*event.Event{row("a", 1), row("a", 2)}})
		batch := b.take(noon, 1, never)
		b.queryStarts()
		b.settle([]fate{{event: retryable(batch[0], code), ended: true}})
		b.merge(answer{due: []*event.Event{row("a", 1), row("a", 2)}})
		assert.Equal(t, want, idsOf(b.take(noon, 9, never)), code)
		b.queryStarts()
		b.merge(answer{due: []*event.Event{row("a", 2)}})
		assert.Equal(t, 1, b.ready(noon)+len(b.flight), "the next answer knows that it has ended")
	}
}

func TestRetryHoldsBackUntilTheNextQuery(t *testing.T) {
	t.Parallel()
	for code, want := range map[string][]string{event.CodeLock: nil, event.CodeParent: {"a2"}} {
		b := newBacklog()
		b.merge(answer{due: []*event.Event{row("a", 1), row("a", 2)}})
		batch := b.take(noon, 1, never)
		b.settle([]fate{{event: retryable(batch[0], code), ended: true}})
		assert.Equal(t, want, idsOf(b.take(noon, 9, never)), code)
	}
}

func TestHeldRow(t *testing.T) {
	t.Parallel()
	b := newBacklog()
	b.merge(answer{due: []*event.Event{row("a", 1), row("a", 2), row("i", 3)}})
	batch := b.take(noon, 1, never)
	b.settle([]fate{{event: batch[0], until: noon.Add(time.Minute)}})
	assert.Equal(t, noon.Add(time.Minute), b.nextHold())
	assert.Equal(t, []string{"i3"}, idsOf(b.take(noon, 9, never)), "the rest of the entity waits with it")
	assert.Equal(t, []string{"a1", "a2"}, idsOf(b.take(noon.Add(time.Minute), 9, never)))
}

func TestFurtherPageKeepsWhatIsKnown(t *testing.T) {
	t.Parallel()
	b := newBacklog()
	blocked := []*event.Event{row("a", 2)}
	blocker := []*event.Event{retryable(row("a", 1), event.CodeLock)}
	b.merge(answer{due: blocked, waiting: blocker})
	b.merge(answer{further: true, due: []*event.Event{row("a", 5), row("i", 6)}, waiting: blocker})
	assert.Equal(t, []string{"i6"}, idsOf(b.take(noon, 9, never)))
	b.merge(answer{further: true})
	assert.Equal(t, []string{"a2", "a5"}, idsOf(b.take(noon, 9, never)), "the first page is still known")
}

// What was found behind a page holds back until it has been worked on itself,
// whatever further pages show.
func TestFurtherPageKeepsWhatLiesBehind(t *testing.T) {
	t.Parallel()
	b := newBacklog()
	earlier := row("a", 1)
	b.merge(answer{cut: true, due: []*event.Event{row("a", 2), row("i", 1)}, behind: []*event.Event{earlier}})
	b.merge(answer{further: true, cut: true, due: []*event.Event{row("i", 2)}})
	assert.Equal(t, []string{"i1", "i2"}, idsOf(b.take(noon, 9, never)), "the earlier event is on neither page")
	b.merge(answer{further: true, due: []*event.Event{earlier}})
	assert.Equal(t, []string{"a1"}, idsOf(b.take(noon, 1, never)))
	b.settle([]fate{{event: &event.Event{RowID: "a1", Source: "s", ObjectID: "a", Status: event.Completed}, ended: true}})
	assert.Equal(t, []string{"a2"}, idsOf(b.take(noon, 9, never)))
}

func TestSuspectsRunAlone(t *testing.T) {
	t.Parallel()
	suspect := func(id string) bool { return id == "i2" }
	b := newBacklog()
	b.merge(answer{due: []*event.Event{row("a", 1), row("i", 2), row("i", 3)}})
	assert.Equal(t, []string{"i2"}, idsOf(b.take(noon, 9, suspect)))
	assert.Equal(t, []string{"a1"}, idsOf(b.take(noon, 9, suspect)))
	b.merge(answer{due: []*event.Event{row("i", 3)}})
	assert.Empty(t, b.take(noon, 9, suspect), "what comes after it waits for it")
}

func TestDepthFollowsWhatFits(t *testing.T) {
	t.Parallel()
	b := newBacklog()
	b.fitted(2, true)
	var due []*event.Event
	for n := range int64(6) {
		due = append(due, row("a", n))
	}
	b.merge(answer{due: due})
	batch := b.take(noon, 9, never)
	assert.Equal(t, []string{"a0", "a1"}, idsOf(batch))
	b.settle([]fate{{event: done(batch[0]), ended: true}, {event: done(batch[1]), ended: true}})
	b.fitted(2, false)
	assert.Len(t, b.take(noon, 9, never), 3)
	b.fitted(0, true)
	assert.Equal(t, 1, b.depth)
}

func TestQueuesThatAreNotOursAreForgotten(t *testing.T) {
	t.Parallel()
	b := newBacklog()
	a, c := row("a", 1), row("c", 2)
	b.merge(answer{due: []*event.Event{a, c}})
	b.keep([]string{c.Queue})
	assert.Equal(t, []string{"c2"}, idsOf(b.take(noon, 9, never)))
}

func done(e *event.Event) *event.Event {
	d := *e
	d.Status, d.Queue = event.Completed, ""
	return &d
}

func BenchmarkBacklog(b *testing.B) {
	rows := many(pageLimit)
	for b.Loop() {
		l := newBacklog()
		l.merge(answer{due: rows})
		for l.ready(noon) > 0 {
			batch := l.take(noon, 200, never)
			fates := make([]fate, len(batch))
			for i, e := range batch {
				fates[i] = fate{event: done(e), ended: true}
			}
			l.settle(fates)
		}
	}
}
