package ledger

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"sfbridge/test/fault/traffic"
)

// Book is the providers' side: what happened there, and what they were told.
type Book struct {
	Events  []traffic.Event
	Answers map[string]map[string]int // by event id and word of the 2xx
}

// Sight is what the org and the receiver of effects hold at the end.
type Sight struct {
	Events  []EventRow
	Records []Record
	Effects []EffectRow
	Posts   map[string]Post // by key
}

// EventRow is a row of Inbound_Event__c.
type EventRow struct {
	ID, Status, Outcome, Code, Queue, History string
	Attempts                                  int
}

// Record is a business record.
type Record struct {
	Object, Key string
	Fields      map[string]any
}

// EffectRow is a row of Outbound_Effect__c.
type EffectRow struct{ Key, Event, Status, Queue, History string }

// Post is what came to the receiver under one key.
type Post struct {
	Times  int
	Bodies map[string]bool
}

// Terms are what a scenario allows besides the rule.
type Terms struct {
	Review  []string // codes with which events may wait for a person
	Charged bool     // events may have been charged attempts
}

// Verdict is what the ledger says.
type Verdict struct {
	Accepted, Lost, Doubled, Review int
	Problems                        []string
}

func (v *Verdict) say(format string, args ...any) {
	v.Problems = append(v.Problems, fmt.Sprintf(format, args...))
}

// Check holds a sight against the book.
func Check(b Book, s Sight, terms Terms) Verdict {
	v := &Verdict{}
	rows := v.events(b, s, terms)
	if v.Review == 0 {
		v.records(b, s)
		v.outcomes(b, rows)
		v.effects(b, s, rows)
	}
	return *v
}

// events asks for one row for each event that was taken, at an end.
func (v *Verdict) events(b Book, s Sight, terms Terms) map[string]EventRow {
	rows := map[string]EventRow{}
	for _, r := range s.Events {
		if _, twice := rows[r.ID]; twice {
			v.Doubled++
			v.say("%s has several rows", r.ID)
		}
		rows[r.ID] = r
	}
	known := map[string]bool{}
	for _, e := range b.Events {
		known[e.ID] = true
		v.event(e.ID, b.Answers[e.ID], rows, terms)
	}
	for _, id := range slices.Sorted(maps.Keys(rows)) {
		if !known[id] {
			v.say("%s was never sent", id)
		}
	}
	return rows
}

func (v *Verdict) event(id string, answers map[string]int, rows map[string]EventRow, terms Terms) {
	if len(answers) == 0 {
		v.say("%s was never taken", id)
		return
	}
	v.Accepted++
	if answers["conflict"] > 0 {
		v.say("%s was answered conflict", id)
	}
	r, found := rows[id]
	if !found {
		v.Lost++
		v.say("%s was taken (%v) and is lost", id, answers)
		return
	}
	switch {
	case r.Status == "Review" && slices.Contains(terms.Review, r.Code):
		v.Review++
	case r.Status != "Completed" || r.Outcome == "":
		v.say("%s is at no end: %+v", id, r)
	case moves(r.History, "Completed") != 1:
		v.say("%s was completed %d times: %s", id, moves(r.History, "Completed"), r.History)
	}
	if r.Queue != "" {
		v.say("%s is still in queue %s", id, r.Queue)
	}
	if r.Attempts > 0 && !terms.Charged {
		v.say("%s was charged %d attempts: %s", id, r.Attempts, r.History)
	}
}

// moves counts how often a row was moved to a state. Lines that leave a row in
// its state, such as the counts of duplicates, are no moves.
func moves(history, state string) int {
	return strings.Count(history, "-> "+state) - strings.Count(history, state+" -> "+state)
}

// records asks for one record of each object, with the last word on it.
func (v *Verdict) records(b Book, s Sight) {
	last := lastWords(b.Events)
	seen := map[string]bool{}
	for _, r := range s.Records {
		name := r.Object + "/" + r.Key
		e, known := last[name]
		switch {
		case !known:
			v.say("%s belongs to nothing that was sent", name)
		case seen[name]:
			v.Doubled++
			v.say("%s is there twice", name)
		default:
			v.compare(name, e.Record(), r.Fields)
		}
		seen[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(last)) {
		if !seen[name] {
			v.Lost++
			v.say("%s is missing", name)
		}
	}
}

func (v *Verdict) compare(name string, want, got map[string]any) {
	for _, field := range slices.Sorted(maps.Keys(want)) {
		if got[field] != want[field] {
			v.say("%s: %s is %v, must be %v", name, field, got[field], want[field])
		}
	}
}

// lastWords is the event of each record that has the last word on it.
func lastWords(events []traffic.Event) map[string]traffic.Event {
	last := map[string]traffic.Event{}
	for _, e := range events {
		name := e.Object + "/" + e.Key
		if before, known := last[name]; !known || e.Later(before) {
			last[name] = e
		}
	}
	return last
}

// outcomes asks that the outcomes of an object's events tell one story: it was
// created once, and the last word was no late comer.
func (v *Verdict) outcomes(b Book, rows map[string]EventRow) {
	created := map[string]int{}
	last := lastWords(b.Events)
	for _, e := range b.Events {
		name := e.Object + "/" + e.Key
		switch r := rows[e.ID]; r.Outcome {
		case "Created":
			created[name]++
		case "Updated":
		case "Stale":
			if last[name].ID == e.ID {
				v.say("%s has the last word on %s and is Stale", e.ID, name)
			}
		default:
			v.say("%s can't be %q", e.ID, r.Outcome)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(last)) {
		if created[name] != 1 {
			v.say("%s was created %d times", name, created[name])
		}
	}
}
