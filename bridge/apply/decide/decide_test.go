package decide_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"sfbridge/bridge/apply/decide"
	"sfbridge/bridge/event"
)

// chain permits each state to lead to the next one.
type chain []string

func (c chain) Rank(state string) int {
	for i, s := range c {
		if s == state {
			return i
		}
	}
	return -1
}

func (c chain) Reachable(from, to string) ([]string, bool) {
	a, b := c.Rank(from), c.Rank(to)
	if a < 0 || b <= a {
		return nil, false
	}
	return c[a+1 : b+1], true
}

var payment = chain{"Pending", "Succeeded", "Refunded"}

func at(n int64) *int64 { return &n }

func TestCompare(t *testing.T) {
	t.Parallel()
	ascending := []decide.Standing{
		{EventID: "s:9", Rank: 5},
		{EventID: "s:a", Delete: true},
		{Order: at(1), EventID: "s:z", Rank: 9},
		{Order: at(2), EventID: "s:B"},
		{Order: at(2), EventID: "s:a"},
		{Order: at(2), EventID: "s:A", Rank: 1},
		{Order: at(2), EventID: "s:A#conflict:0123456789abcdef"},
		{Order: at(2), EventID: "s:reconcile:o:2:5", Rank: 1},
		{Order: at(2), EventID: "s:A", Delete: true},
		{Order: at(2), EventID: "s:A#conflict:0123456789abcdef", Delete: true},
		{Order: at(3), EventID: "s:A"},
	}
	for i, a := range ascending {
		for j, b := range ascending {
			got := decide.Compare(a, b)
			switch {
			case i < j:
				assert.Negative(t, got, "%+v before %+v", a, b)
			case i > j:
				assert.Positive(t, got, "%+v after %+v", a, b)
			default:
				assert.Zero(t, got)
			}
		}
	}
}

