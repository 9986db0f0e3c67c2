package console_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/console"
)

// spool is a console.Spool in memory.
type spool struct {
	apart []string
	fail  error
}

func (s *spool) List(_ context.Context, limit int) (any, error) {
	list := []map[string]any{}
	for _, id := range s.apart[:min(limit, len(s.apart))] {
		list = append(list, map[string]any{"id": id, "event_id": "shop:1", "bytes": 3, "reason": "no such field"})
	}
	return list, s.fail
}

func (s *spool) Retry(_ context.Context, ids []string) (int, error) {
	if s.fail != nil {
		return 0, s.fail
	}
	before := len(s.apart)
	s.apart = slices.DeleteFunc(s.apart, func(id string) bool { return slices.Contains(ids, id) })
	return before - len(s.apart), nil
}

func (s *spool) RetryAll(context.Context) (int, error) {
	n := len(s.apart)
	s.apart = nil
	return n, s.fail
}

func TestSpoolRoutes(t *testing.T) {
	t.Parallel()
	const list, retry = "/admin/v1/spool", "/admin/v1/spool/retry"
	b := newBench(t, nil)
	assert.JSONEq(t, `{"entries":[{"id":"B03/1","event_id":"shop:1","bytes":3,"reason":"no such field"}]}`, b.do("GET", list+"?limit=1", "").body)
	assert.JSONEq(t, `{"retried":1}`, b.do("POST", retry, `{"ids":["B03/1","gone"]}`).body)
	assert.JSONEq(t, `{"retried":1}`, b.do("POST", retry, `{"all":true}`).body)
	for _, bad := range []string{
		"", "{}", `{"ids":[]}`, `{"all":false}`, `{"ids":["a"],"all":true}`, `{"all":false,"ids":["a"]}`, `{"id":"a"}`, "[]", "x", `{"all":true} trailing`,
	} {
		r := b.do("POST", retry, bad)
		assert.Equal(t, http.StatusBadRequest, r.status, bad)
	}
	for _, bad := range []string{"limit=0", "limit=-1", "limit=1001", "limit=x", "limt=1"} {
		assert.Equal(t, http.StatusBadRequest, b.do("GET", list+"?"+bad, "").status, bad)
	}
	for _, tt := range []struct {
		name   string
		spool  console.Spool
		status int
	}{
		{"a process without a spool", nil, http.StatusNotFound},
		{"a wrong id", &spool{fail: &console.UsageError{Err: errors.New("no id")}}, http.StatusBadRequest},
		{"a spool that is away", &spool{fail: errors.New("away")}, http.StatusBadGateway},
	} {
		b := newBench(t, func(c *console.Config) { c.Spool = tt.spool })
		assert.Equal(t, tt.status, b.do("POST", retry, `{"ids":["B03/1"]}`).status, tt.name)
		assert.Equal(t, tt.status, b.do("GET", list, "").status, tt.name)
	}
}

func TestARetryOfTheSpoolLeavesALine(t *testing.T) {
	t.Parallel()
	by := func(r *http.Request) { r.Header.Set("X-Actor", "ada") }
	for _, tt := range []struct {
		name, body string
		spool      *spool
		want       map[string]any
	}{
		{"some", `{"ids":["B03/1","gone"]}`, &spool{apart: []string{"B03/1"}},
			map[string]any{"level": "INFO", "all": false, "ids": []any{"B03/1", "gone"}, "id_count": 2.0, "done": 1.0}},
		{"all", `{"all":true}`, &spool{apart: []string{"B03/1", "B04/2"}}, map[string]any{"level": "INFO", "all": true, "done": 2.0}},
		{"a wrong id", `{"ids":["x"]}`, &spool{fail: &console.UsageError{Err: errors.New("no id of the spool")}},
			map[string]any{"level": "WARN", "all": false, "ids": []any{"x"}, "id_count": 1.0, "done": 0.0, "error": "no id of the spool"}},
	} {
		b := newBench(t, func(c *console.Config) { c.Spool = tt.spool })
		b.do("POST", "/admin/v1/spool/retry", tt.body, by)
		var line map[string]any
		require.NoError(t, json.Unmarshal(b.log.Bytes(), &line), "one line: %s", b.log)
		delete(line, "time")
		for name, value := range map[string]any{"msg": "admin action", "action": "retry of the spool", "by": "ada", "from": "192.0.2.1:1234"} {
			tt.want[name] = value
		}
		assert.Equal(t, tt.want, line, tt.name)
	}
}
