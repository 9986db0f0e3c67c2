package stage

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"sfbridge/bridge/event"
)

// board is a Shared in memory.
type board struct {
	mu     sync.Mutex
	values map[string][]byte
	looks  int
	fail   error
}

func newBoard() *board { return &board{values: map[string][]byte{}} }

func (b *board) Get(_ context.Context, places []string) ([][]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.looks++
	if b.fail != nil {
		return nil, b.fail
	}
	values := make([][]byte, len(places))
	for i, p := range places {
		values[i] = b.values[p]
	}
	return values, nil
}

func (b *board) Set(_ context.Context, values map[string][]byte, _ time.Duration) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fail != nil {
		return b.fail
	}
	for p, v := range values {
		b.values[p] = v
	}
	return nil
}

func (b *board) set(fail error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fail = fail
}

// process is a stager of its own on an org that others use too.
func process(org *fakeOrg, b *board) *Stager {
	return New(Config{Salesforce: org, Shared: b, SharedWait: time.Minute})
}

func TestWhatOneProcessConfirmedAnotherAnswersWithoutACall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		org, b := newFakeOrg(), newBoard()
		one, two := process(org, b), process(org, b)
		for _, a := range one.Stage(t.Context(), requests(newEvent("a", "aa"), newEvent("b", "aa"))) {
			require.Equal(t, Accepted, a.Status)
		}
		require.NoError(t, one.Close(t.Context()))
		calls, queries, looks := len(org.calls), org.queries, b.looks
		answers := two.Stage(t.Context(), requests(newEvent("a", "aa"), newEvent("b", "aa")))
		assert.Equal(t, Answer{EventID: "stripe:a", Status: Duplicate}, answers[0])
		assert.Equal(t, Answer{EventID: "stripe:b", Status: Duplicate}, answers[1])
		assert.Len(t, org.calls, calls)
		assert.Equal(t, queries, org.queries)
		assert.Equal(t, looks+1, b.looks, "one look a batch")
		other := two.Stage(t.Context(), requests(newEvent("a", "bb"), newEvent("c", "aa")))
		assert.Equal(t, Conflict, other[0].Status, "the hash is the judge, here too")
		assert.Equal(t, Accepted, other[1].Status)
		require.NoError(t, two.Close(t.Context()))
		assert.Equal(t, "1", fmt.Sprint(org.rows["stripe:b"][event.FieldDuplicateCount]), "a duplicate is counted on its row")
	})
}

func TestTheOwnRowOfAnEarlierTryIsNoDuplicate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		org, b := newFakeOrg(), newBoard()
		one, two := process(org, b), process(org, b)
		e := newEvent("a", "aa")
		e.ReceivedAt = time.Unix(1767225600, 0)
		one.Stage(t.Context(), requests(e))
		require.NoError(t, one.Close(t.Context()))
		again := two.Stage(t.Context(), []Request{{Event: e, Again: true}})[0]
		assert.Equal(t, Accepted, again.Status)
		require.NoError(t, two.Close(t.Context()))
		assert.Nil(t, org.rows["stripe:a"][event.FieldDuplicateCount])
	})
}

func TestWithoutTheStoreTheOrgIsAsked(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		org, b := newFakeOrg(), newBoard()
		b.set(errors.New("away"))
		s := process(org, b)
		for i := range 3 {
			assert.Equal(t, Accepted, s.Stage(t.Context(), requests(newEvent(fmt.Sprint(i), "aa")))[0].Status)
		}
		assert.Equal(t, 1, b.looks, "a store that is away is left alone for a while")
		b.set(nil)
		time.Sleep(sharedRest)
		assert.Equal(t, Accepted, s.Stage(t.Context(), requests(newEvent("later", "aa")))[0].Status)
		require.NoError(t, s.Close(t.Context()))
		assert.Equal(t, 2, b.looks)
		assert.Len(t, b.values, 1)
	})
}

func TestAPlaceThatAnotherEventHoldsSaysNothing(t *testing.T) {
	t.Parallel()
	_, row := aRow(1)
	s, ok := slotOf(row)
	require.True(t, ok)
	value := pack(digestOf("one"), s)
	got, ok := unpack(value, digestOf("one"))
	assert.True(t, ok)
	assert.Equal(t, row, got)
	_, ok = unpack(value, digestOf("two"))
	assert.False(t, ok)
	_, ok = unpack(value[:packedSize-1], digestOf("one"))
	assert.False(t, ok)
	_, ok = unpack(nil, digestOf("one"))
	assert.False(t, ok)
}

// Whatever several processes are given in whatever order, and whatever the store
// forgets or refuses: an event has one row and is accepted once.
func TestSharedKeysNeverDecideWhatIsNew(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		synctest.Test(t, func(t *testing.T) {
			org, b := newFakeOrg(), newBoard()
			processes := []*Stager{process(org, b), process(org, b), process(org, b)}
			accepted, sent := map[string]int{}, map[string]bool{}
			for range rapid.IntRange(1, 30).Draw(rt, "steps") {
				switch rapid.IntRange(0, 9).Draw(rt, "what") {
				case 0:
					b.set(errors.New("away"))
				case 1:
					b.set(nil)
					time.Sleep(sharedRest)
				case 2:
					b.mu.Lock()
					clear(b.values)
					b.mu.Unlock()
				default:
					id := fmt.Sprint(rapid.IntRange(0, 5).Draw(rt, "event"))
					sent[id] = true
					s := processes[rapid.IntRange(0, 2).Draw(rt, "process")]
					a := s.Stage(t.Context(), requests(newEvent(id, "aa")))[0]
					require.NoError(t, a.Err)
					if a.Status == Accepted {
						accepted[id]++
					}
				}
			}
			for _, s := range processes {
				require.NoError(t, s.Close(t.Context()))
			}
			assert.Equal(t, len(sent), org.count())
			for id := range sent {
				assert.Equal(t, 1, accepted[id], id)
			}
		})
	})
}
