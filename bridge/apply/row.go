package apply

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"sfbridge/mapping"
	"sfbridge/salesforce"
)

// action is how a row is sent. The order of the constants is the order of
// groups within one wave and level.
type action int

const (
	upsertByKey action = iota
	changeByID
	removeByID
)

// row is one write of a transaction to a business record.
type row struct {
	do       action
	object   string
	keyField string
	target   targetKey
	id       string // of the record as read; empty for one that is created
	fields   map[string]any
	fixed    mapping.Target

	wave, level int
	creates     bool // the record is not there before this row
	follows     bool // on a record that an earlier row of the transaction creates
	parents     []mapping.Ref
	maker       *row // creates the record earlier in the transaction
	owners      []*entry

	ref     string // "@{…}" for the record's id, once the row has its place
	savedID string // what Salesforce answered
}

// group is the rows that one collection may hold.
type group struct {
	wave, level      int
	do               action
	object, keyField string
}

func (r *row) group() group {
	g := group{wave: r.wave, level: r.level, do: r.do, object: r.target.object}
	if r.do == upsertByKey {
		g.keyField = r.target.field
	}
	return g
}

func compareGroups(a, b group) int {
	return cmp.Or(
		cmp.Compare(a.wave, b.wave), cmp.Compare(a.level, b.level), cmp.Compare(a.do, b.do),
		cmp.Compare(a.object, b.object), cmp.Compare(a.keyField, b.keyField),
	)
}

// compareRows sorts the rows of a group by their parents, so that two
// transactions lock them in the same order.
func compareRows(a, b *row) int {
	return cmp.Or(cmp.Compare(a.lockText(), b.lockText()), cmp.Compare(a.target.key, b.target.key))
}

// foldInto lays this row's values over those of an earlier one that was not
// sent yet. The prior event stays the one that was read.
func (r *row) foldInto(earlier *row) {
	fields := maps.Clone(earlier.fields)
	for _, f := range r.fixed.Fields {
		if f.Parent == "" {
			continue
		}
		if _, set := r.fields[f.Name]; set {
			delete(fields, f.Column)
		}
		if _, cleared := r.fields[f.Column]; cleared {
			delete(fields, f.Name)
		}
	}
	prior := ""
	if o := r.fixed.Order; o != nil {
		prior = o.Prior
	}
	for name, value := range r.fields {
		if name != prior {
			fields[name] = value
		}
	}
	earlier.fields = fields
}

// single is the row as a subrequest of its own: POST for a new record, PATCH
// and DELETE by Id for one that is there.
func (r *row) single(ref string) salesforce.Subrequest {
	out := salesforce.Row{Object: r.object, ID: r.id, Fields: r.fields}
	switch {
	case r.do == removeByID:
		return salesforce.DeleteRow(ref, r.object, r.id)
	case r.creates:
		return salesforce.InsertRow(ref, out)
	case r.id == "" && r.maker != nil:
		out.ID = r.maker.ref
	}
	return salesforce.UpdateRow(ref, out)
}

// collection is rows of one group as one subrequest.
func collection(ref string, rows []*row) salesforce.Subrequest {
	first := rows[0]
	if first.do == removeByID {
		ids := make([]string, len(rows))
		for i, r := range rows {
			ids[i] = r.id
		}
		return salesforce.DeleteRows(ref, ids, true)
	}
	out := make([]salesforce.Row, len(rows))
	for i, r := range rows {
		out[i] = salesforce.Row{Object: r.object, Fields: r.fields}
		if r.do == changeByID {
			out[i].ID = r.id
		}
	}
	if first.do == changeByID {
		return salesforce.UpdateRows(ref, out, true)
	}
	return salesforce.UpsertRows(ref, first.keyField, out, true)
}

// lockText orders rows by the records they point to.
func (r *row) lockText() string {
	if len(r.parents) == 0 {
		return ""
	}
	refs := make([]string, len(r.parents))
	for i, p := range r.parents {
		refs[i] = strings.ToLower(p.Object) + "/" + p.Value
	}
	slices.Sort(refs)
	return strings.Join(refs, "|")
}
