package poll

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/event"
	"sfbridge/salesforce"
)

// shareLooks makes the mates of a team tell each other of their looks.
func (w *team) shareLooks() {
	w.looked = func(by *mate, found map[string]int) {
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, m := range w.mates {
			if m == by {
				continue
			}
			for queue, n := range found {
				if m.poller.Holds(queue) {
					m.poller.Wake(n)
				}
			}
			m.poller.Seen()
		}
	}
}

// However many processes share the queues, an idle deployment is looked at as
// often as by one.
func TestOneLooksForAll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newTeam(t)
		w.shareLooks()
		for _, name := range []string{"one", "two", "three", "four"} {
			w.join(name)
		}
		pass(5 * time.Minute)
		before := len(w.org.see().asked)
		pass(time.Hour)
		assert.InDelta(t, 60, len(w.org.see().asked)-before, 10)
	})
}

// Rows that came another way are found by whoever looks, in every queue.
func TestALookFindsRowsInTheQueuesOfOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newTeam(t)
		w.shareLooks()
		for _, name := range []string{"one", "two", "three"} {
			w.join(name)
		}
		for range 5 {
			pass(5 * time.Minute)
			before := w.org.see().count(event.Completed)
			w.org.add(many(before + 100)...)
			pass(75 * time.Second) // of which the pause between looks is most
			require.Equal(t, before+100, w.org.see().count(event.Completed))
		}
		assert.Empty(t, w.problems)
	})
}

// Rows that stay due in one queue, however many, hide none of another.
func TestALookCountsEveryQueue(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	stuck := many(251)
	for i, e := range stuck {
		e.Queue = "B09"
		if i == 250 {
			e.Queue = "B15"
		}
	}
	b.stage("{}", nil, stuck...)
	a, err := b.ask(t.Context(), question{queues: []string{"B00"}, now: noon.Add(time.Hour), elsewhere: minus(allQueues, []string{"B00"})})
	require.NoError(t, err)
	assert.Equal(t, map[string]int{"B09": 250, "B15": 1}, a.others)
}

// blind is an org that refuses the last query of a call.
type blind struct{ Org }

func (b blind) Composite(ctx context.Context, subs []salesforce.Subrequest, allOrNone bool) ([]salesforce.Subresponse, error) {
	replies, err := b.Org.Composite(ctx, subs, allOrNone)
	if len(replies) > 0 {
		replies[len(replies)-1] = salesforce.Subresponse{Status: 400}
	}
	return replies, err
}

// What a process asks for itself stands when only its look for others fails.
func TestALookThatFailsIsNone(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	ours := row("a", 1)
	b.stage("{}", nil, ours)
	b.org = blind{b.org}
	a, err := b.ask(t.Context(), question{queues: []string{ours.Queue}, now: noon.Add(time.Hour), elsewhere: minus(allQueues, []string{ours.Queue})})
	require.NoError(t, err)
	assert.Equal(t, []string{ours.ID}, eventIDs(a.due))
	assert.Nil(t, a.others, "nobody is told of it")
}

// A process that is told all the time that others have looked looks itself too,
// if rarely.
func TestFalseWordsOfLooks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newTeam(t)
		w.looked = func(*mate, map[string]int) {}
		m := w.join("one")
		pass(5 * time.Minute)
		before := len(w.org.see().asked)
		w.org.add(many(1)...)
		for range 32 * 60 {
			m.poller.Seen()
			pass(time.Second)
		}
		assert.Equal(t, 1, w.org.see().count(event.Completed))
		assert.Less(t, len(w.org.see().asked)-before, 8, "rarely: it would be 32 without a word")
	})
}

// A look asks for both in one call.
func TestALookIsOneCall(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	ours, theirs, later := row("a", 1), row("b", 2), retryable(row("c", 3), event.CodeLock)
	later.NextAttempt = noon.Add(time.Minute)
	require.NotEqual(t, ours.Queue, theirs.Queue)
	b.stage("{}", nil, ours, theirs, later)
	before := b.sim.Stats().APICalls.Total
	q := question{queues: []string{ours.Queue}, now: noon, count: true, elsewhere: minus(allQueues, []string{ours.Queue})}
	a, err := b.ask(t.Context(), q)
	require.NoError(t, err)
	assert.Equal(t, []string{ours.ID}, eventIDs(a.due))
	assert.Equal(t, 1, a.total)
	assert.Equal(t, map[string]int{theirs.Queue: 1}, a.others)
	assert.Equal(t, 1, b.sim.Stats().APICalls.Total-before)
	q.elsewhere = nil
	a, err = b.ask(t.Context(), q)
	require.NoError(t, err)
	assert.Nil(t, a.others)
}
