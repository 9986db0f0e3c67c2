package apply

import (
	"fmt"
	"strings"

	"sfbridge/bridge/event"
	"sfbridge/mapping"
	"sfbridge/mapping/path"
	payload "sfbridge/mapping/view"
)

// prepare maps an event. What needs no look at targets is decided here.
func (a *Applier) prepare(ev *event.Event, place int) *item {
	it := &item{ev: ev, place: place, revision: ev.Revision}
	file, known := a.cfg.Mappings.Mapping(ev.Source)
	if !known {
		it.review(event.CodeMapping, "no mapping is configured for the source "+ev.Source)
		return it
	}
	it.file = file
	in, err := Input(ev)
	if err != nil {
		it.review(event.CodePayload, err.Error())
		return it
	}
	route, matched := file.Route(in)
	switch {
	case !matched && file.Unmatched == mapping.UnmatchedIgnore:
		it.ignore("no route matches and the mapping ignores that")
		return it
	case !matched:
		it.review(event.CodeUnmatched, "no route of the mapping matches an event of type "+ev.Type)
		return it
	}
	it.route = route
	if route.Ignore {
		it.ignore("route " + route.Name + " ignores it")
		return it
	}
	it.targets, it.watching = route.Targets(), route.EffectTargets()
	if ask := route.Authority(); consults(ask, ev.Trust) && a.cfg.Authority != nil {
		if until, paused := a.pauses.until(ev.Source, route.Name); paused {
			it.leave(Paused, until)
			return it
		}
		it.address(ask, in)
		return it
	}
	it.mapped(a, in)
	return it
}

// mapped turns the event into records, and into the effects that they may
// cause.
func (it *item) mapped(a *Applier, in mapping.Input) {
	records, problems := it.route.Records(in)
	problems = append(problems, unfitKeys(records)...)
	if len(problems) == 0 {
		it.effects, problems = it.route.Effects(in, records)
	}
	if len(problems) > 0 {
		it.review(event.CodeField, fieldProblems(problems))
		return
	}
	it.records = records
	if until, paused := a.pauses.until(it.ev.Source, it.route.Name); paused {
		it.leave(Paused, until)
	}
}

// Input is what a mapping makes records of: a stored event, with its payload and
// what was kept of its delivery.
func Input(ev *event.Event) (mapping.Input, error) {
	if len(ev.Payload) == 0 {
		return mapping.Input{}, fmt.Errorf("the payload is missing or can't be read")
	}
	tree, err := payload.Decode(ev.Payload)
	if err != nil {
		return mapping.Input{}, fmt.Errorf("the payload can't be read: %w", err)
	}
	outer, err := path.ParseContext(ev.Context)
	if err != nil {
		return mapping.Input{}, fmt.Errorf("the stored context can't be read: %w", err)
	}
	return mapping.Input{
		EventID: ev.ID, Type: ev.Type, Order: ev.Order,
		Scope: path.Scope{Event: tree, Outer: outer},
	}, nil
}

// unfitKeys are keys that no query can ask for.
func unfitKeys(records []mapping.Record) []mapping.FieldError {
	var problems []mapping.FieldError
	for _, rec := range records {
		if strings.ContainsRune(rec.Key.Value, 0) {
			problems = append(problems, mapping.FieldError{
				Object: rec.Object, Field: rec.Key.Field, Reason: "a key can't hold a NUL character",
			})
		}
	}
	return problems
}

func fieldProblems(problems []mapping.FieldError) string {
	text := problems[0].Error()
	if more := len(problems) - 1; more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text
}

func (it *item) review(code, why string) {
	it.verdict = &verdict{status: event.Review, code: code, why: why, attempts: it.ev.Attempts}
}

func (it *item) ignore(why string) {
	it.verdict = &verdict{status: event.Completed, outcome: event.Ignored, why: why, attempts: it.ev.Attempts}
}