func TestRecord(t *testing.T) {
	t.Parallel()
	holder := func(order int64, id, state string) decide.Holder {
		return decide.Holder{Exists: true, Order: at(order), EventID: id, State: state}
	}
	comer := func(order int64, id, state string) decide.Comer {
		return decide.Comer{EventID: id, Order: at(order), Guarded: true, Main: true, State: state, Machine: payment}
	}
	with := func(c decide.Comer, change func(*decide.Comer)) decide.Comer { change(&c); return c }
	remove := func(c *decide.Comer) { c.Action = decide.Delete }
	update := func(c *decide.Comer) { c.Action = decide.Update }
	known := func(c *decide.Comer) { c.SameVersion = true }
	unordered := func(c *decide.Comer) { c.Guarded = false }
	other := func(c *decide.Comer) { c.Main = false }
	beating := func(id string) func(*decide.Comer) { return func(c *decide.Comer) { c.Beaten = id } }
	deletedBy := func(order int64, id string) decide.Holder {
		return decide.Holder{Tombstone: &decide.Standing{Order: at(order), Delete: true, Rank: decide.NoRank, EventID: id}}
	}
	tests := []struct {
		name   string
		holder decide.Holder
		comer  decide.Comer
		want   decide.Verdict
	}{
		{"Create", decide.Holder{}, comer(1, "s:a", "Refunded"), decide.Create},
		{"Newer", holder(1, "s:a", "Pending"), comer(2, "s:b", "Succeeded"), decide.Change},
		{"Older", holder(2, "s:b", "Pending"), comer(1, "s:a", "Succeeded"), decide.Outdated},
		{"NoOrderNeverOverwritesOrder", holder(2, "s:b", ""), decide.Comer{EventID: "s:c", Guarded: true}, decide.Outdated},
		{"OrderOverwritesNoOrder", decide.Holder{Exists: true, EventID: "s:b"}, comer(1, "s:a", ""), decide.Change},
		{"NeverOurs", decide.Holder{Exists: true}, decide.Comer{EventID: "s:c", Guarded: true}, decide.Change},
		{"TieByRank", holder(1, "s:z", "Pending"), comer(1, "s:a", "Succeeded"), decide.Change},
		{"TieByRankLoses", holder(1, "s:a", "Succeeded"), comer(1, "s:z", "Pending"), decide.Outdated},
		{"TieByID", holder(1, "s:a", "Pending"), comer(1, "s:b", "Pending"), decide.Change},
		{"SkippedStep", holder(1, "s:a", "Pending"), comer(2, "s:b", "Refunded"), decide.Change},
		{"NotReachable", holder(1, "s:a", "Refunded"), comer(2, "s:b", "Pending"), decide.Forbidden},
		{"OlderAndNotReachable", holder(2, "s:b", "Refunded"), comer(1, "s:a", "Pending"), decide.Outdated},
		{"SameStateIsNoTransition", holder(1, "s:a", "Refunded"), comer(2, "s:b", "Refunded"), decide.Change},
		{"NoStateIsNoTransition", holder(1, "s:a", "Refunded"), comer(2, "s:b", ""), decide.Change},
		{"FirstStateIsFree", holder(1, "s:a", ""), comer(2, "s:b", "Refunded"), decide.Change},
		{"ReplaySameVersion", holder(1, "s:a", "Pending"), with(comer(1, "s:a", "Pending"), known), decide.Keep},
		{"ReplayOtherVersion", holder(1, "s:a", "Refunded"), comer(1, "s:a", "Refunded"), decide.Change},
		{"ReplayCannotBeatNewer", holder(2, "s:b", ""), with(comer(1, "s:a", ""), known), decide.Outdated},
		{"UpdateWithoutTarget", decide.Holder{}, with(comer(1, "s:a", ""), update), decide.Await},
		{"DeleteWithoutTarget", decide.Holder{}, with(comer(1, "s:a", ""), remove), decide.Absent},
		{"Delete", holder(1, "s:z", "Refunded"), with(comer(1, "s:a", ""), remove), decide.Remove},
		{"DeleteOlder", holder(2, "s:z", ""), with(comer(1, "s:a", ""), remove), decide.Outdated},
		{"CreateAfterLaterDelete", deletedBy(3, "s:d"), comer(2, "s:a", ""), decide.Outdated},
		{"CreateAfterEqualDelete", deletedBy(2, "s:a"), comer(2, "s:z", "Refunded"), decide.Outdated},
		{"CreateAfterEarlierDelete", deletedBy(1, "s:d"), comer(2, "s:a", ""), decide.Create},
		{"UnorderedCreateAfterLaterDelete", deletedBy(3, "s:d"), with(comer(2, "s:a", ""), unordered), decide.Outdated},
		{"OtherRecordIgnoresDelete", deletedBy(3, "s:d"), with(comer(2, "s:a", ""), other), decide.Create},
		{"BeatenByTheGuard", holder(1, "s:z", ""), with(comer(1, "s:a", ""), beating("s:z")), decide.Change},
		{"AnotherBeatenByTheGuard", holder(1, "s:z", ""), with(comer(1, "s:a", ""), beating("s:y")), decide.Outdated},
		{"UnorderedNeverStale", holder(9, "s:z", ""), with(comer(1, "s:a", ""), unordered), decide.Change},
		{"UnorderedEqual", decide.Holder{Exists: true}, with(comer(1, "s:a", ""),
			func(c *decide.Comer) { c.Guarded, c.Equal = false, true }), decide.Keep},
		{"OrderedEqualIsWritten", holder(1, "s:a", ""), with(comer(2, "s:b", ""),
			func(c *decide.Comer) { c.Equal = true }), decide.Change},
		{"Ambiguous", decide.Holder{Exists: true, Ambiguous: true}, comer(1, "s:a", ""), decide.Unclear},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := decide.Record(tt.holder, tt.comer)
			assert.Equal(t, tt.want, got.Verdict, "why: %s", got.Why)
		})
	}
}

