package receive

import (
	"container/list"
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/time/rate"
	"pgregory.net/rapid"

	"sfbridge/bridge/stage"
)

// TestASourceNeverTakesWhatIsKeptForAnother: whatever the sources take and give
// back and however the pool is divided anew, each can have its own part, all
// together never more than the pool and the parts, and nothing gets lost.
func TestASourceNeverTakesWhatIsKeptForAnother(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const most = 1 << 20
		names := []string{"a", "b", "c", "gone"}
		sources := map[string]*Source{}
		for _, n := range names[:3] {
			sources[n] = &Source{MaxBody: rapid.Int64Range(0, 8<<10).Draw(t, "max body")}
		}
		p := NewPool(most, sources)
		holds := map[string][]int64{}
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			name := rapid.SampledFrom(names).Draw(t, "source")
			switch held := holds[name]; {
			case rapid.IntRange(0, 19).Draw(t, "divide") == 0:
				p.Divide(sources)
			case len(held) > 0 && rapid.Bool().Draw(t, "give"):
				p.give(name, held[0])
				holds[name] = held[1:]
			default:
				n := rapid.Int64Range(1, 400<<10).Draw(t, "bytes")
				if took := p.take(name, n); took {
					holds[name] = append(held, n)
				} else {
					require.Greater(t, p.used[name]+n, p.kept[name], "refused within its own part")
				}
			}
			excess := int64(0)
			for _, n := range names {
				excess += p.excess(n, p.used[n])
			}
			require.LessOrEqual(t, excess, int64(most/2))
			require.Equal(t, int64(most/2), p.shared+excess)
		}
		for name, held := range holds {
			for _, n := range held {
				p.give(name, n)
			}
		}
		require.Empty(t, p.used)
		require.EqualValues(t, most/2, p.shared)
	})
}

func TestEverySourceMayAlwaysHaveOneDeliveryOfItsLargest(t *testing.T) {
	t.Parallel()
	s := &Source{MaxBody: 8 << 20}
	p := NewPool(1<<10, map[string]*Source{"large": s})
	h := hold{pool: p, source: "large", now: time.Now}
	require.NoError(t, h.grow(2*(s.MaxBody+1))) // compressed and expanded
	require.NoError(t, h.grow(cost(s.MaxBody)))
	assert.Error(t, h.grow(p.most))
	h.release()
	assert.Empty(t, p.used)
}

// TestABodyThatComesTooSlowlyMakesRoom: each line is what deliveries of one source
// do, with room for three, and whose bodies are broken off then. A begins to come
// with its share of the room, A! is there whole, A- is answered, + is time.
func TestABodyThatComesTooSlowlyMakesRoom(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		events          []string
		refused, broken string
	}{
		{[]string{"A", "B", "C", "D"}, "D", ""},            // all are young
		{[]string{"A", "B", "C", "+", "D"}, "", "A"},       // the longest
		{[]string{"A", "B", "C", "+", "D", "E"}, "", "AB"}, // and the next
		{[]string{"A", "+", "B", "C", "D", "E"}, "E", "A"}, // B is young
		{[]string{"A", "B", "C", "A!", "+", "D"}, "", "B"}, // A has come
		{[]string{"A", "B", "C", "A!", "B!", "C!", "+", "D"}, "D", ""},
		{[]string{"A", "B", "C", "+", "A-", "D"}, "", ""}, // there is room
		{[]string{"A", "B", "C", "+", "D", "A!", "E"}, "A", "AB"},
		{[]string{"A", "B", "C", "A!", "B!", "+", "C2"}, "C", ""}, // nobody makes room for itself
		{[]string{"A", "B", "C", "A!", "B!", "C!", "C2"}, "C", ""},
		{[]string{"A", "+", "B", "X", "C", "D"}, "", "A"}, // X is another source's, and in its part
	} {
		now := time.Unix(1767225600, 0)
		p := &Pool{kept: map[string]int64{"shop": 3, "other": 1}, used: map[string]int64{}, coming: map[string]*list.List{}}
		holds := map[string]*hold{}
		refused := ""
		for _, e := range c.events {
			name := e[:1]
			h := holds[name]
			var err error
			switch {
			case e == "+":
				now = now.Add(bodyPatience)
			case h == nil:
				h = &hold{pool: p, source: "shop", now: func() time.Time { return now }, conn: http.NewResponseController(nil)}
				if name == "X" {
					h.source = "other"
				}
				holds[name] = h
				h.begin()
				err = h.grow(1)
			case e[1:] == "!":
				err = h.whole(0)
			case e[1:] == "-":
				h.release()
			default:
				err = h.grow(1)
			}
			if err != nil {
				refused += name
			}
		}
		broken := ""
		for _, name := range []string{"A", "B", "C", "D", "E", "X"} {
			if h := holds[name]; h != nil {
				if h.wasBroken() {
					broken += name
				}
				h.release()
			}
		}
		assert.Equal(t, c.refused, refused, c.events)
		assert.Equal(t, c.broken, broken, c.events)
		assert.Empty(t, p.used)
		assert.Zero(t, p.coming["shop"].Len())
	}
}

