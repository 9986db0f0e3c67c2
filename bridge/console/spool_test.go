package console_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

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
	assert.Contains(t, b.log.String(), `"entries":1`)
	for _, bad := range []string{"", "{}", `{"ids":[]}`, `{"all":false}`, `{"ids":["a"],"all":true}`, `{"id":"a"}`, "[]", "x"} {
		r := b.do("POST", retry, bad)
		assert.Equal(t, http.StatusBadRequest, r.status, bad)
	}
	for _, bad := range []string{"0", "-1", "1001", "x"} {
		assert.Equal(t, http.StatusBadRequest, b.do("GET", list+"?limit="+bad, "").status, bad)
	}
	for _, tt := range []struct {
		name   string
		spool  console.Spool
		status int
	}{
		{"a process without a spool", nil, http.StatusNotFound},
		{"a wrong id", &spool{fail: fmt.Errorf("%w: x", console.ErrUsage)}, http.StatusBadRequest},
		{"a spool that is away", &spool{fail: errors.New("away")}, http.StatusBadGateway},
	} {
		b := newBench(t, func(c *console.Config) { c.Spool = tt.spool })
		assert.Equal(t, tt.status, b.do("POST", retry, `{"ids":["B03/1"]}`).status, tt.name)
		assert.Equal(t, tt.status, b.do("GET", list, "").status, tt.name)
	}
}
