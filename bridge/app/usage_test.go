package app

import (
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/store"
	"sfbridge/bridge/store/storetest"
	"sfbridge/salesforce"
)

// clerk is a process that shares its count, at a time of its own.
type clerk struct {
	*sharedUsage
	count salesforce.Usage
	clock time.Time
}

func newClerk(t *testing.T, server *storetest.Server, count salesforce.Usage, clock time.Time) *clerk {
	t.Helper()
	c := &clerk{count: count, clock: clock}
	c.sharedUsage = &sharedUsage{
		own: func() salesforce.Usage { return c.count }, now: func() time.Time { return c.clock },
		log: slog.New(slog.DiscardHandler), board: store.NewBoard(storetest.Open(t, server.URL())),
	}
	return c
}

func exchange(t *testing.T, clerks ...*clerk) {
	t.Helper()
	for _, c := range clerks {
		require.NoError(t, c.exchange(t.Context()))
	}
}

var midnight = time.Unix(1767225600, 0).UTC()

func TestTheLatestCountOfCallsIsEverybodys(t *testing.T) {
	t.Parallel()
	server := storetest.StartRedis(t)
	late := salesforce.Usage{Used: 4500, Max: 5000, At: midnight}
	busy := newClerk(t, server, late, midnight)
	quiet := newClerk(t, server, salesforce.Usage{Used: 10, Max: 5000, At: midnight.Add(-time.Hour)}, midnight)
	fresh := newClerk(t, server, salesforce.Usage{}, midnight)
	exchange(t, fresh, quiet, busy, quiet, fresh)
	assert.Equal(t, late, busy.Usage())
	assert.Equal(t, late, quiet.Usage())
	assert.Equal(t, late, fresh.Usage())
	server.Kill(t)
	assert.Error(t, quiet.exchange(t.Context()))
	assert.Equal(t, late, quiet.Usage(), "the last word stands")
}

// A count from a clock that is ahead would be the latest until that time comes.
func TestACountFromTheFutureIsNotBelieved(t *testing.T) {
	t.Parallel()
	server := storetest.StartRedis(t)
	ahead := newClerk(t, server, salesforce.Usage{Used: 4900, Max: 5000, At: midnight.Add(24 * time.Hour)}, midnight.Add(24*time.Hour))
	right := newClerk(t, server, salesforce.Usage{Used: 1, Max: 5000, At: midnight}, midnight)
	third := newClerk(t, server, salesforce.Usage{}, midnight)
	exchange(t, ahead, right, third)
	assert.Equal(t, right.count, right.Usage())
	assert.Equal(t, right.count, third.Usage(), "the right one has taken its place")
	right.count.At, right.clock = midnight.Add(usageAhead), midnight.Add(usageAhead)
	exchange(t, right, third)
	assert.Equal(t, right.count, third.Usage(), "clocks may differ a little")
}

// Nobody goes for ever by a count that nobody renews.
func TestACountOfOthersEnds(t *testing.T) {
	t.Parallel()
	server := storetest.StartRedis(t)
	busy := newClerk(t, server, salesforce.Usage{Used: 4900, Max: 5000, At: midnight}, midnight)
	quiet := newClerk(t, server, salesforce.Usage{Used: 10, Max: 5000, At: midnight.Add(-time.Hour)}, midnight)
	exchange(t, busy, quiet)
	quiet.clock = midnight.Add(usageFor - time.Second)
	exchange(t, quiet) // the note is still there
	assert.Equal(t, busy.count, quiet.Usage())
	quiet.clock = midnight.Add(usageFor)
	assert.Equal(t, quiet.count, quiet.Usage())
	busy.count = salesforce.Usage{Used: 4950, Max: 5000, At: quiet.clock}
	exchange(t, busy, quiet)
	assert.Equal(t, busy.count, quiet.Usage(), "a new one counts again")
}