// heldStager keeps deliveries waiting until it is told to let go.
type heldStager struct {
	fakeStager
	came chan string
	free chan struct{}
}

func (s *heldStager) Stage(ctx context.Context, requests []stage.Request) []stage.Answer {
	id := requests[0].Event.ID
	s.came <- id
	<-s.free
	return []stage.Answer{{EventID: id, Status: stage.Accepted}}
}

// flooded is a receiver of two sources whose deliveries stay in flight until the
// stager lets go. Its send tells the status of each answer.
func flooded(t *testing.T) (stager *heldStager, send func(source string), answers chan int) {
	t.Helper()
	b := setup(t, nil)
	flood, good := *b.source, *b.source
	flood.Name, good.Name = "flood", "good"
	sources := map[string]*Source{"flood": &flood, "good": &good}
	stager = &heldStager{came: make(chan string, 100), free: make(chan struct{})}
	b.handler = NewHandler(Config{
		Sources: func(name string) *Source { return sources[name] }, Stager: stager,
		Memory: NewPool(10*(cost(100)+firstRead), sources),
	})
	answers = make(chan int, 100)
	return stager, func(source string) {
		r := post(`{"id":"e1"}`)
		r.URL.Path = "/webhooks/" + source
		w := b.send(r)
		if w.Code == http.StatusTooManyRequests {
			assert.Equal(t, "1", w.Header().Get("Retry-After"))
			assert.Contains(t, w.Body.String(), "rate_limited")
		}
		answers <- w.Code
	}, answers
}

// TestAFloodOfOneSourceLeavesTheOthersTheirPart: what is too much is told to
// come again, at once, and only to the source that sends too much.
func TestAFloodOfOneSourceLeavesTheOthersTheirPart(t *testing.T) {
	t.Parallel()
	stager, send, answers := flooded(t)
	const flooding = 40
	for range flooding {
		go send("flood")
	}
	taken, refused := 0, 0
	for taken+refused < flooding {
		select {
		case <-stager.came:
			taken++
		case code := <-answers:
			require.Equal(t, http.StatusTooManyRequests, code)
			refused++
		}
	}
	assert.Positive(t, taken)
	assert.Positive(t, refused)
	go send("good")
	<-stager.came // it is being staged, whatever the other does
	close(stager.free)
	for range taken + 1 {
		assert.Equal(t, http.StatusAccepted, <-answers)
	}
	go send("flood")
	<-stager.came
	assert.Equal(t, http.StatusAccepted, <-answers, "what was given back can be had again")
}

// limiter lets so many through and then none for a long time.
func limiter(n int) *rate.Limiter { return rate.NewLimiter(rate.Every(time.Hour), n) }

func TestOnlyWhatIsRightlySignedCountsAgainstTheRate(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	b.source.Limiter = limiter(2)
	forged := func() *http.Request {
		return with(post(`{"id":"e1"}`), func(r *http.Request) { r.Header.Set("X-Signature", sign("another")) })
	}
	for range 10 {
		assert.Equal(t, http.StatusUnauthorized, b.send(forged()).Code)
	}
	assert.Equal(t, http.StatusAccepted, b.send(post(`{"id":"e1"}`)).Code)
	assert.Equal(t, http.StatusAccepted, b.send(post(`{"id":"e2"}`)).Code)
	assert.Equal(t, http.StatusTooManyRequests, b.send(post(`{"id":"e3"}`)).Code)
	assert.Equal(t, http.StatusTooManyRequests, b.send(forged()).Code, "told before it is read")
}

func TestEveryEventOfADeliveryCountsAgainstTheRate(t *testing.T) {
	t.Parallel()
	s := &Source{Limiter: limiter(10)}
	now := time.Unix(1767225600, 0)
	assert.True(t, s.within(7, now))
	assert.False(t, s.within(4, now))
	assert.True(t, s.within(3, now))
	s.Limiter = limiter(10)
	assert.True(t, s.within(500, now), "more than may ever come at once counts as that many")
	assert.False(t, s.within(0, now), "a delivery without an event counts as one")
}
