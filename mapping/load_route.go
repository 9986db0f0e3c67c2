package mapping

import (
	"fmt"
	"slices"
	"strings"

	"sfbridge/internal/strictyaml"
	"sfbridge/mapping/path"
)

var (
	routeKeys  = []string{"name", "when", "schema", "records", "ignore", "effects", "authority", "reconcile"}
	recordsDo  = "write records: with at least one object, or ignore: true"
	typeAdvice = "write type: GLOB for the event's type, or a path such as $.livemode: true"
)

// routes reads the routes and what concerns several of them.
func (l *loader) routes(top strictyaml.Map) {
	n := top.Need("routes", "write routes: with at least one route")
	items := n.AsList(l.Report)
	if n != nil && n.Kind == strictyaml.Sequence && len(items) == 0 {
		l.At(n, "there is no route", "write at least one")
	}
	names := map[string]int{}
	for i, item := range items {
		r := l.route(item, i)
		if before, double := names[r.Name]; double {
			l.At(item, fmt.Sprintf("the name %q stands twice (first at routes[%d])", shorten(r.Name), before), "give each route its own name")
		}
		names[r.Name] = i
		l.file.Routes = append(l.file.Routes, r)
	}
	l.judgeRoutes(items)
}

func (l *loader) route(n *strictyaml.Node, position int) *Route {
	m := n.Map(l.Report, routeKeys...)
	l.notYet(m, "effects", "authority", "reconcile")
	r := &Route{
		Name:   m.Text("name", fmt.Sprintf("route%d", position+1)),
		Ignore: m.Bool("ignore", false),
		when:   l.when(m.Get("when")),
		schema: l.schema(m.Get("schema")),
	}
	if strings.TrimSpace(r.Name) == "" {
		l.At(m.Get("name"), "the name is empty", "write a short name; metrics and history show it")
	}
	if r.Ignore {
		for _, key := range []string{"records", "schema"} {
			if m.Has(key) {
				l.Key(m.Entry(key), key+" can't stand beside ignore: true", "remove one of them")
			}
		}
		return r
	}
	records := m.Need("records", recordsDo)
	items := records.AsList(l.Report)
	if records != nil && records.Kind == strictyaml.Sequence && len(items) == 0 {
		l.At(records, "there is no record", recordsDo)
	}
	for _, item := range items {
		r.records = append(r.records, l.record(item))
	}
	l.judgeRecords(r, items)
	return r
}

func (l *loader) schema(n *strictyaml.Node) *schema {
	text, ok := n.AsText(l.Report)
	if !ok {
		return nil
	}
	s, err := loadSchema(text, l.dir)
	if err != nil {
		l.At(n, fmt.Sprintf("the schema %q %s", shorten(text), err), "give the name of a JSON Schema file beside this one")
		return nil
	}
	return s
}

// when reads the conditions of a route; none fit every event.
func (l *loader) when(n *strictyaml.Node) when {
	var out when
	spelled := map[string]string{}
	for _, e := range n.AnyMap(l.Report).Entries() {
		c, ok := l.condition(e)
		if !ok {
			continue
		}
		if before, double := spelled[c.key]; double {
			l.Key(e, fmt.Sprintf("%s says the same as %s", e.Key, before), "put the values in one list")
			continue
		}
		spelled[c.key] = e.Key
		out = append(out, c)
	}
	return out
}

func (l *loader) condition(e strictyaml.Entry) (condition, bool) {
	c := condition{key: e.Key}
	if e.Key != typeKey {
		p, err := path.Parse(e.Key)
		if err != nil {
			l.Key(e, fmt.Sprintf("%q is neither type nor a path", shorten(e.Key)), typeAdvice)
			return c, false
		}
		at := *e.Value
		at.Line, at.Column = e.Line, e.Column
		if !l.allow(&at, p, scope{}) {
			return c, false
		}
		c.key, c.path = p.ContextKey(), p
	}
	items := []*strictyaml.Node{e.Value}
	if e.Value.Kind == strictyaml.Sequence {
		items = e.Value.Items
		if len(items) == 0 {
			l.At(e.Value, "an empty list never fits", "write at least one value, or remove the line")
		}
	}
	for _, item := range items {
		if a, ok := l.alternative(item, e.Key == typeKey); ok {
			c.any = append(c.any, a)
		}
	}
	return c, len(c.any) > 0
}

