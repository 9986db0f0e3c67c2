package reconcile

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sfbridge/bridge/event"
	"sfbridge/bridge/identify"
	"sfbridge/mapping"
	"sfbridge/salesforce"
	"sfbridge/salesforce/soql"
)

// object is one object of a page with what Salesforce ought to hold of it.
type object struct {
	event   *event.Event
	records []mapping.Record
	drift   []Drift
}

// target names the rows of one object by one external ID.
type target struct{ object, key string }

// batch is the records of a page that are read by one target.
type batch struct {
	target
	shape   shape
	columns map[string]bool
	keys    map[string]string // folded key: as written
	rows    map[string][]salesforce.Record
}

// objects makes an event of each item of a page and maps it. What can't be
// mapped is drift of its own; what is too young is left for the next sweep.
func (r *Reconciler) objects(c Comparison, p page, s *sweeping) ([]*object, error) {
	items, err := c.Plan.Items.Elements(pageScope(p))
	if err != nil {
		return nil, fmt.Errorf("the objects of a page: %w", err)
	}
	var list []*object
	for _, item := range items {
		s.Objects++
		found, err := c.Maker.Make(identify.Listed{
			Object: item, Type: c.Plan.Type, Into: c.Plan.Into, Order: orderOf(c.Plan), ReadAt: p.asked, Sweep: s.StartedAt,
		})
		if err != nil {
			s.add(Drift{Kind: Unmapped, Reason: err.Error()})
			continue
		}
		if o := r.mapped(c, found, s); o != nil {
			list = append(list, o)
		}
	}
	return list, nil
}

func orderOf(plan *mapping.Reconcile) *identify.Order {
	if plan.Order == nil {
		return nil
	}
	return &identify.Order{Paths: plan.Order.Paths, As: identify.Unit(plan.Order.As)}
}

// mapped is nil when there is nothing to compare.
func (r *Reconciler) mapped(c Comparison, found identify.Identified, s *sweeping) *object {
	e := found.Event
	in := mapping.Input{EventID: e.ID, Type: e.Type, Order: e.Order, Scope: found.Scope}
	route, ok := c.Mapping.Route(in)
	if !ok {
		s.add(Drift{Kind: Unmapped, ObjectID: e.ObjectID, Reason: "no route takes it"})
		return nil
	}
	if route.Ignore {
		return nil
	}
	records, faults := route.Records(in)
	if len(faults) > 0 {
		s.add(Drift{Kind: Unmapped, ObjectID: e.ObjectID, Reason: faults[0].Error()})
		return nil
	}
	for _, rec := range records {
		s.listed(rec)
	}
	if o := c.Plan.Order; o != nil && identify.Unit(o.As).IsTime() && r.cfg.Now().UnixMilli()-*e.Order < r.cfg.Young.Milliseconds() {
		s.Young++
		return nil
	}
	return &object{event: &e, records: records}
}

// compare reads the targets of a page's objects and notes what differs.
func (r *Reconciler) compare(ctx context.Context, list []*object, s *sweeping) error {
	batches, err := r.batches(ctx, list)
	if err != nil {
		return err
	}
	for _, b := range batches {
		if err := r.read(ctx, b); err != nil {
			return err
		}
	}
	for _, o := range list {
		newer := false
		for _, rec := range o.records {
			b := batches[target{rec.Object, rec.Key.Field}]
			s.Records++
			d, isNewer := b.judge(rec, *o.event.Order)
			newer = newer || isNewer
			if d != nil {
				d.ObjectID = o.event.ObjectID
				o.drift = append(o.drift, *d)
			}
		}
		if newer { // a later event has been here: the list is what is old
			o.drift = nil
			s.Young++
		}
	}
	return nil
}

func (r *Reconciler) batches(ctx context.Context, list []*object) (map[target]*batch, error) {
	all := map[target]*batch{}
	for _, o := range list {
		for _, rec := range o.records {
			t := target{rec.Object, rec.Key.Field}
			b := all[t]
			if b == nil {
				sh, err := r.shapes.of(ctx, rec.Object, r.cfg.Now())
				if err != nil {
					return nil, err
				}
				b = &batch{target: t, shape: sh, columns: map[string]bool{}, keys: map[string]string{}, rows: map[string][]salesforce.Record{}}
				all[t] = b
			}
			b.keys[b.shape.fold(t.key, rec.Key.Value)] = rec.Key.Value
			for _, column := range columns(rec) {
				b.columns[column] = true
			}
		}
	}
	return all, nil
}

