package operate_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/event"
	"sfbridge/bridge/operate"
	"sfbridge/salesforce"
)

// TestPagesMeetEveryEventOnce: events of one receive time, and some without
// one, lie across the borders of pages.
func TestPagesMeetEveryEventOnce(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	var want []string
	for n := range 11 {
		e := ev(n, func(e *event.Event) { e.ReceivedAt = noon.Add(time.Duration(n/4) * time.Millisecond) })
		if n > 8 {
			e.ReceivedAt = time.Time{}
		}
		b.stage(nil, e)
		want = append(want, e.ID)
	}
	for _, size := range []int{1, 2, 3, 11, 0} {
		var got []string
		for from, pages := (operate.Cursor{}), 0; pages == 0 || from != (operate.Cursor{}); pages++ {
			events, next, err := b.Page(t.Context(), operate.Filter{Source: "shop", Limit: size}, from)
			require.NoError(t, err)
			got = append(got, ids(events)...)
			from, err = operate.ParseCursor(next.String())
			require.NoError(t, err)
			assert.Equal(t, next.String(), from.String())
			require.Less(t, pages, 12, "it goes round and round")
		}
		assert.ElementsMatch(t, want, got, "pages of %d", size)
		assert.Equal(t, "shop:8", got[0], "newest first")
	}
	some, _, err := b.Page(t.Context(), operate.Filter{IDs: []string{"shop:3", "none"}}, operate.Cursor{})
	require.NoError(t, err)
	assert.Equal(t, []string{"shop:3"}, ids(some))
}

func TestPagesAskedWrongly(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	for _, f := range []operate.Filter{{Limit: 1001}, {Limit: -1}, {IDs: make([]string, 201)}} {
		_, _, err := b.Page(t.Context(), f, operate.Cursor{})
		var usage *operate.UsageError
		assert.ErrorAs(t, err, &usage)
	}
	for _, s := range []string{"x", "!", "bm93L3gnIE9SIElkICE9ICc"} {
		_, err := operate.ParseCursor(s)
		var usage *operate.UsageError
		assert.ErrorAs(t, err, &usage, s)
	}
}

func FuzzParseCursor(f *testing.F) {
	f.Add("MjAyNi0wMS0wMVQxMjowMDowMFovYTAwMDAwMDAwMDAwMDAwMDAx")
	f.Add("L2EwMDAwMDAwMDAwMDAwMDAwMQ")
	f.Add("")
	f.Fuzz(func(t *testing.T, s string) {
		c, err := operate.ParseCursor(s)
		if err != nil {
			return
		}
		again, err := operate.ParseCursor(c.String())
		require.NoError(t, err)
		assert.Equal(t, c.String(), again.String())
	})
}

func TestEffectsAreListed(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	e := ev(1, nil)
	b.stage(nil, e, ev(2, nil))
	for _, f := range []event.Effect{
		{Key: "shop:1:mail:ch_1", Name: "mail", Queue: e.HomeQueue, Request: `{"post":{}}`},
		{Key: "shop:1:task:ch_1", Name: "task", Queue: e.HomeQueue, Request: `{"post":{}}`},
	} {
		f.EventRow = e.RowID
		_, err := b.client.Insert(t.Context(), salesforce.Row{Object: event.EffectObject, Fields: f.Insert()})
		require.NoError(t, err)
	}
	list := func(f operate.EffectFilter) []string {
		effects, err := b.Effects(t.Context(), f)
		require.NoError(t, err)
		got := []string{}
		for _, e := range effects {
			assert.Equal(t, "shop:1", e.EventID)
			got = append(got, e.Name)
		}
		return got
	}
	assert.Equal(t, []string{"task", "mail"}, list(operate.EffectFilter{}))
	assert.Equal(t, []string{"mail"}, list(operate.EffectFilter{Name: "mail", Event: "shop:1", Status: []event.EffectStatus{event.EffectReady}}))
	assert.Equal(t, []string{"task"}, list(operate.EffectFilter{Limit: 1}))
	assert.Empty(t, list(operate.EffectFilter{Event: "shop:2"}))
	_, err := b.Effects(t.Context(), operate.EffectFilter{Limit: -1})
	assert.Error(t, err)
	story, err := b.Show(t.Context(), "shop:1")
	require.NoError(t, err)
	require.Len(t, story.Effects, 2)
	assert.Equal(t, `{"post":{}}`, story.Effects[0].Request)
	status, err := operate.ParseEffectStatus("done")
	require.NoError(t, err)
	assert.Equal(t, event.EffectDone, status)
	_, err = operate.ParseEffectStatus("over")
	assert.Error(t, err)
}
