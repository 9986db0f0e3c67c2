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

// TestAConflictWithARowThatRetentionDeleted is kept for review all the same: its
// key is still among the confirmed ones.
func TestAConflictWithARowThatRetentionDeleted(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"INVALID_CROSS_REFERENCE_KEY", "ENTITY_IS_DELETED"} {
		synctest.Test(t, func(t *testing.T) {
			org, s := setup(t, nil)
			require.Equal(t, Accepted, s.Stage(t.Context(), requests(newEvent("e", "aa")))[0].Status)
			delete(org.rows, "stripe:e")
			org.refuse = func(r salesforce.Row) *salesforce.Fault {
				if r.Fields[event.FieldConflictOf] != nil {
					return &salesforce.Fault{Code: code, Class: salesforce.ClassData}
				}
				return nil
			}
			a := s.Stage(t.Context(), requests(newEvent("e", "bb")))[0]
			require.NoError(t, a.Err)
			assert.Equal(t, Conflict, a.Status)
			row := org.rows[a.EventID]
			assert.Equal(t, "Review", row[event.FieldStatus])
			assert.Equal(t, event.CodeConflict, row[event.FieldErrorCode])
			assert.Contains(t, row[event.FieldHistory], "has been deleted")
			require.NoError(t, s.Close(t.Context()))
		})
	}
}

// TestARefusedReferenceOfAnotherRow is no matter of conflicts.
func TestARefusedReferenceOfAnotherRow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		org, s := setup(t, nil)
		org.refuse = func(salesforce.Row) *salesforce.Fault {
			return &salesforce.Fault{Code: "INVALID_CROSS_REFERENCE_KEY", Class: salesforce.ClassData}
		}
		var u *Unavailable
		require.ErrorAs(t, s.Stage(t.Context(), requests(newEvent("e", "aa")))[0].Err, &u)
		assert.True(t, u.Alarm)
		assert.Len(t, org.calls, 1)
		require.NoError(t, s.Close(t.Context()))
	})
}
