package ledger_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/test/fault/ledger"
	"sfbridge/test/fault/traffic"
)

// kept is a book with a sight in which every promise was kept: the events of an
// object arrived in their order.
func kept() (ledger.Book, *ledger.Sight) {
	p := traffic.Plan(traffic.Config{Events: 120, Seed: 11, Prefix: "k"})
	b := ledger.Book{Events: p.Events, Answers: map[string]map[string]int{}}
	s := &ledger.Sight{Posts: map[string]ledger.Post{}}
	byKey := map[string][]traffic.Event{}
	for _, e := range p.Events {
		b.Answers[e.ID] = map[string]int{"accepted": 1}
		byKey[e.Key] = append(byKey[e.Key], e)
	}
	for _, key := range slices.Sorted(maps.Keys(byKey)) {
		write(s, byKey[key])
	}
	return b, s
}

// write is what the events of one object come to in their order.
func write(s *ledger.Sight, events []traffic.Event) {
	slices.SortFunc(events, func(a, b traffic.Event) int {
		if b.Later(a) {
			return -1
		}
		return 1
	})
	outcome, state := "Created", ""
	for _, e := range events {
		s.Events = append(s.Events, ledger.EventRow{ID: e.ID, Status: "Completed", Outcome: outcome, History: "Received -> Completed by bridge\nCompleted -> Completed by bridge: duplicate deliveries: 1"})
		if e.State == traffic.Succeeded && state != traffic.Succeeded {
			key := e.ID + "!receipt"
			s.Effects = append(s.Effects, ledger.EffectRow{Key: key, Event: e.ID, Status: "Done", History: "Ready -> Done"})
			s.Posts[key] = ledger.Post{Times: 1, Bodies: map[string]bool{"{}": true}}
		}
		outcome, state = "Updated", e.State
	}
	last := events[len(events)-1]
	s.Records = append(s.Records, ledger.Record{Object: last.Object, Key: last.Key, Fields: last.Record()})
}

func TestKeptPromises(t *testing.T) {
	t.Parallel()
	b, s := kept()
	require.NotEmpty(t, s.Effects)
	assert.Equal(t, ledger.Verdict{Accepted: 120}, ledger.Check(b, *s, ledger.Terms{}))
}

// mistake is one that is put into a clean ledger.
type mistake struct {
	seed func(*ledger.Book, *ledger.Sight)
	want ledger.Verdict // without the text of the problem
	says string
}

// notices asks that the ledger notices each mistake.
func notices(t *testing.T, mistakes map[string]mistake) {
	t.Helper()
	for name, c := range mistakes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, s := kept()
			c.seed(&b, s)
			got := ledger.Check(b, *s, ledger.Terms{})
			require.NotEmpty(t, got.Problems)
			assert.Contains(t, got.Problems[0], c.says)
			assert.Equal(t, []int{c.want.Lost, c.want.Doubled}, []int{got.Lost, got.Doubled})
		})
	}
}

func TestSeededMistakes(t *testing.T) {
	t.Parallel()
	notices(t, map[string]mistake{
		"a lost row":    {func(_ *ledger.Book, s *ledger.Sight) { s.Events = s.Events[:119] }, ledger.Verdict{Lost: 1}, "is lost"},
		"a doubled row": {func(_ *ledger.Book, s *ledger.Sight) { s.Events = append(s.Events, s.Events[3]) }, ledger.Verdict{Doubled: 1}, "several rows"},
		"a row of nothing": {func(_ *ledger.Book, s *ledger.Sight) {
			s.Events = append(s.Events, ledger.EventRow{ID: "stripe:evt_1#conflict:00", Status: "Review"})
		}, ledger.Verdict{}, "never sent"},
		"an event nobody took": {func(b *ledger.Book, s *ledger.Sight) { delete(b.Answers, s.Events[0].ID) }, ledger.Verdict{}, "never taken"},
		"a conflict": {func(b *ledger.Book, s *ledger.Sight) {
			b.Answers[s.Events[0].ID] = map[string]int{"conflict": 1}
		}, ledger.Verdict{}, "conflict"},
		"an open row":          {change(func(r *ledger.EventRow) { r.Status = "Retryable" }), ledger.Verdict{}, "no end"},
		"a row in Review":      {change(func(r *ledger.EventRow) { r.Status, r.Code = "Review", "FIELD" }), ledger.Verdict{}, "no end"},
		"a row still queued":   {change(func(r *ledger.EventRow) { r.Queue = "B03" }), ledger.Verdict{}, "queue B03"},
		"decided twice":        {change(func(r *ledger.EventRow) { r.History += "\nReceived -> Completed" }), ledger.Verdict{}, "completed 2 times"},
		"an attempt charged":   {change(func(r *ledger.EventRow) { r.Attempts = 1 }), ledger.Verdict{}, "charged 1 attempts"},
		"created twice":        {change(func(r *ledger.EventRow) { r.Outcome = flip(r.Outcome) }), ledger.Verdict{}, "was created"},
		"a last word is stale": {lastIsStale, ledger.Verdict{}, "is Stale"},
		"nothing was done":     {change(func(r *ledger.EventRow) { r.Outcome = "Unchanged" }), ledger.Verdict{}, "can't be"},
		"a lost record":        {func(_ *ledger.Book, s *ledger.Sight) { s.Records = s.Records[1:] }, ledger.Verdict{Lost: 1}, "is missing"},
		"a doubled record":     {func(_ *ledger.Book, s *ledger.Sight) { s.Records = append(s.Records, s.Records[2]) }, ledger.Verdict{Doubled: 1}, "there twice"},
		"a foreign record": {func(_ *ledger.Book, s *ledger.Sight) {
			s.Records = append(s.Records, ledger.Record{Object: "Payment__c", Key: "x"})
		}, ledger.Verdict{}, "belongs to nothing"},
		"a wrong value": {func(_ *ledger.Book, s *ledger.Sight) { s.Records[0].Fields["Source_Order__c"] = 1.0 }, ledger.Verdict{}, "must be"},
	})
}

