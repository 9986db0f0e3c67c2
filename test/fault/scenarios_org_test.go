package fault

import (
	"time"

	"sfbridge/test/fault/ledger"
	"sfbridge/test/fault/world"
	"sfbridge/test/harness"
)

// pauses that the service takes by itself, and a little more.
const (
	dailyPause   = 6 * time.Minute
	storagePause = 11 * time.Minute
)

// scenarios is the table.
func scenarios() []scenario {
	var all []scenario
	all = append(all, rowFaults()...)
	all = append(all, callFaults()...)
	all = append(all, redisFaults()...)
	all = append(all, machineFaults()...)
	all = append(all, processFaults()...)
	all = append(all, mixedFaults()...)
	return all
}

// planted has faults in the org from the first call on, until they are used up.
func planted(faults ...harness.Fault) func(*run) {
	return func(r *run) {
		r.w.Org.Plant(r, faults...)
		r.send(r.size)
		r.taken()
		r.w.Org.ClearFaults(r)
		r.healed = time.Now()
	}
}

// failing has calls fail while a part of the traffic is delivered, until one has
// failed.
func failing(faults ...harness.Fault) func(*run) {
	return broken(
		func(r *run) { r.w.Org.Plant(r, faults...) },
		func(r *run) bool { return r.any(func(i *world.Instance) bool { return i.FailedCalls(r) > 0 }) },
		func(r *run) { r.w.Org.ClearFaults(r) })
}

// then does something after a play.
func then(play func(*run), more func(*run)) func(*run) {
	return func(r *run) {
		play(r)
		more(r)
	}
}

// forward is the time that passes until the service tries again by itself.
func forward(by time.Duration) func(*run) {
	return func(r *run) {
		r.w.Forward(r, by)
		r.healed = time.Now()
	}
}

func rowFault(kind string, object, operation string, times int) harness.Fault {
	return harness.Fault{"operation": operation, "object": object, "fault": kind, "times": times}
}

// rows strikes rows of all kinds of calls.
func rows(kind string) []harness.Fault {
	return []harness.Fault{
		rowFault(kind, "Payment__c", "*", 6), rowFault(kind, "Customer__c", "*", 4), rowFault(kind, "Payment_Line__c", "*", 4),
		rowFault(kind, "Bridge_Queue__c", "*", 2), rowFault(kind, "Outbound_Effect__c", "*", 3),
		rowFault(kind, "Inbound_Event__c", "collections_insert", 5), rowFault(kind, "Inbound_Event__c", "composite", 3),
	}
}

func rowFaults() []scenario {
	return []scenario{
		{name: "lock_row", breaks: "rows are locked by others", play: planted(rows("lock_row")...)},
		{name: "lock_nested", breaks: "rows are locked inside the org's own automation", play: planted(rows("lock_nested")...)},
		{name: "storage_full", breaks: "the org has no room for rows; its pause of 10 minutes is skipped",
			play: then(planted(rows("storage_full")...), forward(storagePause))},
		{name: "duplicate_race", breaks: "records are created by others at the same moment",
			play: planted(rowFault("duplicate_race", "Payment__c", "*", 2), rowFault("duplicate_race", "Customer__c", "*", 2),
				rowFault("duplicate_race", "Inbound_Event__c", "collections_insert", 1))},
		{name: "validation", breaks: "a rule of the org refuses payments, then a person replays them",
			terms: ledger.Terms{Review: []string{ruleCode}},
			play:  then(planted(rowFault("validation", "Payment__c", "*", 8)), replayed)},
	}
}

// ruleCode is with what a validation rule refuses.
const ruleCode = "FIELD_CUSTOM_VALIDATION_EXCEPTION"

// callKinds are the faults of whole calls, with what each is.
var callKinds = []struct{ kind, breaks string }{
	{"concurrent_limit", "too many long requests"},
	{"unavailable", "the API answers 503"},
	{"html_503", "the edge answers 503 with a page"},
	{"html_200", "the edge answers 200 with a page"},
	{"drop_before", "connections break before the call is carried out"},
	{"drop_after", "connections break after the call was carried out"},
	{"expire_session", "sessions end"},
	{"malformed", "answers are no JSON, the calls were carried out"},
	{"truncated", "answers break off, the calls were carried out"},
	{"moved", "calls are redirected to another host"},
}

func callFaults() []scenario {
	var all []scenario
	for _, k := range callKinds {
		all = append(all, scenario{name: k.kind, breaks: k.breaks, play: failing(calls(k.kind)...)})
	}
	return append(all,
		scenario{name: "limit", breaks: "the day's API calls are used up; its pause of 5 minutes is skipped",
			play: then(failing(calls("limit")...), forward(dailyPause))},
		scenario{name: "slow", breaks: "calls take a second more", play: planted(
			harness.Fault{"operation": "*", "fault": "slow", "delay": "1s", "times": 12})},
		scenario{name: "outage", breaks: "every call is refused, all deliveries wait in the spool", play: outage},
	)
}

// calls strikes calls of every kind, then a few of any.
func calls(kind string) []harness.Fault {
	var all []harness.Fault
	for _, operation := range []string{"collections_insert", "composite", "query"} {
		all = append(all, harness.Fault{"operation": operation, "fault": kind, "times": 3, "after": 1})
	}
	return append(all, harness.Fault{"operation": "*", "fault": kind, "times": 6, "after": 8})
}

// outage has the org away while most deliveries come.
func outage(r *run) {
	r.send(r.size)
	r.until(0.1, 0)
	r.w.Org.Plant(r, away)
	r.taken()
	r.w.Org.ClearFaults(r)
	r.healed = time.Now()
}

// replayed does what a person does once the rule is gone.
func replayed(r *run) {
	r.settle()
	r.waited = r.w.Waiting(r)
	i := r.w.Instance(0)
	out := harness.Invoke(r, i.Environment(), "replay", "--config", i.File(), "--status", "review", "--code", ruleCode, "--reason", "the rule is gone")
	if out.Code != 0 {
		r.Errorf("replay: %s%s", out.Out, out.Err)
	}
	r.healed = time.Now()
}
