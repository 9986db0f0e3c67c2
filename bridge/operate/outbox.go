package operate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"sfbridge/bridge/event"
	"sfbridge/salesforce/soql"
)

// EffectFilter chooses rows of the outbox. What is set must all hold.
type EffectFilter struct {
	Event  string // Event_Id__c of the event that caused them
	Name   string
	Status []event.EffectStatus
	Limit  int // most rows; 0: 100
}

// StoredEffect is a row of the outbox with the event that caused it.
type StoredEffect struct {
	*event.Effect
	EventID string
}

// ParseEffectStatus reads a status of an effect in any letter case.
func ParseEffectStatus(s string) (event.EffectStatus, error) {
	all := event.EffectStatuses()
	at := slices.IndexFunc(all, func(e event.EffectStatus) bool { return strings.EqualFold(string(e), s) })
	if at < 0 {
		return "", usage("unknown status %q: want one of %v", s, all)
	}
	return all[at], nil
}

func (f EffectFilter) conds() []soql.Cond {
	var conds []soql.Cond
	if f.Event != "" {
		conds = append(conds, soql.Eq(effectEventID, f.Event))
	}
	if f.Name != "" {
		conds = append(conds, soql.Eq(event.EffectFieldName, f.Name))
	}
	if len(f.Status) > 0 {
		names := make([]string, len(f.Status))
		for i, s := range f.Status {
			names[i] = string(s)
		}
		conds = append(conds, soql.In(event.EffectFieldStatus, names))
	}
	return conds
}

const effectEventID = "Event__r." + event.FieldID

// Effects lists rows of the outbox, newest first, without their requests.
func (d *Desk) Effects(ctx context.Context, f EffectFilter) ([]StoredEffect, error) {
	switch {
	case f.Limit < 0 || f.Limit > largestPage:
		return nil, usage("a limit of %d effects: 1 to %d", f.Limit, largestPage)
	case f.Limit == 0:
		f.Limit = defaultPage
	}
	text, err := soql.Select(append(event.EffectFields(), effectEventID)...).From(event.EffectObject).
		Where(f.conds()...).OrderBy("Id DESC").Limit(f.Limit).Build()
	if err != nil {
		return nil, usage("the filter can't be written as a query: %v", err)
	}
	records, err := d.cfg.Org.Query(ctx, text)
	if err != nil {
		return nil, fmt.Errorf("listing effects: %w", err)
	}
	list := make([]StoredEffect, len(records))
	for i, r := range records {
		e, err := event.EffectFromRecord(r)
		if err != nil {
			d.cfg.Log.Warn("an effect can't be read in full", "row", e.RowID, "error", err)
		}
		list[i] = StoredEffect{Effect: e, EventID: r.Sub("Event__r").String(event.FieldID)}
	}
	return list, nil
}

// effects reads what the event of a row has caused, oldest first, with the
// requests.
func (d *Desk) effects(ctx context.Context, row string) ([]*event.Effect, error) {
	text, err := soql.Select(append(event.EffectFields(), event.EffectFieldRequest)...).From(event.EffectObject).
		Where(soql.Eq(event.EffectFieldEvent, row)).OrderBy("Id").Build()
	if err != nil {
		return nil, err
	}
	records, err := d.cfg.Org.Query(ctx, text)
	if err != nil {
		return nil, err
	}
	list := make([]*event.Effect, len(records))
	for i, r := range records {
		if list[i], err = event.EffectFromRecord(r); err != nil {
			d.cfg.Log.Warn("an effect can't be read in full", "row", list[i].RowID, "error", err)
		}
	}
	return list, nil
}
