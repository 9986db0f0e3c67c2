package reconcile_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/event"
	"sfbridge/bridge/outbound"
	"sfbridge/bridge/reconcile"
	"sfbridge/bridge/store"
	"sfbridge/salesforce"
)

// meddled lets somebody else complete a row before the first update.
type meddled struct {
	*salesforce.Client
	t   *testing.T
	row string
}

func (m *meddled) UpdateAll(ctx context.Context, rows []salesforce.Row, allOrNone bool) ([]salesforce.SaveResult, error) {
	_, err := m.Update(ctx, salesforce.Row{Object: event.Object, ID: m.row, Fields: map[string]any{
		event.FieldStatus: "Completed", event.FieldExpectedRevision: 1, event.FieldRevision: 2}})
	require.NoError(m.t, err)
	return m.Client.UpdateAll(ctx, rows, allOrNone)
}

// empty is an org without rows.
type empty struct{ queries int }

func (e *empty) Query(context.Context, string) ([]salesforce.Record, error) {
	e.queries++
	return nil, nil
}

func (e *empty) QueryEach(context.Context, string, func(salesforce.Record) error) error { return nil }

func (e *empty) UpdateAll(context.Context, []salesforce.Row, bool) ([]salesforce.SaveResult, error) {
	return nil, errors.New("nothing to update")
}

func (e *empty) Describe(context.Context, string) (*salesforce.Object, error) {
	return &salesforce.Object{}, nil
}

// scheduled runs a Reconciler for a while on the test's own clock.
func scheduled(t *testing.T, b *bed, org *empty, d time.Duration) {
	t.Helper()
	r := b.reconciler(func(c *reconcile.Config) { c.Org, c.Now, c.Sleep = org, time.Now, nil })
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	require.NoError(t, r.Run(ctx))
}

func TestTheScheduleIsKept(t *testing.T) {
	t.Parallel()
	plain := newBed(t, whole)
	synctest.Test(t, func(t *testing.T) {
		b := *plain
		b.t = t
		org := &empty{}
		b.provider.page(list, `{"data":[]}`)
		scheduled(t, &b, org, 150*time.Minute)
		assert.Len(t, b.provider.asked, 3, "at once, after one hour and after two")
		assert.Equal(t, 5, org.queries, "the rows are looked at once")
		scheduled(t, &b, org, time.Minute)
		assert.Len(t, b.provider.asked, 3, "a restart is no reason to compare")
	})
}

func TestABrokenSweepIsTriedAgainAfterARest(t *testing.T) {
	t.Parallel()
	plain := newBed(t, whole)
	synctest.Test(t, func(t *testing.T) {
		b := *plain
		b.t = t
		b.provider.fault = func(n int, _ string) (outbound.Response, error, bool) {
			return outbound.Response{Status: 404}, nil, n == 1
		}
		b.provider.page(list, `{"data":[]}`)
		scheduled(t, &b, &empty{}, 12*time.Minute)
		assert.Len(t, b.provider.asked, 2)
	})
}

func TestOneProcessMakesASweep(t *testing.T) {
	t.Parallel()
	b := newBed(t, whole)
	b.provider.page(list, `{"data":[]}`)
	leases := store.NewMemoryLeases(nil)
	_, err := leases.Acquire(t.Context(), "another", []string{"reconcile:shop:charge.listed"}, time.Hour)
	require.NoError(t, err)
	r := b.reconciler(func(c *reconcile.Config) { c.Leases = leases })
	s := b.once(r)
	assert.False(t, s.Finished)
	assert.Contains(t, s.Problem, "another process")
	assert.Empty(t, b.provider.asked)
	assert.Empty(t, r.Once(t.Context(), "other").Sweeps, "of this source only")
}

func TestPagesAreFound(t *testing.T) {
	t.Parallel()
	const second = list + "?page=2"
	plan := `{list: "https://api.example.com/charges", items: "$.data[*]", next: %s, type: charge.listed, into: $.data}`
	for name, c := range map[string]struct {
		next, body string
		header     []string
		more       bool
	}{
		"a link":                 {"header.Link", `{"data":[]}`, []string{"Link", `<https://api.example.com/charges>; rel="prev", <https://api.example.com/charges?page=2>; title="a, b"; rel="last next"`}, true},
		"links in two headers":   {"header.link", `{"data":[]}`, []string{"Link", `<x>; rel=first`, "Link", `</charges?page=2>; REL=next`}, true},
		"no link":                {"header.Link", `{"data":[]}`, []string{"Link", `<https://api.example.com/charges?page=1>; rel="prev"`}, false},
		"a broken link":          {"header.Link", `{"data":[]}`, []string{"Link", `<https://api.example.com`}, false},
		"another header":         {"header.X-Next", `{"data":[]}`, []string{"X-Next", "/charges?page=2"}, true},
		"a template":             {`"https://api.example.com/charges?page={$.data[-1].id}"`, `{"data":[{"id":2}]}`, nil, true},
		"a template without":     {`"https://api.example.com/charges?page={$.data[-1].id}"`, `{"data":[]}`, nil, false},
		"an empty value":         {`"https://api.example.com/charges?page={$.cursor}"`, `{"data":[],"cursor":""}`, nil, false},
		"a path":                 {"$.next", `{"data":[],"next":"https://API.example.com/charges?page=2"}`, nil, true},
		"false is the end":       {"$.next", `{"data":[],"next":false}`, nil, false},
		"a path that is missing": {"$.next", `{"data":[]}`, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t, fmt.Sprintf(plan, c.next))
			b.provider.page(list, c.body, c.header...)
			b.provider.page(second, `{"data":[]}`)
			b.provider.page("https://API.example.com/charges?page=2", `{"data":[]}`)
			s := b.once(b.reconciler())
			assert.True(t, s.Finished, s.Problem)
			want := 1
			if c.more {
				want = 2
			}
			assert.Len(t, b.provider.asked, want)
		})
	}
}
