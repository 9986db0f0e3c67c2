// Package spooltest holds the suite that every engine of package spool has to
// pass.
package spooltest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/spool"
)

// Place is where engines of one test live: each open gives another process on
// the same entries. The one before is dead by then: closed without having
// finished what it had taken.
type Place interface {
	Open(t *testing.T) spool.Engine
}

// Run holds the engines of a place to the contract of spool.Engine.
func Run(t *testing.T, place func(t *testing.T) Place) {
	tests := []struct {
		name string
		run  func(*testing.T, bench)
	}{
		{"an empty engine has nothing", empty},
		{"entries come in order, queue by queue", inOrder},
		{"what is taken comes again until it is removed", again},
		{"what is taken fits into memory", bounded},
		{"removing twice is no error", removedTwice},
		{"another process finds what a dead one had taken", takenOver},
		{"entries set apart keep nothing waiting and can come back", setApart},
		{"entries set apart are shown one by one", shownApart},
		{"bytes are kept as they are", bytesKept},
		{"many appends at once are all kept", manyAtOnce},
		{"an append without entries is no work", appendNothing},
		{"ready is a write that leaves nothing", ready},
		{"a closed engine takes nothing", closed},
		{"any run of operations keeps order and entries", anyRun},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := place(t)
			e := p.Open(t)
			tt.run(t, bench{t: t, place: p, Engine: e})
		})
	}
}

const all = 1000

type bench struct {
	t     *testing.T
	place Place
	spool.Engine
}

func (b bench) put(queue string, texts ...string) {
	b.t.Helper()
	var entries []spool.Entry
	for _, text := range texts {
		entries = append(entries, spool.Entry{Queue: queue, Data: []byte(text)})
	}
	require.NoError(b.t, b.Append(b.t.Context(), entries))
}

func (b bench) take(queue string, limit int) []spool.Waiting {
	b.t.Helper()
	list, err := b.Take(b.t.Context(), queue, limit)
	require.NoError(b.t, err)
	return list
}

func (b bench) state() spool.State {
	b.t.Helper()
	s, err := b.State(b.t.Context())
	require.NoError(b.t, err)
	return s
}

func texts(list []spool.Waiting) []string {
	out := []string{}
	for _, w := range list {
		out = append(out, string(w.Data))
	}
	return out
}

func ids(list []spool.Waiting) []string {
	out := []string{}
	for _, w := range list {
		out = append(out, w.ID)
	}
	return out
}

func empty(t *testing.T, b bench) {
	assert.Empty(t, b.take("B00", all))
	assert.Equal(t, spool.State{Depth: map[string]int{}}, b.state())
	apart := b.allApart(all)
	assert.Empty(t, apart)
}

func inOrder(t *testing.T, b bench) {
	b.put("B00", "1", "2")
	b.put("B01", "x")
	b.put("B00", "3")
	assert.Equal(t, []string{"1", "2"}, texts(b.take("B00", 2)))
	assert.Equal(t, []string{"x"}, texts(b.take("B01", all)))
	s := b.state()
	assert.Equal(t, map[string]int{"B00": 3, "B01": 1}, s.Depth)
	assert.Equal(t, 4, s.Total())
	assert.False(t, s.Oldest.IsZero())
}

func again(t *testing.T, b bench) {
	b.put("B00", "1", "2", "3", "4")
	first := b.take("B00", 2)
	assert.Equal(t, first, b.take("B00", 2))
	require.NoError(t, b.Done(t.Context(), "B00", ids(first)[:1]))
	assert.Equal(t, "2", texts(b.take("B00", 2))[0])
	require.NoError(t, b.Done(t.Context(), "B00", ids(first)[1:]))
	assert.Equal(t, []string{"3", "4"}, texts(b.take("B00", all)))
}

func removedTwice(t *testing.T, b bench) {
	b.put("B00", "1", "2")
	first := ids(b.take("B00", 1))
	require.NoError(t, b.Done(t.Context(), "B00", first))
	require.NoError(t, b.Done(t.Context(), "B00", first))
	assert.Equal(t, map[string]int{"B00": 1}, b.state().Depth)
}

