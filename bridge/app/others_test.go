package app

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/store"
	"sfbridge/bridge/store/storetest"
)

// ear collects what a process hears.
type ear struct {
	mu      sync.Mutex
	queues  map[string]int
	any     int
	effects int
	seen    [2]bool // due, effects
}

func (e *ear) see(due, effects bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.seen = [2]bool{e.seen[0] || due, e.seen[1] || effects}
}

func (e *ear) poll(queues map[string]int, more int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.queues == nil {
		e.queues = map[string]int{}
	}
	for q, n := range queues {
		e.queues[q] += n
	}
	e.any += more
}

func (e *ear) effect(rows int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.effects += rows
}

// heard says whether the ear has heard so much in all.
func (e *ear) heard(rows, more, effects int) func(context.Context) bool {
	return func(context.Context) bool {
		e.mu.Lock()
		defer e.mu.Unlock()
		return sum(e.queues) == rows && e.any == more && e.effects == effects
	}
}

// neighbour runs a process of its own on the server.
func neighbour(t *testing.T, server *storetest.Server, name string) (*others, *ear) {
	t.Helper()
	e := &ear{}
	o := newOthers(othersConfig{
		bell: store.NewBell(storetest.Open(t, server.URL()), "org"), name: name, log: slog.New(slog.DiscardHandler),
		every: time.Millisecond, poll: e.poll, effects: e.effect, seen: e.see,
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- o.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		assert.NoError(t, <-ended)
	})
	return o, e
}

func TestAProcessWakesTheOthers(t *testing.T) {
	t.Parallel()
	server := storetest.StartRedis(t)
	one, itself := neighbour(t, server, "one")
	_, two := neighbour(t, server, "two")
	c := server.Client(t)
	listeners := func(n int64) func(context.Context) bool {
		return func(ctx context.Context) bool {
			counts, err := c.PubSubNumSub(ctx, "bridge:bell:org").Result()
			return err == nil && counts["bridge:bell:org"] == n
		}
	}
	storetest.Eventually(t, "both listen", listeners(2))
	one.tell(word{})
	for range 50 {
		one.tell(word{Queues: map[string]int{"B01": 1, "B15": 2}, Any: 3, Effects: 1})
	}
	storetest.Eventually(t, "the other has heard all of it", two.heard(150, 150, 50))
	assert.Equal(t, map[string]int{"B01": 50, "B15": 100}, two.queues)
	assert.True(t, itself.heard(0, 0, 0)(t.Context()), "nobody wakes itself in this way")

	assert.Equal(t, [2]bool{}, two.seen)
	one.tell(word{LookedEffects: true})
	storetest.Eventually(t, "a look is heard of", func(context.Context) bool {
		two.mu.Lock()
		defer two.mu.Unlock()
		return two.seen == [2]bool{false, true}
	})

	server.Kill(t)
	server.Start(t)
	storetest.Eventually(t, "both listen again", listeners(2))
	storetest.Eventually(t, "who may have missed a word looks", two.heard(150, 151, 51))
}

// Whatever is to be told while the others can't be reached is forgotten: it takes
// no memory, and the rows are found by the next look.
func TestWhatCantBeToldIsForgotten(t *testing.T) {
	t.Parallel()
	server := storetest.StartRedis(t)
	server.Kill(t)
	o := newOthers(othersConfig{bell: store.NewBell(storetest.Open(t, server.URL()), "org"), name: "one", log: slog.New(slog.DiscardHandler)})
	for range 1000 {
		o.tell(word{Queues: map[string]int{"B00": maxRows}, Any: maxRows, Effects: maxRows})
	}
	assert.Equal(t, word{Queues: map[string]int{"B00": maxRows}, Any: maxRows, Effects: maxRows}, o.pending)
	o.flush(t.Context())
	assert.True(t, o.pending.empty())
}

func TestWordsThatAreNoWords(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"no JSON": "wake up", "a list": "[]", "a negative number": `{"any":-1}`, "too many": `{"queues":{"B00":1000001}}`,
		"effects": `{"effects":-3}`, "a fraction": `{"any":1.5}`, "too long": `{"from":"` + strings.Repeat("x", maxWord) + `"}`,
	} {
		_, err := readWord([]byte(text))
		assert.ErrorIs(t, err, errWord, name)
	}
}

func FuzzReadWord(f *testing.F) {
	for _, seed := range []string{`{"from":"a","queues":{"B00":3},"any":1,"effects":2}`, `{}`, `null`, `{"queues":null}`, `{"any":1e3}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		w, err := readWord(text)
		if err != nil {
			return
		}
		assert.GreaterOrEqual(t, sum(w.Queues)+w.Any+w.Effects, 0)
		again, err := json.Marshal(w)
		require.NoError(t, err)
		if len(again) <= maxWord {
			_, err = readWord(again)
			assert.NoError(t, err)
		}
	})
}
