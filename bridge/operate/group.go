package operate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"sfbridge/bridge/event"
	"sfbridge/salesforce/soql"
)

// maxGroups is how many groups Salesforce gives in one answer.
const maxGroups = 2000

// Group counts events that are alike.
type Group struct {
	Status event.Status `json:"status"`
	Source string       `json:"source"`
	Type   string       `json:"type"`
	Code   string       `json:"code"` // why they wait
	Events int          `json:"events"`
	// Oldest and Newest were received first and last; nil when no row says.
	Oldest *time.Time `json:"oldest"`
	Newest *time.Time `json:"newest"`
}

// Groups counts the events that the filter chooses by status, source, type and
// reason, the largest group first.
func (d *Desk) Groups(ctx context.Context, f Filter) ([]Group, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	merged := map[Group]Group{}
	for _, ids := range f.idLists() {
		if err := d.group(ctx, append(f.conds(), ids), merged); err != nil {
			return nil, fmt.Errorf("grouping events: %w", err)
		}
	}
	groups := make([]Group, 0, len(merged))
	for _, g := range merged {
		groups = append(groups, g)
	}
	slices.SortFunc(groups, func(a, b Group) int {
		return cmp.Or(cmp.Compare(b.Events, a.Events), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Source, b.Source),
			cmp.Compare(a.Type, b.Type), cmp.Compare(a.Status, b.Status))
	})
	return groups, nil
}

func (d *Desk) group(ctx context.Context, conds []soql.Cond, merged map[Group]Group) error {
	by := []string{event.FieldStatus, event.FieldSource, event.FieldType, event.FieldErrorCode}
	text, err := soql.Select(append(by, "COUNT(Id) events", "MIN("+event.FieldReceivedAt+") oldest", "MAX("+event.FieldReceivedAt+") newest")...).
		From(event.Object).Where(conds...).GroupBy(by...).Limit(maxGroups).Build()
	if err != nil {
		return usage("the filter can't be written as a query: %v", err)
	}
	records, err := d.cfg.Org.Query(ctx, text)
	if err != nil {
		return err
	}
	for _, r := range records {
		key := Group{Status: event.Status(r.String(event.FieldStatus)), Source: r.String(event.FieldSource),
			Type: r.String(event.FieldType), Code: r.String(event.FieldErrorCode)}
		g, met := merged[key]
		if !met {
			g = key
		}
		n, _ := r.Int("events")
		g.Events += int(n)
		if t, ok := r.Time("oldest"); ok && (g.Oldest == nil || t.Before(*g.Oldest)) {
			g.Oldest = &t
		}
		if t, ok := r.Time("newest"); ok && (g.Newest == nil || t.After(*g.Newest)) {
			g.Newest = &t
		}
		merged[key] = g
	}
	return nil
}