func takenOver(t *testing.T, b bench) {
	b.put("B00", "1", "2", "3")
	b.take("B00", 2)
	require.NoError(t, b.Close())
	next := bench{t: t, place: b.place, Engine: b.place.Open(t)}
	next.put("B00", "4")
	var got []string
	for len(got) < 4 {
		list := next.take("B00", all)
		require.NotEmpty(t, list)
		got = append(got, texts(list)...)
		require.NoError(t, next.Done(t.Context(), "B00", ids(list)))
	}
	assert.Equal(t, []string{"1", "2", "3", "4"}, got)
	assert.Zero(t, next.state().Total())
}

func bytesKept(t *testing.T, b bench) {
	data := "\x00\xff\r\n" + string(make([]byte, 3<<20)) + "end"
	b.put("B00", data)
	assert.True(t, data == texts(b.take("B00", all))[0])
}

func manyAtOnce(t *testing.T, b bench) {
	const senders, each = 8, 25
	var wg sync.WaitGroup
	for s := range senders {
		wg.Go(func() {
			for i := range each {
				assert.NoError(t, b.Append(t.Context(), []spool.Entry{
					{Queue: "B00", Data: fmt.Appendf(nil, "%d/%02d", s, i)}}))
			}
		})
	}
	wg.Wait()
	got := map[byte]string{}
	list := texts(b.take("B00", all))
	assert.Len(t, list, senders*each)
	for _, text := range list {
		assert.Less(t, got[text[0]], text, "each sender's entries are in his order")
		got[text[0]] = text
	}
}

func appendNothing(t *testing.T, b bench) {
	require.NoError(t, b.Append(t.Context(), nil))
	assert.Zero(t, b.state().Total())
}

func ready(t *testing.T, b bench) {
	require.NoError(t, b.Ready(t.Context()))
	assert.Zero(t, b.state().Total())
}

func closed(t *testing.T, b bench) {
	require.NoError(t, b.Close())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	assert.Error(t, b.Append(ctx, []spool.Entry{{Queue: "B00", Data: []byte("x")}}))
	assert.Error(t, b.Ready(ctx))
}

// operation is one step of a random run.
type operation struct {
	queue string
	put   int // entries appended; 0: entries are taken
	limit int // entries taken
	keep  bool
}

// anyRun compares an engine with lists in memory.
func anyRun(t *testing.T, b bench) {
	const runs = 30
	operations := func(seed int) []operation {
		r := rand.New(rand.NewPCG(uint64(seed), 7)) //nolint:gosec // repeatable on purpose
		list := make([]operation, 1+r.IntN(12))
		for i := range list {
			list[i] = operation{queue: []string{"B00", "B01", "O00"}[r.IntN(3)], put: r.IntN(5), limit: 1 + r.IntN(5), keep: r.IntN(2) == 0}
		}
		return list
	}
	n, model := 0, map[string][]string{}
	for seed := range runs {
		for _, o := range operations(seed) {
			if o.put > 0 && !o.keep {
				var list []string
				for range o.put {
					n++
					list = append(list, fmt.Sprint(n))
				}
				b.put(o.queue, list...)
				model[o.queue] = append(model[o.queue], list...)
				continue
			}
			list := b.take(o.queue, o.limit)
			require.LessOrEqual(t, len(list), o.limit)
			require.Equal(t, len(model[o.queue]) > 0, len(list) > 0, "run %d: %v", seed, o)
			require.Equal(t, append([]string{}, model[o.queue][:len(list)]...), texts(list), "run %d: %v", seed, o)
			if !o.keep {
				require.NoError(t, b.Done(t.Context(), o.queue, ids(list)))
				model[o.queue] = model[o.queue][len(list):]
			}
		}
		depth := map[string]int{}
		for queue, list := range model {
			if len(list) > 0 {
				depth[queue] = len(list)
			}
		}
		require.Equal(t, depth, b.state().Depth, "run %d", seed)
	}
}
