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

func TestTheLatestCountOfCallsIsEverybodys(t *testing.T) {
	t.Parallel()
	server := storetest.StartRedis(t)
	now := time.Unix(1767225600, 0).UTC()
	process := func(u salesforce.Usage) *sharedUsage {
		return &sharedUsage{own: func() salesforce.Usage { return u }, log: slog.New(slog.DiscardHandler),
			board: store.NewBoard(storetest.Open(t, server.URL()))}
	}
	late := salesforce.Usage{Used: 4500, Max: 5000, At: now}
	busy, quiet, fresh := process(late), process(salesforce.Usage{Used: 10, Max: 5000, At: now.Add(-time.Hour)}), process(salesforce.Usage{})
	for _, u := range []*sharedUsage{fresh, quiet, busy, quiet, fresh} {
		require.NoError(t, u.exchange(t.Context()))
	}
	assert.Equal(t, late, busy.Usage())
	assert.Equal(t, late, quiet.Usage())
	assert.Equal(t, late, fresh.Usage())
	server.Kill(t)
	assert.Error(t, quiet.exchange(t.Context()))
	assert.Equal(t, late, quiet.Usage(), "the last word stands")
}
