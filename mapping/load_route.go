package mapping

import (
	"fmt"
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
	l.judgeObjects()
}

func (l *loader) route(n *strictyaml.Node, position int) *Route {
	m := n.Map(l.Report, routeKeys...)
	l.judgeAuthority(m)
	r := &Route{
		Name:   m.Text("name", fmt.Sprintf("route%d", position+1)),
		Ignore: m.Bool("ignore", false),
		schema: l.schema(m.Get("schema")),
	}
	var sure bool
	if r.when, sure = l.when(m.Get("when")); !sure || n.Kind != strictyaml.Mapping {
		l.unsure[r] = true
	}
	if strings.TrimSpace(r.Name) == "" {
		l.At(m.Get("name"), "the name is empty", "write a short name; metrics and history show it")
	}
	if r.Ignore {
		for _, key := range []string{"records", "schema", "effects", "authority", "reconcile"} {
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
		s := l.record(item)
		l.places[s], s.place = item, l.Place(item)
		r.records = append(r.records, s)
	}
	l.judgeRecords(r)
	l.effects(m.Get("effects"), r)
	if r.authority = l.authority(m.Get("authority")); r.authority == nil {
		r.authority = l.fallback
	}
	l.reconcile(m.Get("reconcile"))
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

// when reads the conditions of a route; none fit every event. It is sure when
// each of them could be read.
func (l *loader) when(n *strictyaml.Node) (out when, sure bool) {
	sure = n == nil || n.Kind == strictyaml.Mapping
	spelled := map[string]string{}
	for _, e := range n.AnyMap(l.Report).Entries() {
		c, ok := l.condition(e)
		before, double := spelled[c.key]
		if double {
			l.Key(e, fmt.Sprintf("%s says the same as %s", e.Key, before), "put the values in one list")
		}
		if !ok || double {
			sure = false
			continue
		}
		spelled[c.key] = e.Key
		out = append(out, c)
	}
	return out, sure
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
	return c, len(c.any) > 0 && len(c.any) == len(items)
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
