package store_test

import (
	neturl "net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/store"
	"sfbridge/bridge/store/storetest"
)

func TestTLS(t *testing.T) {
	t.Parallel()
	server := storetest.StartTLS(t)
	good := server.URL("", "")
	for name, tt := range map[string]struct {
		url     string
		works   bool
		refused string // what the refusal says
	}{
		"its authority is trusted":        {good, true, ""},
		"another name of the certificate": {good + "&server_name=redis.example", true, ""},
		"a name that is not on it":        {good + "&server_name=other.example", false, "other.example"},
		"an authority that nobody trusts": {"rediss://" + server.Address, false, "unknown authority"},
		"plain text where TLS is spoken":  {"redis://" + server.Address, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := store.NewBoard(storetest.Open(t, tt.url)).Write(t.Context(), "usage", []byte("x"), time.Minute)
			if tt.works {
				assert.NoError(t, err)
				return
			}
			assert.ErrorContains(t, err, tt.refused)
		})
	}
}

// What processes share goes through for a user with the least rights.
func TestAUserWithTheLeastRights(t *testing.T) {
	t.Parallel()
	const password = "s3cret/%@:"
	t.Run("one server", func(t *testing.T) {
		t.Parallel()
		server := storetest.StartTLS(t)
		server.Grant(t, "bridge", password)
		r := storetest.Open(t, server.URL("bridge", password))
		checkShared(t, r)
		assert.ErrorContains(t, r.Client.FlushAll(t.Context()).Err(), "NOPERM")
		assert.ErrorContains(t, r.Client.Set(t.Context(), "foreign", "x", 0).Err(), "NOPERM")
		_, err := store.NewBoard(storetest.Open(t, server.URL("bridge", "wrong-canary"))).Read(t.Context(), "usage")
		require.ErrorContains(t, err, "WRONGPASS")
		assert.NotContains(t, err.Error(), "canary")
	})
	t.Run("a cluster", func(t *testing.T) {
		t.Parallel()
		url, nodes := storetest.StartCluster(t)
		for _, n := range nodes {
			n.Grant(t, "bridge", password, storetest.LeastInCluster()...)
		}
		checkShared(t, storetest.Open(t, strings.Replace(url, "://", "://"+neturl.UserPassword("bridge", password).String()+"@", 1)))
	})
}

// checkShared uses everything that processes share, the spool left out.
func checkShared(t *testing.T, r *store.Redis) {
	t.Helper()
	checkCache(t, r)
	leases := store.NewRedisLeases(r, "poll")
	held, err := leases.Acquire(t.Context(), "one", []string{"B00", "B01"}, time.Minute)
	require.NoError(t, err)
	assert.Equal(t, []string{"B00", "B01"}, held)
	require.NoError(t, leases.Release(t.Context(), "one", held))
	members, err := leases.Join(t.Context(), "one", time.Minute)
	require.NoError(t, err)
	assert.Equal(t, 1, members)
	require.NoError(t, leases.Leave(t.Context(), "one"))
	board := store.NewBoard(r)
	require.NoError(t, board.Write(t.Context(), "usage", []byte("x"), time.Minute))
	note, err := board.Read(t.Context(), "usage")
	require.NoError(t, err)
	assert.Equal(t, "x", string(note))
	checkBell(t, r)
}
