package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/event"
	"sfbridge/bridge/spool"
	"sfbridge/bridge/stage"
	"sfbridge/bridge/store/storetest"
)

// spoolConfig writes settings with a store section.
func spoolConfig(t *testing.T, store, admin string) (file, data string) {
	t.Helper()
	file, dir := providersConfig(t, "http://127.0.0.1:1", "source: pay\nprovider: stripe\nsecrets: [\"${A}\"]")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	settings := strings.Replace(string(text), "{dir: ./data}", store, 1) + "admin: " + admin + "\n"
	return write(t, dir, "bridge.yml", settings), filepath.Join(dir, "data")
}

// setApart sets events of an engine apart.
func setApart(t *testing.T, e spool.Engine, n int) {
	t.Helper()
	for i := range n {
		entry, err := spool.Encode(stage.Request{Event: &event.Event{ID: fmt.Sprint("pay:", i), Source: "pay", Payload: []byte("canary"), HomeQueue: "B03"}})
		require.NoError(t, err)
		require.NoError(t, e.Append(t.Context(), []spool.Entry{entry}))
	}
	list, err := e.Take(t.Context(), "B03", n)
	require.NoError(t, err)
	var refused []spool.Refused
	for _, w := range list {
		refused = append(refused, spool.Refused{Waiting: w, Reason: "no such field"})
	}
	require.NoError(t, e.SetApart(t.Context(), "B03", refused))
}

func TestSpool(t *testing.T) {
	t.Parallel()
	redis := storetest.StartRedis(t, storetest.Durable()...)
	engines := map[string]func(t *testing.T) (file string, engine spool.Engine, free func()){
		"file": func(t *testing.T) (string, spool.Engine, func()) {
			file, data := spoolConfig(t, "{dir: ./data}", "{listen: 127.0.0.1:0}")
			e, err := spool.OpenFile(spool.FileConfig{Dir: data})
			require.NoError(t, err)
			return file, e, func() { require.NoError(t, e.Close()) }
		},
		"redis": func(t *testing.T) (string, spool.Engine, func()) {
			file, _ := spoolConfig(t, `{dir: ./data, redis: "${R}"}`, "{listen: 127.0.0.1:0}")
			return file, spool.OpenRedis(spool.RedisConfig{Store: storetest.Open(t, redis.URL()), Consumer: "serve"}), func() {}
		},
	}
	for name, open := range engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file, engine, free := open(t)
			setApart(t, engine, 3)
			free()
			run := func(code int, args ...string) result {
				r := bridge(t, map[string]string{"R": redis.URL()}, "", append([]string{"spool"}, args...)...)
				require.Equal(t, code, r.code, r.err)
				return r
			}
			list := func() []spool.ApartEntry {
				var l struct{ Entries []spool.ApartEntry }
				require.NoError(t, json.Unmarshal([]byte(run(0, "list", "--config", file).out), &l))
				return l.Entries
			}
			entries := list()
			require.Len(t, entries, 3)
			assert.Equal(t, "pay:0", entries[0].EventID)
			assert.Equal(t, "no such field", entries[0].Reason)
			assert.JSONEq(t, `{"retried":1}`, run(0, "retry", "--config", file, "--id", entries[1].ID).out)
			assert.Len(t, list(), 2)
			assert.JSONEq(t, `{"retried":2}`, run(0, "retry", "--config", file, "--all").out)
			assert.Empty(t, list())
			assert.Contains(t, run(2, "retry", "--config", file, "--id", "x").err, "B03/")
			for _, wrong := range [][]string{{"list"}, {"retry", "--config", file}, {"retry", "--config", file, "--all", "--id", "B03/1"}, {"list", "--config", file, "--limit", "0"}} {
				run(2, wrong...)
			}
		})
	}
}

// A running bridge holds the file: it is asked where it can be.
func TestSpoolOfARunningBridge(t *testing.T) {
	t.Parallel()
	var asked []string
	status := http.StatusOK
	admin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.URL.String()+" "+r.Header.Get("Authorization")+" "+r.Header.Get("X-Actor"))
		w.WriteHeader(status)
		switch {
		case status != http.StatusOK:
			fmt.Fprint(w, `{"error":"not_found","message":"this process has no spool"}`)
		case r.Method == http.MethodPost:
			fmt.Fprint(w, `{"retried":4}`)
		default:
			fmt.Fprint(w, `{"entries":[{"id":"B03/1","bytes":3,"reason":"no such field"}]}`)
		}
	}))
	defer admin.Close()
	file, data := spoolConfig(t, "{dir: ./data}", fmt.Sprintf(`{listen: %q, token: "${T}"}`, admin.Listener.Addr()))
	held, err := spool.OpenFile(spool.FileConfig{Dir: data})
	require.NoError(t, err)
	defer held.Close()
	vars := map[string]string{"T": "canary-token"}
	r := bridge(t, vars, "", "spool", "list", "--config", file, "--limit", "7")
	assert.Equal(t, 0, r.code, r.err)
	assert.JSONEq(t, `{"entries":[{"id":"B03/1","bytes":3,"reason":"no such field"}]}`, r.out)
	r = bridge(t, vars, "", "spool", "retry", "--config", file, "--all")
	assert.JSONEq(t, `{"retried":4}`, r.out)
	assert.Equal(t, []string{"GET /admin/v1/spool?limit=7 Bearer canary-token ada", "POST /admin/v1/spool/retry Bearer canary-token ada"}, asked)
	status = http.StatusNotFound
	r = bridge(t, vars, "", "spool", "list", "--config", file)
	assert.Equal(t, 1, r.code)
	assert.Contains(t, r.err, "this process has no spool")
	status = http.StatusBadRequest
	assert.Equal(t, 2, bridge(t, vars, "", "spool", "retry", "--config", file, "--id", "x").code, "it was asked wrongly")
	admin.Close()
	r = bridge(t, vars, "", "spool", "list", "--config", file)
	assert.Equal(t, 1, r.code)
	assert.Contains(t, r.err, "admin.listen")
	assert.NotContains(t, r.err, "canary")

	alone, data := spoolConfig(t, "{dir: ./data}", "{listen: 127.0.0.1:0}")
	other, err := spool.OpenFile(spool.FileConfig{Dir: data})
	require.NoError(t, err)
	defer other.Close()
	r = bridge(t, nil, "", "spool", "list", "--config", alone)
	assert.Equal(t, 1, r.code)
	assert.Contains(t, r.err, "admin.token")
}

// Whatever stands between would get the token, and could answer in the bridge's
// place.
func TestTheAdminAPIIsAskedWithoutAProxy(t *testing.T) {
	t.Parallel()
	transport, ok := adminClient().Transport.(*http.Transport)
	require.True(t, ok, "the default transport takes HTTP_PROXY")
	assert.Nil(t, transport.Proxy)
}