func TestSeededMistakesOfEffects(t *testing.T) {
	t.Parallel()
	notices(t, map[string]mistake{
		"a lost effect":           {func(_ *ledger.Book, s *ledger.Sight) { s.Effects = s.Effects[1:] }, ledger.Verdict{}, "no effect of it"},
		"a doubled effect":        {func(_ *ledger.Book, s *ledger.Sight) { s.Effects = append(s.Effects, s.Effects[0]) }, ledger.Verdict{}, "there twice"},
		"an open effect":          {func(_ *ledger.Book, s *ledger.Sight) { s.Effects[0].Status = "Retryable" }, ledger.Verdict{}, "no end"},
		"an effect recorded anew": {func(_ *ledger.Book, s *ledger.Sight) { s.Effects[0].History += " Ready -> Done" }, ledger.Verdict{}, "done 2 times"},
		"an effect not sent":      {func(_ *ledger.Book, s *ledger.Sight) { delete(s.Posts, s.Effects[0].Key) }, ledger.Verdict{}, "never sent"},
		"another key":             {func(_ *ledger.Book, s *ledger.Sight) { s.Posts["other"] = ledger.Post{Times: 1} }, ledger.Verdict{}, "of no effect"},
		"another body":            {func(_ *ledger.Book, s *ledger.Sight) { s.Posts[s.Effects[0].Key].Bodies["[]"] = true }, ledger.Verdict{}, "different bodies"},
	})
}

func change(f func(*ledger.EventRow)) func(*ledger.Book, *ledger.Sight) {
	return func(_ *ledger.Book, s *ledger.Sight) { f(&s.Events[5]) }
}

func flip(outcome string) string {
	if outcome == "Created" {
		return "Updated"
	}
	return "Created"
}

func lastIsStale(_ *ledger.Book, s *ledger.Sight) {
	id := s.Records[0].Fields["Source_Event__c"]
	for i := range s.Events {
		if s.Events[i].ID == id {
			s.Events[i].Outcome = "Stale"
		}
	}
}

// What a scenario allows is no problem, and is counted.
func TestTerms(t *testing.T) {
	t.Parallel()
	b, s := kept()
	change(func(r *ledger.EventRow) { r.Status, r.Code, r.Attempts = "Review", "FIELD", 2 })(&b, s)
	got := ledger.Check(b, *s, ledger.Terms{Review: []string{"FIELD"}, Charged: true})
	assert.Equal(t, ledger.Verdict{Accepted: 120, Review: 1}, got)
}

func TestBounds(t *testing.T) {
	t.Parallel()
	usual := ledger.Cost{Tries: 150, Events: 120, Instances: 1, Starts: 1, Took: 8 * time.Second, Calls: 60, Logins: 1, Lines: 200, RSS: 60}
	for name, c := range map[string]struct {
		spend func(*ledger.Cost)
		says  string
	}{
		"usual":              {func(*ledger.Cost) {}, ""},
		"a storm of calls":   {func(c *ledger.Cost) { c.Calls = 5000 }, "API calls"},
		"a storm of logins":  {func(c *ledger.Cost) { c.Logins = 200 }, "logins"},
		"a flood of lines":   {func(c *ledger.Cost) { c.Lines = 4000 }, "lines"},
		"memory that swells": {func(c *ledger.Cost) { c.RSS = 900 }, "MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cost := usual
			c.spend(&cost)
			var v ledger.Verdict
			v.Bound(cost)
			if c.says == "" {
				assert.Empty(t, v.Problems)
				return
			}
			require.Len(t, v.Problems, 1)
			assert.Contains(t, v.Problems[0], c.says)
		})
	}
}