// values are what the record ought to hold once it exists.
func values(rec mapping.Record) map[string]any {
	all := maps.Clone(rec.Fields)
	if all == nil {
		all = map[string]any{}
	}
	if rec.State != nil && rec.State.Value != nil {
		all[rec.State.Field] = *rec.State.Value
	}
	return all
}

func columns(rec mapping.Record) []string {
	var list []string
	for name, v := range values(rec) {
		reference, isLookup := v.(map[string]any)
		if !isLookup {
			list = append(list, name)
			continue
		}
		for by := range reference {
			list = append(list, name+"."+by)
		}
	}
	if rec.Order != nil {
		list = append(list, rec.Order.Field)
	}
	return list
}

// keysBudget bounds the keys of one query, in bytes as an address carries them.
const keysBudget = 8_000

func (r *Reconciler) read(ctx context.Context, b *batch) error {
	fields := []string{"Id", b.key}
	for _, column := range slices.Sorted(maps.Keys(b.columns)) {
		if !slices.ContainsFunc(fields, func(f string) bool { return strings.EqualFold(f, column) }) {
			fields = append(fields, column)
		}
	}
	for _, keys := range soql.Chunks(slices.Sorted(maps.Values(b.keys)), keysBudget, 200) {
		text, err := soql.Select(fields...).From(b.object).Where(soql.In(b.key, keys)).Build()
		if err != nil {
			return fmt.Errorf("reading %s: %w", b.object, err)
		}
		records, err := r.org.Query(ctx, text)
		if err != nil {
			return fmt.Errorf("reading %s: %w", b.object, err)
		}
		for _, rec := range records {
			folded := b.shape.fold(b.key, rec.String(b.key))
			b.rows[folded] = append(b.rows[folded], rec)
		}
	}
	return nil
}

// judge compares one record; newer says that the target has seen a later event
// than the list.
func (b *batch) judge(rec mapping.Record, order int64) (d *Drift, newer bool) {
	rows := b.rows[b.shape.fold(b.key, rec.Key.Value)]
	found := Drift{Object: rec.Object, KeyField: rec.Key.Field, Key: rec.Key.Value}
	switch {
	case len(rows) > 1:
		found.Kind, found.Reason = Different, "several records have this key"
		return &found, false
	case len(rows) == 0 && rec.Action == mapping.Upsert:
		found.Kind = Missing
		return &found, false
	case len(rows) == 0: // an update makes no record, and a deleted one is gone
		return nil, false
	}
	row := rows[0]
	if rec.Order != nil {
		if held, ok := row.Int(rec.Order.Field); ok && held > order {
			return nil, true
		}
	}
	found.Kind, found.RowID = Different, row.ID()
	if rec.Action == mapping.Delete {
		found.Reason = "the record should be gone"
		return &found, false
	}
	if found.Fields = b.differences(rec, row); len(found.Fields) == 0 {
		return nil, false
	}
	return &found, false
}

func (b *batch) differences(rec mapping.Record, row salesforce.Record) []FieldDiff {
	var list []FieldDiff
	sent := values(rec)
	for _, name := range slices.Sorted(maps.Keys(sent)) {
		reference, isLookup := sent[name].(map[string]any)
		if !isLookup {
			if !b.shape.same(name, sent[name], row[columnOf(row, name)]) {
				list = append(list, FieldDiff{name, sent[name], row[columnOf(row, name)]})
			}
			continue
		}
		parent := row.Sub(columnOf(row, name))
		for by, want := range reference {
			if held := parent[columnOf(parent, by)]; !salesforce.Same("", want, held) {
				list = append(list, FieldDiff{name + "." + by, want, held})
			}
		}
	}
	return list
}

// columnOf is the name under which a record holds a field, whatever its case.
func columnOf(r salesforce.Record, name string) string {
	if _, there := r[name]; there {
		return name
	}
	for held := range r {
		if strings.EqualFold(held, name) {
			return held
		}
	}
	return name
}
