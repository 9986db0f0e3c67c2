package property

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"sfbridge/bridge/effect"
	"sfbridge/bridge/event"
	"sfbridge/bridge/outbound"
)

// receiver takes the effects of a world. It refuses the first two requests of
// every third key.
type receiver struct {
	mu   sync.Mutex
	sent map[string]int // by key
}

func newReceiver() *receiver { return &receiver{sent: map[string]int{}} }

// EffectTarget implements effect.Targets.
func (r *receiver) EffectTarget(_, name string) (effect.Target, bool) {
	return effect.Target{URL: "https://receiver.example/"}, name == "moved"
}

// Do implements effect.HTTP.
func (r *receiver) Do(_ context.Context, req outbound.Request) (outbound.Response, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := req.Header.Get("Idempotency-Key")
	r.sent[key]++
	if len(key)%3 == 0 && r.sent[key] <= 2 {
		return outbound.Response{Status: 503}, nil
	}
	return outbound.Response{Status: 200}, nil
}

// outboxed is a row of the outbox with what the receiver has seen of it.
type outboxed struct {
	status  string
	history string
	sent    int
}

func (w *world) outbox() map[string]outboxed {
	w.receiver.mu.Lock()
	defer w.receiver.mu.Unlock()
	all := map[string]outboxed{}
	for key, n := range w.receiver.sent {
		all[key] = outboxed{status: "no row", sent: n}
	}
	for _, r := range w.org.Rows(event.EffectObject) {
		key := text(r[event.EffectFieldKey])
		all[key] = outboxed{status: text(r[event.EffectFieldStatus]), history: text(r[event.EffectFieldHistory]), sent: all[key].sent}
	}
	return all
}

// effects asks for exactly those that the transitions have caused, each
// delivered at least once under its key and recorded as done once.
func (j *judge) effects(s sight) {
	want := j.transitions(s)
	for _, key := range slices.Sorted(maps.Keys(s.effects)) {
		e := s.effects[key]
		if !want[key] {
			j.say("the effect %s was not caused by any transition: %+v", key, e)
		}
		if e.status != "Done" || e.sent == 0 || strings.Count(e.history, "-> Done") != 1 {
			j.say("the effect %s is not done once: %+v", key, e)
		}
		delete(want, key)
	}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		j.say("the effect %s is missing", key)
	}
}

// transitions are the keys of the effects that must exist, told by the outcomes
// alone: of the events of an object those that were written, in the order in
// which they win, and of these each whose state differs from the one before.
func (j *judge) transitions(s sight) map[string]bool {
	keys := map[string]bool{}
	if !j.sc.Design.Effects {
		return keys
	}
	o := newOracle(j.sc.Design)
	events := slices.Clone(j.sc.Events)
	slices.SortStableFunc(events, o.compare)
	before := map[string]string{}
	for _, e := range events {
		if e.Parent {
			continue
		}
		row, payment := s.events[e.eventID()][0], e.guardKey()
		switch row.outcome {
		case "Created", "Updated", "Superseded":
			if e.State != before[payment] {
				keys[event.EffectKey(e.eventID(), "moved", strings.TrimPrefix(payment, "Payment__c/"))] = true
			}
			before[payment] = e.State
		case "Deleted":
			if !strings.Contains(row.history, "was not there") {
				delete(before, payment)
			}
		}
	}
	return keys
}