func (l *loader) alternative(n *strictyaml.Node, isType bool) (alternative, bool) {
	value, ok := n.AsLiteral(l.Report)
	if !ok {
		return alternative{}, false
	}
	text, isText := value.(string)
	if !isText {
		if isType {
			l.At(n, fmt.Sprintf("%s is not text, and an event's type always is", n.Text), fmt.Sprintf("write %q", n.Text))
		}
		return alternative{value: value}, !isType
	}
	g, err := parseGlob(text)
	if err != nil {
		l.At(n, fmt.Sprintf("the glob %q can't be read: %s", shorten(text), err), `write \\ for a backslash`)
		return alternative{}, false
	}
	return alternative{text: true, glob: g}, true
}

// judgeRoutes finds routes that no event reaches, and pairs between which only
// the order in the file decides.
func (l *loader) judgeRoutes(items []*strictyaml.Node) {
	for j, later := range l.file.Routes {
		for i, earlier := range l.file.Routes[:j] {
			if earlier.when.covers(later.when) {
				l.At(items[j], fmt.Sprintf("no event reaches the route %q: the route %q in line %d takes all of them", shorten(later.Name), shorten(earlier.Name), items[i].Line),
					"put the narrower one first, or narrow when")
				break
			}
			if earlier.when.meets(later.when) && !later.when.covers(earlier.when) {
				l.warn.At(items[j], fmt.Sprintf("some events fit both this route and %q in line %d; the first takes them", shorten(earlier.Name), items[i].Line),
					"narrow when so that each event fits one")
			}
		}
	}
}

// judgeRecords settles which record is the guard, and finds fields that two
// records of one target both write.
func (l *loader) judgeRecords(r *Route, items []*strictyaml.Node) {
	guarded := false
	for i, s := range r.records {
		s.target.Guard = !guarded && s.target.Order != nil && !s.target.Each
		guarded = guarded || s.target.Guard
		if s.target.Guard {
			l.judgeGuard(s, items[i])
		}
		for _, before := range r.records[:i] {
			l.judgeShared(before, s, items[i])
		}
	}
}

// judgeGuard warns when the guard orders another thing than the event's object.
func (l *loader) judgeGuard(s *spec, n *strictyaml.Node) {
	object := l.file.Event.Object
	if object == nil || !s.key.template.IsZero() || len(s.key.candidates) != 1 {
		return
	}
	if got := s.key.candidates[0].String(); got != object.String() {
		l.warn.At(n, fmt.Sprintf("the guard's key is %s, the event's object is %s: events are ordered by the object", got, object),
			"order the record that the object names, or set event.object to the key")
	}
}

// judgeShared looks at two records of one object: with one key they write the
// same row, and then each field has one owner.
func (l *loader) judgeShared(a, b *spec, n *strictyaml.Node) {
	if !strings.EqualFold(a.target.Object, b.target.Object) {
		return
	}
	var shared []string
	for _, f := range b.fields {
		if slices.ContainsFunc(a.fields, func(g field) bool { return strings.EqualFold(f.Column, g.Column) }) {
			shared = append(shared, f.Name)
		}
	}
	if len(shared) == 0 {
		return
	}
	what := fmt.Sprintf("two records of %s both write %s", b.target.Object, strings.Join(shared, ", "))
	if a.target.Each == b.target.Each && strings.EqualFold(a.target.KeyField, b.target.KeyField) && a.key.String() == b.key.String() {
		l.At(n, what+" under the same key", "leave each field to one of them")
		return
	}
	l.warn.At(n, what, "make sure that their keys never meet in one event")
}
