package poll

import (
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

func TestCountByQueue(t *testing.T) {
	t.Parallel()
	row := func(q string) salesforce.Record { return salesforce.Record{event.FieldQueue: q} }
	counts, err := countByQueue(salesforce.Subresponse{Status: 200, Records: []salesforce.Record{row("B01"), row("B02"), row("B01")}})
	require.NoError(t, err)
	assert.Equal(t, map[string]int{"B01": 2, "B02": 1}, counts)
	_, err = countByQueue(salesforce.Subresponse{Status: 400})
	assert.Error(t, err)
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
