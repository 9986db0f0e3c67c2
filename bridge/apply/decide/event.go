package decide

import (
	"sfbridge/bridge/event"
)

// Judged is one record of an event with its judgement.
type Judged struct {
	Judgement
	Guard bool // the record that decides for the whole event
}

// Ruling is what happens to an event. Without Code its records are written as
// Writes says and the row is completed with Outcome; with Code nothing is
// written and the row goes to Status.
type Ruling struct {
	Status  event.Status
	Outcome event.Outcome
	Code    string
	Why     string
	Writes  []bool // per record
	Waits   bool   // Retryable because something may still come; holds nothing back
	Record  int    // the record that Code is about
}

// Event joins the judgements of an event's records. The guard decides first:
// when it is older, nothing of the event is written; nor when the record that
// speaks for the event was deleted by a later one. Other records that are older
// are left out alone.
func Event(records []Judged) Ruling {
	if b := business(records); b >= 0 && records[b].Buried {
		return done(event.Stale, records[b].Why, records)
	}
	if g := guard(records); g >= 0 {
		switch j := records[g]; {
		case j.Verdict == Outdated:
			return done(event.Stale, j.Why, records)
		case j.Replay:
			return done(event.Unchanged, j.Why, records)
		}
	}
	for _, stop := range []struct {
		verdict Verdict
		status  event.Status
		code    string
	}{
		{Unclear, event.Review, event.CodeAmbiguous},
		{Forbidden, event.Review, event.CodeTransition},
		{Await, event.Retryable, event.CodeTarget},
	} {
		for i, j := range records {
			if j.Verdict == stop.verdict {
				return Ruling{Status: stop.status, Code: stop.code, Why: j.Why, Record: i, Waits: stop.verdict == Await}
			}
		}
	}
	return write(records)
}

// business is the record that speaks for the event: the guard, else the
// first; -1 without records.
func business(records []Judged) int {
	if g := guard(records); g >= 0 || len(records) == 0 {
		return g
	}
	return 0
}

func guard(records []Judged) int {
	for i, j := range records {
		if j.Guard {
			return i
		}
	}
	return -1
}

func done(o event.Outcome, why string, records []Judged) Ruling {
	return Ruling{Status: event.Completed, Outcome: o, Why: why, Writes: make([]bool, len(records))}
}

func write(records []Judged) Ruling {
	r := done(event.Unchanged, "nothing to write", records)
	any := false
	for i, j := range records {
		r.Writes[i] = j.Verdict.Writes()
		any = any || r.Writes[i]
	}
	if any {
		r.Outcome, r.Why = event.Updated, ""
	}
	b := business(records)
	if b < 0 {
		return r
	}
	switch records[b].Verdict {
	case Create:
		r.Outcome = event.Created
	case Remove, Absent:
		r.Outcome = event.Deleted
	}
	if why := records[b].Why; why != "" {
		r.Why = why
	}
	return r
}
