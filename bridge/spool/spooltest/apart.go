package spooltest

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/spool"
)

func (b bench) allApart(limit int) (list []spool.Apart) {
	b.t.Helper()
	require.NoError(b.t, b.EachApart(b.t.Context(), limit, func(a spool.Apart) error {
		list = append(list, a)
		return nil
	}))
	return list
}

func setApart(t *testing.T, b bench) {
	b.put("B00", "bad", "good")
	bad := b.take("B00", 1)[0]
	require.NoError(t, b.SetApart(t.Context(), "B00", []spool.Refused{{Waiting: bad, Reason: "no such field"}}))
	assert.Equal(t, []string{"good"}, texts(b.take("B00", all)))
	s := b.state()
	assert.Equal(t, 1, s.Apart)
	assert.Equal(t, 1, s.Total())
	apart := b.allApart(all)
	require.Len(t, apart, 1)
	assert.Equal(t, "B00", apart[0].Queue)
	assert.Equal(t, "no such field", apart[0].Reason)
	assert.Equal(t, "bad", string(apart[0].Data))
	for _, moved := range []int{1, 0} { // twice is once
		n, err := b.Again(t.Context(), []spool.Apart{{Queue: apart[0].Queue, Refused: spool.Refused{Waiting: spool.Waiting{ID: apart[0].ID}}}})
		require.NoError(t, err)
		assert.Equal(t, moved, n)
	}
	assert.Zero(t, b.state().Apart)
	good := b.take("B00", 1)
	assert.Equal(t, []string{"good"}, texts(good))
	require.NoError(t, b.Done(t.Context(), "B00", ids(good)))
	assert.Equal(t, []string{"bad"}, texts(b.take("B00", all)))
}

func shownApart(t *testing.T, b bench) {
	var want []string
	for _, queue := range []string{"B00", "B07"} {
		b.put(queue, "1", "2", "3", "4", "5", "6")
		var refused []spool.Refused
		for _, w := range b.take(queue, all) {
			refused = append(refused, spool.Refused{Waiting: w, Reason: "why"})
			want = append(want, queue+string(w.Data))
		}
		require.NoError(t, b.SetApart(t.Context(), queue, refused))
	}
	for _, limit := range []int{0, 1, 4, 6, 9, all} {
		got := []string{}
		for _, a := range b.allApart(limit) {
			got = append(got, a.Queue+string(a.Data))
		}
		assert.Equal(t, want[:min(limit, len(want))], got)
	}
	enough, seen := errors.New("enough"), 0
	require.ErrorIs(t, b.EachApart(t.Context(), all, func(spool.Apart) error { seen++; return enough }), enough)
	assert.Equal(t, 1, seen)
}