func TestTransition(t *testing.T) {
	t.Parallel()
	from := func(state string) decide.Holder {
		return decide.Holder{Exists: state != "", EventID: "s:a", Order: at(1), State: state}
	}
	to := func(state string) decide.Comer {
		return decide.Comer{EventID: "s:b", Order: at(2), Guarded: true, State: state, Machine: payment}
	}
	created := decide.Record(from(""), to("Refunded"))
	assert.Equal(t, &decide.Transition{To: "Refunded"}, created.Transition)

	step := decide.Record(from("Pending"), to("Succeeded"))
	assert.Equal(t, &decide.Transition{From: "Pending", To: "Succeeded"}, step.Transition)

	skip := decide.Record(from("Pending"), to("Refunded"))
	assert.Equal(t, &decide.Transition{From: "Pending", To: "Refunded", Skipped: []string{"Succeeded"}}, skip.Transition)
	assert.Contains(t, skip.Why, "skipping Succeeded")

	assert.Nil(t, decide.Record(from("Pending"), to("Pending")).Transition)
	assert.Nil(t, decide.Record(from("Refunded"), to("Pending")).Transition)
}

func TestEvent(t *testing.T) {
	t.Parallel()
	rec := func(v decide.Verdict) decide.Judged { return decide.Judged{Judgement: decide.Judgement{Verdict: v}} }
	guard := func(v decide.Verdict) decide.Judged { j := rec(v); j.Guard = true; return j }
	buried := rec(decide.Outdated)
	buried.Buried = true
	replay := guard(decide.Keep)
	replay.Replay = true
	type J = []decide.Judged
	tests := []struct {
		name    string
		records J
		status  event.Status
		outcome event.Outcome
		code    string
		writes  []bool
	}{
		{"Created", J{guard(decide.Create), rec(decide.Change)}, event.Completed, event.Created, "", []bool{true, true}},
		{"Updated", J{guard(decide.Change), rec(decide.Create)}, event.Completed, event.Updated, "", []bool{true, true}},
		{"Deleted", J{guard(decide.Remove)}, event.Completed, event.Deleted, "", []bool{true}},
		{"DeletedNothing", J{guard(decide.Absent)}, event.Completed, event.Deleted, "", []bool{false}},
		{"GuardStaleStopsAll", J{rec(decide.Create), guard(decide.Outdated)}, event.Completed, event.Stale, "", []bool{false, false}},
		{"GuardReplayStopsAll", J{replay, rec(decide.Change)}, event.Completed, event.Unchanged, "", []bool{false, false}},
		{"FirstBuriedStopsAll", J{buried, rec(decide.Create)}, event.Completed, event.Stale, "", []bool{false, false}},
		{"OtherStaleLeftOutAlone", J{guard(decide.Change), rec(decide.Outdated)}, event.Completed, event.Updated, "", []bool{true, false}},
		{"OnlyOtherWritten", J{guard(decide.Keep), rec(decide.Change)}, event.Completed, event.Updated, "", []bool{false, true}},
		{"NothingWritten", J{rec(decide.Keep), rec(decide.Outdated)}, event.Completed, event.Unchanged, "", []bool{false, false}},
		{"NoRecords", J{}, event.Completed, event.Unchanged, "", []bool{}},
		{"Forbidden", J{guard(decide.Change), rec(decide.Forbidden)}, event.Review, "", event.CodeTransition, nil},
		{"StaleBeforeForbidden", J{guard(decide.Outdated), rec(decide.Forbidden)}, event.Completed, event.Stale, "", []bool{false, false}},
		{"Ambiguous", J{guard(decide.Change), rec(decide.Unclear)}, event.Review, "", event.CodeAmbiguous, nil},
		{"Await", J{guard(decide.Change), rec(decide.Await)}, event.Retryable, "", event.CodeTarget, nil},
		{"ForbiddenBeforeAwait", J{guard(decide.Await), rec(decide.Forbidden)}, event.Review, "", event.CodeTransition, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := decide.Event(tt.records)
			assert.Equal(t, tt.status, got.Status)
			assert.Equal(t, tt.outcome, got.Outcome)
			assert.Equal(t, tt.code, got.Code)
			assert.Equal(t, tt.writes, got.Writes)
			assert.Equal(t, tt.status == event.Retryable, got.Waits)
		})
	}
}
