package ledger

import (
	"maps"
	"slices"

	"sfbridge/test/fault/traffic"
)

// effects asks for exactly the effects of the transitions that were made. An
// older event never overwrites a newer one, so the events that were written
// were written in their order, and that order tells the transitions.
func (v *Verdict) effects(b Book, s Sight, rows map[string]EventRow) {
	caused := transitions(b.Events, rows)
	for _, row := range s.Effects {
		if !caused[row.Event] {
			v.say("effect %s is of no transition, or there twice", row.Key)
			continue
		}
		delete(caused, row.Event)
		v.delivered(row, s.Posts[row.Key])
	}
	for _, id := range slices.Sorted(maps.Keys(caused)) {
		v.say("%s has made its payment succeed, but there is no effect of it", id)
	}
	known := map[string]bool{}
	for _, row := range s.Effects {
		known[row.Key] = true
	}
	for _, key := range slices.Sorted(maps.Keys(s.Posts)) {
		if !known[key] {
			v.say("a request came under the key %s, which is of no effect", key)
		}
	}
}

// delivered asks that an effect was sent, always the same, and is done.
func (v *Verdict) delivered(row EffectRow, p Post) {
	switch {
	case row.Status != "Done" || row.Queue != "":
		v.say("effect %s is at no end: %+v", row.Key, row)
	case moves(row.History, "Done") != 1:
		v.say("effect %s was recorded as done %d times: %s", row.Key, moves(row.History, "Done"), row.History)
	case p.Times == 0:
		v.say("effect %s was never sent", row.Key)
	case len(p.Bodies) != 1:
		v.say("effect %s was sent with %d different bodies", row.Key, len(p.Bodies))
	}
}

// transitions are the events that made a payment succeed.
func transitions(events []traffic.Event, rows map[string]EventRow) map[string]bool {
	byKey := map[string][]traffic.Event{}
	for _, e := range events {
		if o := rows[e.ID].Outcome; e.State != "" && (o == "Created" || o == "Updated") {
			byKey[e.Key] = append(byKey[e.Key], e)
		}
	}
	caused := map[string]bool{}
	for _, written := range byKey {
		slices.SortFunc(written, func(a, b traffic.Event) int {
			if b.Later(a) {
				return -1
			}
			return 1
		})
		state := ""
		for _, e := range written {
			if e.State == traffic.Succeeded && state != traffic.Succeeded {
				caused[e.ID] = true
			}
			state = e.State
		}
	}
	return caused
}
