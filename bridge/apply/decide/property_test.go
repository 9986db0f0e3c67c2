package decide_test

import (
	"fmt"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"sfbridge/bridge/apply/decide"
)

// history draws events of one record whose states follow the permitted steps
// in the order in which they are to win; keys of the oracle are texts that sort
// as the rule says, built without the code under test.
type reported struct {
	comer decide.Comer
	key   string
}

func drawHistory(t *rapid.T) []reported {
	n := rapid.IntRange(1, 7).Draw(t, "events")
	events := make([]reported, n)
	ids := rapid.SliceOfNDistinct(rapid.StringMatching(`s:[a-zA-Z0-9]{1,3}`), n, n, rapid.ID[string]).Draw(t, "ids")
	for i := range events {
		c := decide.Comer{EventID: ids[i], Guarded: true, Machine: payment}
		orderKey := "-"
		if rapid.IntRange(0, 4).Draw(t, "ordered") > 0 {
			order := rapid.Int64Range(0, 3).Draw(t, "order")
			c.Order, orderKey = &order, fmt.Sprintf("0%d", order)
		}
		favour := 0
		switch rapid.IntRange(0, 5).Draw(t, "kind") {
		case 0:
			c.EventID, favour = "s:reconcile:"+ids[i], 1
		case 1:
			c.EventID, favour = ids[i]+"#conflict:0011223344556677", 1
		}
		c.State = payment[min(i*len(payment)/n, len(payment)-1)]
		rank := sort.SearchStrings([]string{"Pending", "Refunded", "Succeeded"}, c.State)
		events[i] = reported{comer: c, key: fmt.Sprintf("%s|%d|%d|%s", orderKey, favour, []int{0, 2, 1}[rank], c.EventID)}
	}
	// States are handed out along the winning order, so that every step is permitted.
	sort.Slice(events, func(i, j int) bool { return oracleLess(events[i].key, events[j].key) })
	for i := 1; i < n; i++ {
		if payment.Rank(events[i].comer.State) < payment.Rank(events[i-1].comer.State) {
			events[i].comer.State = events[i-1].comer.State
			parts := strings.SplitN(events[i].key, "|", 4)
			parts[2] = fmt.Sprint(payment.Rank(events[i].comer.State))
			events[i].key = strings.Join(parts, "|")
		}
	}
	return events
}

// oracleLess: "-" (no order) is before "0n"; the rest are fixed-width parts
// and then the id by bytes.
func oracleLess(a, b string) bool { return a < b }

// Every order of arrival, with repeats, ends in the event that the rule puts
// last.
func TestEveryArrivalEndsTheSame(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		events := drawHistory(t)
		want := events[0]
		for _, e := range events {
			if oracleLess(want.key, e.key) {
				want = e
			}
		}
		arrivals := rapid.Permutation(append(events, events...)).Draw(t, "arrivals")
		var target decide.Holder
		for _, e := range arrivals {
			if j := decide.Record(target, e.comer); j.Verdict.Writes() {
				target = decide.Holder{Exists: true, Order: e.comer.Order, EventID: e.comer.EventID, State: e.comer.State}
			}
		}
		require.Equal(t, want.comer.EventID, target.EventID)
		require.Equal(t, want.comer.State, target.State)
	})
}

func TestCompareIsTotal(t *testing.T) {
	t.Parallel()
	standing := rapid.Custom(func(t *rapid.T) decide.Standing {
		s := decide.Standing{
			Delete:  rapid.Bool().Draw(t, "delete"),
			Rank:    rapid.IntRange(-1, 2).Draw(t, "rank"),
			EventID: rapid.SampledFrom([]string{"s:a", "s:B", "s:reconcile:a", "s:a#conflict:0"}).Draw(t, "id"),
		}
		if rapid.Bool().Draw(t, "ordered") {
			s.Order = at(rapid.Int64Range(-1, 1).Draw(t, "order"))
		}
		return s
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := standing.Draw(t, "a"), standing.Draw(t, "b"), standing.Draw(t, "c")
		require.Equal(t, decide.Compare(a, b), -decide.Compare(b, a))
		require.Zero(t, decide.Compare(a, a))
		if decide.Compare(a, b) <= 0 && decide.Compare(b, c) <= 0 {
			require.LessOrEqual(t, decide.Compare(a, c), 0)
		}
	})
}
