package stage

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/event"
	"sfbridge/salesforce"
)

func TestConflictRowsOfAnotherProcessTakeRoomToo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		org, one := setup(t, nil)
		other := New(Config{Salesforce: org})
		one.Stage(t.Context(), requests(newEvent("e", "aa")))
		for i := range 9 {
			s := []*Stager{one, other}[i%2]
			a := s.Stage(t.Context(), requests(newEvent("e", fmt.Sprintf("b%d", i))))[0]
			require.NoError(t, a.Err)
			assert.Equal(t, Conflict, a.Status)
		}
		assert.Equal(t, 6, org.count(), "the original and five conflicts")
		require.NoError(t, one.Close(t.Context()))
		require.NoError(t, other.Close(t.Context()))
	})
}

func TestOnlyAFullRoomIsKnownWithoutAQuery(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		org, s := setup(t, nil)
		s.Stage(t.Context(), requests(newEvent("e", "aa")))
		for i := range 9 {
			s.Stage(t.Context(), requests(newEvent("e", fmt.Sprintf("b%d", i))))
		}
		assert.Equal(t, 5, org.queries, "one for each row")
		require.NoError(t, s.Close(t.Context()))
	})
}

func TestAConflictThatCouldNotBeStagedTakesNoRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		org, s := setup(t, nil)
		s.Stage(t.Context(), requests(newEvent("e", "aa")))
		org.before = func(int, []salesforce.Row) error {
			return &salesforce.Error{Op: "x", Fault: salesforce.Fault{Class: salesforce.ClassLimit}}
		}
		for i := range 9 {
			a := s.Stage(t.Context(), requests(newEvent("e", fmt.Sprintf("b%d", i))))[0]
			assert.Error(t, a.Err, "nothing is kept, so nothing is acknowledged")
		}
		org.before = nil
		a := s.Stage(t.Context(), requests(newEvent("e", "c0")))[0]
		require.NoError(t, a.Err)
		assert.Equal(t, Conflict, a.Status)
		assert.Contains(t, org.rows, a.EventID)
		require.NoError(t, s.Close(t.Context()))
	})
}

func TestConflictsOfManyEventsAreLookedForAtTheSameTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		org, s := setup(t, nil)
		const n = 50
		first, second := make([]*event.Event, n), make([]*event.Event, n)
		for i := range n {
			key := fmt.Sprintf("e%d", i)
			first[i], second[i] = newEvent(key, "aa"), newEvent(key, "bb")
		}
		stageAll(s, first)
		org.latency = time.Second
		began := time.Now()
		assert.Equal(t, map[Status]int{Conflict: n}, tally(stageAll(s, second)))
		assert.Less(t, time.Since(began), 5*time.Second, "by the clock of the test's bubble")
		require.NoError(t, s.Close(t.Context()))
	})
}
