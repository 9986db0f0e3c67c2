package stage

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/event"
)

func received(key, hash string, at time.Time) *event.Event {
	e := newEvent(key, hash)
	e.ReceivedAt = at
	return e
}

// A delivery that is staged again meets its own row, whoever wrote it and
// however it is known: that is no second delivery. Another delivery of the event
// is one.
func TestADeliveryStagedAgainIsNotCounted(t *testing.T) {
	t.Parallel()
	for name, fresh := range map[string]bool{"known to this process": false, "known to the org alone": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				org, s := setup(t, nil)
				at := time.Now()
				_, row := aRow(1)
				e := received("e", "aa", at)
				e.Hash = row.hash
				require.NoError(t, s.Stage(t.Context(), requests(e))[0].Err)
				org.mu.Lock()
				org.rows["stripe:e"][event.FieldReceivedAt] = at.UTC().Format("2006-01-02T15:04:05.000+0000")
				org.mu.Unlock()
				if fresh {
					require.NoError(t, s.Close(t.Context()))
					s = New(Config{Salesforce: org})
				}
				other := *e
				other.ReceivedAt = at.Add(time.Minute)
				for _, r := range []Request{{Event: e, Again: true}, {Event: e, Again: true}, {Event: &other, Again: true}} {
					require.NoError(t, s.StageTogether(t.Context(), []Request{r})[0].Err)
				}
				require.NoError(t, s.Close(t.Context()))
				assert.Equal(t, 1, org.count())
				assert.Equal(t, "1", fmt.Sprint(org.rows["stripe:e"][event.FieldDuplicateCount]), "the other delivery")
			})
		})
	}
}

func TestStageTogetherIsOneCallInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		org, s := setup(t, func(c *Config) { c.Batch = 10; c.Linger = time.Hour })
		waits := make(chan []Answer, 1)
		go func() { waits <- s.Stage(t.Context(), requests(newEvent("lingers", "aa"))) }()
		synctest.Wait()
		var events []*event.Event
		for n := range 25 {
			events = append(events, newEvent(fmt.Sprint("e", n), "aa"))
		}
		events = append(events, newEvent("e3", "aa"), newEvent("lingers", "aa"))
		answers := make(chan []Answer, 1)
		go func() { answers <- s.StageTogether(t.Context(), requests(events...)) }()
		first := <-waits
		got := <-answers
		assert.Equal(t, Accepted, first[0].Status)
		assert.Equal(t, map[Status]int{Accepted: 25, Duplicate: 2}, tally(got))
		assert.ElementsMatch(t, []int{25, 1}, org.calls)
		require.NoError(t, s.Close(t.Context()))
	})
}

func TestRecallKnowsOnlyTheSameContent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, s := setup(t, nil)
		_, found := s.Recall(requests(newEvent("e", "aa"))[0])
		assert.False(t, found)
		require.NoError(t, s.Stage(t.Context(), requests(newEvent("e", "aa")))[0].Err)
		answer, found := s.Recall(requests(newEvent("e", "aa"))[0])
		assert.True(t, found)
		assert.Equal(t, Answer{EventID: "stripe:e", Status: Duplicate}, answer)
		_, found = s.Recall(requests(newEvent("e", "bb"))[0])
		assert.False(t, found, "a conflict is not for the cache to decide")
		assert.False(t, s.Down())
		require.NoError(t, s.Close(t.Context()))
	})
}
