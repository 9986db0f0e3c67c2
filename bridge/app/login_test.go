package app

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/store"
	"sfbridge/bridge/store/storetest"
	"sfbridge/config"
	"sfbridge/salesforce/simorg"
	"sfbridge/salesforce/simorg/fault"
)

// Processes of one Redis make one token request, at the start and when all of
// them meet the end of the session.
func TestManyProcessesLogInOnce(t *testing.T) {
	t.Parallel()
	server := storetest.StartRedis(t)
	org, err := simorg.New(simorg.Config{Samples: true})
	require.NoError(t, err)
	require.NoError(t, org.Start())
	t.Cleanup(func() { _ = org.Close() })
	cfg := &config.Config{Salesforce: config.Salesforce{
		LoginURL: org.URL(), APIVersion: "65.0", AllowHTTP: true,
		Auth: config.Auth{Flow: config.FlowClientCredentials, ClientID: "sim", ClientSecret: config.NewSecret("sim")},
	}}
	var logins []*Login
	for range 4 {
		b := &Bridge{cfg: cfg, redis: storetest.Open(t, server.URL())}
		login, err := connect(cfg, config.Env{}, b.sharedLogin(), nil)
		require.NoError(t, err)
		logins = append(logins, login)
	}
	query := func() {
		var work sync.WaitGroup
		for _, l := range logins {
			work.Go(func() {
				_, err := l.Client.Query(t.Context(), "SELECT Id FROM Inbound_Event__c")
				assert.NoError(t, err)
			})
		}
		work.Wait()
	}
	query()
	assert.Equal(t, 1, org.Stats().Logins["token"], "at the start")
	org.AddFaults(fault.Fault{Operation: fault.Query, Kind: fault.ExpireSession, Times: 1})
	query()
	assert.Equal(t, 2, org.Stats().Logins["token"], "at the end of the session")
	keys, err := server.Client(t).Keys(t.Context(), "bridge:*session-*").Result()
	require.NoError(t, err)
	require.Len(t, keys, 1, "the lock is given back, the session stays")
	kept, err := server.Client(t).Get(t.Context(), keys[0]).Result()
	require.NoError(t, err)
	assert.NotContains(t, kept, org.URL())
	assert.NotContains(t, kept, org.AccessToken())
}

func TestTheLoginLockIsOneProcesss(t *testing.T) {
	t.Parallel()
	server := storetest.StartRedis(t)
	desk := func() *loginDesk {
		r := storetest.Open(t, server.URL())
		return &loginDesk{Board: store.NewBoard(r), leases: store.NewRedisLeases(r, "login"), owner: owner()}
	}
	one, two := desk(), desk()
	for _, tt := range []struct {
		who  *loginDesk
		want bool
	}{{one, true}, {two, false}, {one, true}} {
		held, err := tt.who.Lock(t.Context(), "name", time.Minute)
		require.NoError(t, err)
		assert.Equal(t, tt.want, held)
	}
	require.NoError(t, two.Unlock(t.Context(), "name"))
	held, err := two.Lock(t.Context(), "name", time.Minute)
	require.NoError(t, err)
	assert.False(t, held, "nobody gives another's lock back")
	require.NoError(t, one.Unlock(t.Context(), "name"))
	held, err = two.Lock(t.Context(), "name", time.Minute)
	require.NoError(t, err)
	assert.True(t, held)
}
