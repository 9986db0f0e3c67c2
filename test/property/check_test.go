package property

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A judge compares what a case came to with the oracle and gathers what
// differs.
type judge struct {
	sc       scenario
	problems []string
}

func (j *judge) say(format string, args ...any) {
	j.problems = append(j.problems, fmt.Sprintf(format, args...))
}

// settled asks for every event exactly once, in a state that is an end.
func (j *judge) settled(s sight) {
	want := map[string]bool{}
	for _, e := range j.sc.Events {
		want[e.eventID()] = true
	}
	for _, id := range slices.Sorted(maps.Keys(s.events)) {
		rows := s.events[id]
		if !want[id] {
			j.say("%s was never delivered", id)
		}
		if len(rows) != 1 {
			j.say("%s has %d rows", id, len(rows))
		}
		for _, r := range rows {
			done := r.status == "Completed" && r.outcome != "" || r.status == "Review" && r.code != ""
			if !done || r.queue != "" {
				j.say("%s is not settled: %+v", id, r)
			}
		}
		delete(want, id)
	}
	for _, id := range slices.Sorted(maps.Keys(want)) {
		j.say("%s is lost", id)
	}
}

// records asks for the oracle's records, field by field.
func (j *judge) records(want map[string]map[string]string, s sight) {
	keys := slices.Sorted(maps.Keys(want))
	for key := range s.records {
		if _, found := want[key]; !found {
			keys = append(keys, key)
		}
	}
	for _, key := range keys {
		if !maps.Equal(want[key], s.records[key]) {
			j.say("%s\n   is      %v\n   must be %v", key, s.records[key], want[key])
		}
	}
}

// uncharged asks that no event paid for what wasn't its own failure. Races lost
// one after another look like a record that can't be seen.
func (j *judge) uncharged(s sight) {
	if j.sc.races() > 3 {
		return
	}
	for _, e := range j.sc.Events {
		for _, r := range s.events[e.eventID()] {
			if r.attempts > 0 && e.Flaw == sound && r.status == "Completed" {
				j.say("%s was charged %d attempts", e.ID, r.attempts)
			}
		}
	}
}

// outcomes asks that the outcomes of an object's events tell one story.
func (j *judge) outcomes(s sight) {
	o := newOracle(j.sc.Design)
	byEntity := map[string][]snapshot{}
	for _, e := range j.sc.Events {
		if e.Flaw == sound {
			byEntity[e.guardKey()] = append(byEntity[e.guardKey()], e)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(byEntity)) {
		events := byEntity[key]
		slices.SortFunc(events, o.compare)
		created, deleted := 0, 0
		for i, e := range events {
			last := i == len(events)-1
			switch got := s.events[e.eventID()][0].outcome; {
			case got == "Stale" && last:
				j.say("%s is the newest of %s but Stale", e.ID, key)
			case got == "Superseded" && (last || !j.sc.Design.Coalesce):
				j.say("%s can't be Superseded", e.ID)
			case got == "Created":
				created++
			case got == "Deleted":
				deleted++
			case got == "Unchanged":
				j.say("%s can't be Unchanged: its record keeps an order", e.ID)
			}
		}
		if created > deleted+1 {
			j.say("%s was created %d times and deleted %d times", key, created, deleted)
		}
	}
}

// decisions asks that every event came to what the oracle decided.
func (j *judge) decisions(o *oracle, s sight) {
	for _, e := range j.sc.Events {
		got := s.events[e.eventID()][0]
		if want := o.verdict[e.ID]; !j.fits(want, got) {
			j.say("%s is %s %s %s, must be %s", e.ID, got.status, got.outcome, got.code, want)
		}
	}
}

func (j *judge) fits(want verdict, got staged) bool {
	if want == refused {
		return got.status == "Review"
	}
	if got.status != "Completed" {
		return false
	}
	switch want {
	case stale:
		return got.outcome == "Stale"
	case gone:
		return got.outcome == "Deleted"
	case applied:
		switch got.outcome {
		case "Created", "Updated":
			return true
		case "Unchanged":
			return !j.sc.Design.Guarded
		case "Superseded":
			return j.sc.Design.Coalesce
		}
	}
	return false
}

// report is the story of a case that went wrong, or "".
func (j *judge) report(s sight) string {
	if len(j.problems) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s", strings.Join(j.problems, "\n"), j.sc)
	for _, id := range slices.Sorted(maps.Keys(s.events)) {
		for _, r := range s.events[id] {
			fmt.Fprintf(&b, "%s: %s %s %s attempts %d %s\n   %s\n", id, r.status, r.outcome, r.code, r.attempts, r.problem,
				strings.ReplaceAll(r.history, "\n", "\n   "))
		}
	}
	return b.String()
}
