package apply

import (
	"maps"
	"strings"

	"sfbridge/bridge/apply/decide"
	"sfbridge/mapping"
	"sfbridge/salesforce"
)

// targetKey names a business record: two keys that the field takes for one
// value are one targetKey.
type targetKey struct{ object, field, key string }

// target is a business record as it was read, or as the events that were
// planned or committed since leave it. Values are replaced, never changed in
// place, so that copies may share them.
type target struct {
	exists    bool
	ambiguous bool
	id        string         // empty while a planned create has none
	values    map[string]any // lower-case column or relationship.field -> value
	tombstone *decide.Standing

	// Within one transaction:
	wave    int  // last wave that writes it, 0 for none
	pointed int  // last wave that writes a record which points to it, 0 for none
	created bool // by an earlier row of the transaction
	removed bool // by an earlier row of the transaction
	last    *row // the row that writes it last
	maker   *row // the row that creates it
}

// forNext is the target as the next transaction finds it.
func (t target) forNext() target {
	t.wave, t.pointed, t.created, t.removed, t.last, t.maker = 0, 0, false, false, nil, nil
	return t
}

// view shows targets, with changes laid over those of its parent.
type view struct {
	parent  *view
	targets map[targetKey]target
}

func newView(parent *view) *view { return &view{parent: parent, targets: map[targetKey]target{}} }

func (v *view) get(k targetKey) target {
	for layer := v; layer != nil; layer = layer.parent {
		if t, known := layer.targets[k]; known {
			return t
		}
	}
	return target{}
}

func (v *view) put(k targetKey, t target) { v.targets[k] = t }

// settle moves this layer's changes into its parent.
func (v *view) settle() { maps.Copy(v.parent.targets, v.targets) }

func (t target) text(column string) string {
	if column == "" {
		return ""
	}
	return textOf(t.values[strings.ToLower(column)])
}

// holder is the target as the decision about one record sees it.
func (t target) holder(fixed mapping.Target) decide.Holder {
	h := decide.Holder{Exists: t.exists, Ambiguous: t.ambiguous, Tombstone: t.tombstone, State: t.text(fixed.State)}
	if o := fixed.Order; o != nil {
		h.EventID = t.text(o.Event)
		h.Order = wholeNumber(t.values[strings.ToLower(o.Field)])
	}
	return h
}

// written is the target after a row with these values.
func (t target) written(fixed mapping.Target, sent map[string]any) target {
	values := make(map[string]any, len(t.values)+len(sent))
	maps.Copy(values, t.values)
	for name, value := range sent {
		setValue(values, name, value)
	}
	for _, f := range fixed.Fields {
		if f.Parent == "" {
			continue
		}
		reference := strings.ToLower(f.Name + "." + f.By)
		if _, cleared := sent[f.Column]; cleared {
			values[reference] = nil
		} else if _, set := sent[f.Name]; set {
			values[strings.ToLower(f.Column)] = values[reference]
		}
	}
	t.exists, t.values = true, values
	return t
}

// shows says whether the target already has every value.
func (t target) shows(sent map[string]any, sh shape) bool {
	for name, value := range sent {
		if reference, isLookup := value.(map[string]any); isLookup {
			for by, v := range reference {
				if textOf(t.values[strings.ToLower(name+"."+by)]) != textOf(v) {
					return false
				}
			}
			continue
		}
		if !salesforce.Same(sh.kindOf(name), value, t.values[strings.ToLower(name)]) {
			return false
		}
	}
	return true
}

// setValue keeps one sent or read value, a related record under
// relationship.field.
func setValue(values map[string]any, name string, value any) {
	name = strings.ToLower(name)
	related, isRelated := value.(map[string]any)
	if !isRelated {
		values[name] = value
		return
	}
	for by, v := range related {
		if by != "attributes" {
			values[name+"."+strings.ToLower(by)] = v
		}
	}
}
