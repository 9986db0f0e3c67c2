package realinput_test

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/test/harness"
)

// fact is what a payload says, read from the files without the product.
type fact struct {
	eventType string
	entity    string // the provider's object
	order     int64  // of the event within the entity, epoch milliseconds
	deletes   bool   // it says that the object is gone
	rank      int    // of its state among the states of the entity
	writes    []write
}

// write is one record that an event wants: the first one of a fact judges
// whether the event is stale.
type write struct {
	object, keyField, key string
	fields                map[string]any // what the record must then show: text, float64, bool or nil
}

func (w write) ref() string { return w.object + "/" + w.key }

// oracle works out what must be in the org: an event that is older than the
// one that wrote its record changes nothing. Older is a matter of order; of
// equal ones a delete is the later, then the higher state, then the id.
type oracle struct {
	records  map[string]write
	holders  map[string]delivery // who wrote a record last, or deleted it
	outcomes map[string]string
}

func newOracle() *oracle {
	return &oracle{records: map[string]write{}, holders: map[string]delivery{}, outcomes: map[string]string{}}
}

func later(a, b delivery) int {
	return cmp.Or(
		cmp.Compare(a.fact.order, b.fact.order), compareBool(a.fact.deletes, b.fact.deletes),
		cmp.Compare(a.fact.rank, b.fact.rank), strings.Compare(a.event, b.event),
	)
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// apply lets one event have its effect after all before it.
func (o *oracle) apply(d delivery) {
	ref := d.fact.writes[0].ref()
	holder, held := o.holders[ref]
	_, exists := o.records[ref]
	switch {
	case held && later(d, holder) < 0 && !(d.fact.deletes && !exists):
		o.outcomes[d.event] = "Stale"
		return
	case d.fact.deletes:
		o.outcomes[d.event] = "Deleted"
		delete(o.records, ref)
		o.holders[ref] = d
		return
	case exists:
		o.outcomes[d.event] = "Updated"
	default:
		o.outcomes[d.event] = "Created"
	}
	o.holders[ref] = d
	for _, w := range d.fact.writes {
		old := o.records[w.ref()]
		for name, value := range old.fields { // what this event doesn't name stays
			if _, named := w.fields[name]; !named {
				w.fields[name] = value
			}
		}
		o.records[w.ref()] = w
	}
}

// oldestFirst is how events that wait together are worked on: by order, then
// by event id, each entity for itself.
func oldestFirst(list []delivery) []delivery {
	out := slices.Clone(mapped(list))
	slices.SortFunc(out, func(a, b delivery) int {
		return cmp.Or(cmp.Compare(a.fact.order, b.fact.order), strings.Compare(a.event, b.event))
	})
	return out
}

// newest splits off the latest event of each entity.
func newest(list []delivery) (latest, rest []delivery) {
	best := map[string]delivery{}
	for _, d := range mapped(list) {
		key := d.source + "/" + d.fact.entity
		if b, found := best[key]; !found || later(d, b) > 0 {
			best[key] = d
		}
	}
	for _, d := range list {
		if d.fact != nil && best[d.source+"/"+d.fact.entity].event == d.event {
			latest = append(latest, d)
		} else {
			rest = append(rest, d)
		}
	}
	return latest, rest
}

// checkRecords holds every object of the org to the oracle's records.
func (o *oracle) checkRecords(t *testing.T, org *harness.Org, objects ...string) {
	t.Helper()
	for _, object := range objects {
		want := map[string]map[string]any{}
		names := map[string]bool{}
		keyField := ""
		for _, w := range o.records {
			if w.object == object {
				want[w.key], keyField = w.fields, w.keyField
				for name := range w.fields {
					names[name] = true
				}
			}
		}
		require.Equal(t, len(want), org.Stats(t).Rows[object], object)
		if len(want) == 0 {
			continue
		}
		columns := append([]string{keyField}, sorted(names)...)
		got := map[string]map[string]any{}
		for _, row := range org.Query(t, "SELECT "+strings.Join(columns, ", ")+" FROM "+object) {
			got[row[keyField].(string)] = flat(t, row, names)
		}
		assert.Equal(t, want, got, object)
	}
}

// flat reads the named fields of a row; a parent's field has a dot in its name.
func flat(t *testing.T, row harness.Row, names map[string]bool) map[string]any {
	t.Helper()
	out := map[string]any{}
	for name := range names {
		var value any = map[string]any(row)
		for part := range strings.SplitSeq(name, ".") {
			parent, ok := value.(map[string]any)
			require.True(t, ok, "%s: no parent", name)
			value = parent[part]
		}
		if n, ok := value.(json.Number); ok {
			value = number(t, n)
		}
		out[name] = value
	}
	return out
}

func sorted(names map[string]bool) []string {
	var out []string
	for name := range names {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}
