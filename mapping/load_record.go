package mapping

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sfbridge/internal/strictyaml"
	"sfbridge/mapping/path"
)

var (
	apiName    = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{0,79}$`)
	recordKeys = []string{"object", "action", "key", "order", "state", "coalesce", "each", "fields"}
)

// The fields of order: true.
const (
	defaultOrderField = "Source_Order__c"
	defaultEventField = "Source_Event__c"
	defaultPriorField = "Source_Prior__c"
)

func (l *loader) record(n *strictyaml.Node) *spec {
	m := n.Map(l.Report, recordKeys...)
	s := &spec{each: l.list(m.Get("each"), scope{})}
	here := scope{element: m.Has("each")}
	t := &s.target
	t.Object = l.apiName(m.Need("object", "write object: and the API name of the object, such as Payment__c"), "an object")
	t.Action = Action(m.Enum("action", string(Upsert), string(Update), string(Delete)))
	t.Coalesce = m.Bool("coalesce", false)
	t.Each = m.Has("each")
	s.key = l.key(m, t, here)
	t.KeyPaths = s.key.paths()
	t.Order = l.order(m.Get("order"))
	s.fields = l.fields(m.Get("fields"), here)
	for _, f := range s.fields {
		t.Fields = append(t.Fields, f.TargetField)
	}
	l.state(m.Get("state"), s)
	l.judgeAction(m, s)
	l.judgeColumns(m, s)
	return s
}

// apiName reads the name of an object or field as Salesforce spells it.
func (l *loader) apiName(n *strictyaml.Node, what string) string {
	text, ok := n.AsText(l.Report)
	if ok && !apiName.MatchString(text) {
		l.At(n, fmt.Sprintf("%q is not the API name of %s", shorten(text), what), "write it as Setup shows it: letters, digits and _, such as Payment__c")
	}
	return text
}

func (l *loader) key(record strictyaml.Map, t *Target, s scope) key {
	m := record.Need("key", "write key: {field: EXTERNAL_ID_FIELD, from: $.PATH}").Map(l.Report, "field", "from", "first", "template")
	t.KeyField = l.apiName(m.Need("field", "write field: and the external ID field"), "a field")
	if t.Action == Upsert && strings.EqualFold(t.KeyField, "Id") {
		l.At(m.Get("field"), "Id can't be the key of an upsert", "use an external ID field")
	}
	if !m.Has("template") {
		k := key{candidates: l.fromOrFirst(m, s)}
		l.judgeEachKey(m, t, k.candidates)
		return k
	}
	if m.Has("from") || m.Has("first") {
		l.Key(m.Entry("template"), "template stands beside from or first", "keep one of them")
	}
	tpl, ok := l.template(m.Get("template"), path.Key, s)
	if ok {
		l.judgeEachKey(m, t, tpl.Paths())
	}
	return key{template: tpl}
}

// judgeEachKey: a key that doesn't depend on the element would write one
// record over and over.
func (l *loader) judgeEachKey(m strictyaml.Map, t *Target, paths []path.Path) {
	if !t.Each || len(paths) == 0 {
		return
	}
	if !slices.ContainsFunc(paths, func(p path.Path) bool { return p.Root() == path.RootElement }) {
		l.At(m.Node(), "every element of each gets the same key", `build the key from the element, such as template: "{$.id}/{@.id}"`)
	}
}

func (l *loader) template(n *strictyaml.Node, escaping path.Escaping, s scope) (path.Template, bool) {
	text, ok := n.AsText(l.Report)
	if !ok {
		return path.Template{}, false
	}
	t, err := path.ParseTemplate(text, escaping)
	if err != nil {
		l.bad(n, err)
		return path.Template{}, false
	}
	for _, p := range t.Paths() {
		ok = l.allow(n, p, s) && ok
	}
	return t, ok
}

// order reads true, false, or the three field names.
func (l *loader) order(n *strictyaml.Node) *OrderFields {
	if n == nil {
		return nil
	}
	if n.Kind != strictyaml.Mapping {
		if on, ok := n.AsBool(l.Report); !ok || !on {
			return nil
		}
		return &OrderFields{Field: defaultOrderField, Event: defaultEventField, Prior: defaultPriorField}
	}
	m := n.Map(l.Report, "field", "event", "prior")
	o := &OrderFields{Field: l.apiName(m.Need("field", "write field: and the number field that keeps the order value"), "a field")}
	if m.Has("event") {
		o.Event = l.apiName(m.Get("event"), "a field")
	}
	if m.Has("prior") {
		o.Prior = l.apiName(m.Get("prior"), "a field")
	}
	switch {
	case o.Prior != "" && o.Event == "":
		l.At(m.Get("prior"), "prior needs event beside it: it holds the event id the target had", "write event: and the text field that keeps the event id")
	case o.Prior == "":
		l.warn.At(n, "without prior the stale guard rests on the read alone", "add event and prior and the rule Refuse_Moved on the target")
	}
	return o
}

// state reads the field and the allowed steps.
func (l *loader) state(n *strictyaml.Node, s *spec) {
	if n == nil {
		return
	}
	m := n.Map(l.Report, "field", "allow")
	t := &s.target
	t.State = l.apiName(m.Need("field", "write field: and the field that holds the state"), "a field")
	allow := m.Need("allow", "write allow: {From: [To, …]}")
	t.Machine = newMachine(l.steps(allow))
	if t.State == "" || allow == nil {
		return
	}
	i := slices.IndexFunc(s.fields, func(f field) bool { return strings.EqualFold(f.Name, t.State) })
	switch {
	case i < 0:
		l.At(m.Get("field"), fmt.Sprintf("%s is not among the record's fields", t.State), "map it under fields")
	case s.fields[i].On != "":
		l.At(m.Get("field"), fmt.Sprintf("%s is sent on %s only", t.State, s.fields[i].On), "leave on: out of the field that holds the state")
	default:
		t.State = s.fields[i].Name
		l.judgeStates(m.Get("field"), t.Machine, s.fields[i])
	}
}

func (l *loader) steps(n *strictyaml.Node) []step {
	m := n.AnyMap(l.Report)
	if n != nil && n.Kind == strictyaml.Mapping && len(m.Entries()) == 0 {
		l.At(n, "no step is allowed", "write allow: {From: [To, …]}")
	}
	var out []step
	for _, e := range m.Entries() {
		line := step{from: e.Key}
		for _, item := range e.Value.AsList(l.Report) {
			if to, ok := item.AsText(l.Report); ok {
				line.to = append(line.to, to)
			}
		}
		out = append(out, line)
	}
	return out
}

// judgeStates warns of states that the field can get and allow doesn't name.
func (l *loader) judgeStates(n *strictyaml.Node, m *Machine, f field) {
	for _, name := range sortedKeys(f.rule.spec.Map) {
		if state, is := f.rule.spec.Map[name].(string); is && state != "" && m.Rank(state) < 0 {
			l.warn.At(n, fmt.Sprintf("the map gives %q, which allow doesn't name: events that bring it to an existing record end in review", shorten(state)), "name it in allow")
		}
	}
}

// judgeAction refuses what an action can't do.
func (l *loader) judgeAction(m strictyaml.Map, s *spec) {
	switch s.target.Action {
	case Delete:
		for _, name := range []string{"fields", "state"} {
			if m.Has(name) {
				l.Key(m.Entry(name), "a delete writes no "+name, "remove it")
			}
		}
	default:
		fields := m.Need("fields", "write fields: with at least one field")
		if fields != nil && fields.Kind == strictyaml.Mapping && len(fields.Entries) == 0 {
			l.At(fields, "there is no field", "write at least one")
		}
	}
	if s.target.Action != Update {
		return
	}
	for _, f := range s.fields {
		if f.On == OnCreate {
			l.At(m.Get("fields"), fmt.Sprintf("%s is sent on create only, and an update never creates", f.Name), "remove on: create or the field")
		}
	}
}

// judgeColumns refuses a column that is written twice in one record, in any
// case and as lookup or plain field.
func (l *loader) judgeColumns(m strictyaml.Map, s *spec) {
	t := s.target
	taken := map[string]string{}
	take := func(at strictyaml.Entry, column, role string) {
		before, double := taken[strings.ToLower(column)]
		switch {
		case column == "":
		case double:
			l.Key(at, fmt.Sprintf("%s writes the column %s, and so does %s", role, column, before), "keep one of them")
		default:
			taken[strings.ToLower(column)] = role
		}
	}
	take(m.Entry("key"), t.KeyField, "key")
	if t.Order != nil {
		take(m.Entry("order"), t.Order.Field, "order")
		take(m.Entry("order"), t.Order.Event, "order (event id)")
		take(m.Entry("order"), t.Order.Prior, "order (prior event id)")
	}
	for _, e := range m.Get("fields").Members() {
		if i := slices.IndexFunc(s.fields, func(f field) bool { return f.Name == e.Key }); i >= 0 {
			take(e, s.fields[i].Column, e.Key)
		}
	}
}
