package mapping

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"sfbridge/internal/strictyaml"
	"sfbridge/mapping/path"
	"sfbridge/mapping/transform"
)

var (
	sourceKeys = []string{"from", "first", "template", "value"}
	fieldKeys  = []string{
		"from", "first", "template", "value", "trim", "lower", "upper", "map", "otherwise", "as", "currency",
		"format", "timezone", "max", "required", "default", "default_null", "keep_empty", "on", "lookup", "by",
	}
	// noLookupKeys are what a lookup can't have, since a key is never cut and
	// never empty.
	noLookupKeys = []string{"max", "keep_empty", "currency", "format", "timezone"}
)

// fields reads the fields of a record, by name.
func (l *loader) fields(n *strictyaml.Node, s scope) []field {
	var out []field
	for _, e := range n.AnyMap(l.Report).Entries() {
		if !apiName.MatchString(e.Key) {
			l.Key(e, fmt.Sprintf("%q is not the API name of a field", shorten(e.Key)), "write it as Setup shows it, such as Amount__c")
			continue
		}
		if strings.EqualFold(e.Key, "Id") || strings.EqualFold(e.Key, "attributes") {
			l.Key(e, e.Key+" can't be written", "the key tells which record is meant")
			continue
		}
		out = append(out, l.field(e, s))
	}
	slices.SortFunc(out, func(a, b field) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func (l *loader) field(e strictyaml.Entry, s scope) field {
	f := field{TargetField: TargetField{Name: e.Key, Column: e.Key}}
	if e.Value.Kind != strictyaml.Mapping {
		l.short(&f, e, s)
	} else {
		m := e.Value.Map(l.Report, fieldKeys...)
		f.On = l.word(m, "on", OnCreate, OnUpdate)
		l.source(&f, m, s)
		l.notEmpty(m, "as", "format", "timezone", "currency")
		l.transform(&f, m, s)
		l.lookup(&f, m)
		f.As, f.Max = string(f.rule.spec.As), f.rule.spec.Max
		l.values(&f, m)
	}
	f.Paths = f.source.Paths()
	if f.Parent == "" && isRelation(f.Name) {
		l.Key(e, fmt.Sprintf("%s is a relationship", f.Name),
			fmt.Sprintf("write {lookup: OBJECT, by: EXTERNAL_ID_FIELD, from: $.PATH}, or %s for a record id", columnOf(f.Name)))
	}
	return f
}

// short reads the short form, a path.
func (l *loader) short(f *field, e strictyaml.Entry, s scope) {
	f.rule.kind, f.Open = "from", true
	if p, ok := l.path(e.Value, s); ok {
		f.source = transform.From(p)
	}
	f.transform, _ = transform.Compile(transform.Spec{})
}

// source reads where the value comes from: exactly one of four.
func (l *loader) source(f *field, m strictyaml.Map, s scope) {
	var given []string
	for _, k := range sourceKeys {
		if m.Has(k) {
			given = append(given, k)
		}
	}
	switch len(given) {
	case 0:
		l.At(m.Node(), "the field has no value", "write from: $.PATH, first: [$.PATH, …], template: \"…{$.PATH}…\" or value: FIXED")
		return
	case 1:
		f.rule.kind = given[0]
	default:
		l.Key(m.Entry(given[1]), strings.Join(given, " and ")+" stand together", "keep one of them")
		return
	}
	n := m.Get(f.rule.kind)
	switch f.rule.kind {
	case "from":
		if p, ok := l.path(n, s); ok {
			f.source = transform.From(p)
		}
	case "first":
		f.source = transform.First(l.paths(n, s))
	case "template":
		if t, ok := l.template(n, path.Field, s); ok {
			f.source = transform.FromTemplate(t)
		}
	default:
		if v, ok := n.AsLiteral(l.Report); ok {
			f.source, f.rule.raw = transform.Fixed(v), v
			l.fixed(n, v)
		}
	}
}

// fixed refuses a fixed text that was meant as a path or template.
func (l *loader) fixed(n *strictyaml.Node, v any) {
	text, isText := v.(string)
	if !isText {
		return
	}
	if strings.HasPrefix(text, "$") || strings.HasPrefix(text, "@") || strings.HasPrefix(text, "header.") {
		if _, err := path.Parse(text); err == nil {
			l.At(n, fmt.Sprintf("value is fixed, and %q looks like a path", shorten(text)), "write from: "+quoteYAML(text))
		}
		return
	}
	if _, err := path.ParseTemplate(text, path.Field); err == nil {
		l.At(n, fmt.Sprintf("value is fixed, and %q looks like a template", shorten(text)), "write template: "+fmt.Sprintf("%q", text))
	}
}

// quoteYAML quotes a path where YAML needs it.
func quoteYAML(text string) string {
	if strings.HasPrefix(text, "@") || strings.ContainsAny(text, "[]{}") {
		return fmt.Sprintf("%q", text)
	}
	return text
}

// notEmpty refuses "" for words that are left out instead.
func (l *loader) notEmpty(m strictyaml.Map, keys ...string) {
	for _, key := range keys {
		if n := m.Get(key); n != nil && n.Kind == strictyaml.Scalar && n.Text == "" {
			l.At(n, key+" is empty", "write a value or leave the key out")
		}
	}
}

// transform reads what is done to the value.
func (l *loader) transform(f *field, m strictyaml.Map, s scope) {
	t := transform.Spec{
		Trim: m.Bool("trim", false), Lower: m.Bool("lower", false), Upper: m.Bool("upper", false),
		Map:       l.valueMap(m.Get("map")),
		Otherwise: l.optional(m.Get("otherwise")),
		As:        transform.As(m.Text("as", "")),
		Format:    m.Text("format", ""), Timezone: m.Text("timezone", ""), Currency: m.Text("currency", ""),
		Currencies: l.digits,
		KeepEmpty:  m.Bool("keep_empty", false),
		Max:        m.Int("max", 0, 1, 1<<20),
		Required:   m.Bool("required", false),
		Default:    l.optional(m.Get("default")), DefaultNull: m.Bool("default_null", false),
	}
	if m.Has("lookup") && t.As == transform.AsIs {
		t.As = transform.Text // as the parent's own key, which is text
	}
	f.rule.spec = t
	compiled, err := transform.Compile(t)
	var problems transform.Problems
	if errors.As(err, &problems) {
		l.mistakes(m, problems)
		return
	}
	if err != nil {
		l.bad(m.Node(), err)
		return
	}
	for _, p := range compiled.Paths() {
		l.allow(m.Get("currency"), p, s)
	}
	f.transform = compiled
}

// mistakes reports what can't be compiled where it stands.
func (l *loader) mistakes(m strictyaml.Map, problems transform.Problems) {
	for _, p := range problems {
		at := m.Get(p.Key)
		switch {
		case at == nil:
			l.At(m.Node(), p.Key+" "+p.What, p.Fix)
		case len(p.Known) > 0:
			l.At(at, p.What, strictyaml.Suggest(at.Text, p.Known))
		default:
			l.At(at, p.What, p.Fix)
		}
	}
}

// valueMap reads map: the keys are text as spelled, the values are typed.
func (l *loader) valueMap(n *strictyaml.Node) map[string]any {
	if n == nil {
		return nil
	}
	out := map[string]any{}
	m := n.AnyMap(l.Report)
	for _, e := range m.Entries() {
		out[e.Key], _ = e.Value.AsLiteral(l.Report)
	}
	return out
}

func (l *loader) optional(n *strictyaml.Node) transform.Literal {
	if n == nil {
		return transform.Literal{}
	}
	v, ok := n.AsLiteral(l.Report)
	if !ok {
		return transform.Literal{}
	}
	return transform.Lit(v)
}

// lookup reads the parent that a relationship names.
func (l *loader) lookup(f *field, m strictyaml.Map) {
	if !m.Has("lookup") && !m.Has("by") {
		return
	}
	f.Parent = l.apiName(m.Need("lookup", "write lookup: and the parent object"), "an object")
	f.By = l.apiName(m.Need("by", "write by: and the parent's external ID field"), "a field")
	for _, k := range noLookupKeys {
		if m.Has(k) {
			l.Key(m.Entry(k), k+" can't stand in a lookup: a key is sent as it is", "remove it")
		}
	}
	if as := f.rule.spec.As; as != transform.AsIs && as != transform.Text && as != transform.Integer {
		l.At(m.Get("as"), fmt.Sprintf("a lookup can't be as: %s", as), "leave as out, or write as: text or as: integer")
	}
	l.lookupName(f, m)
}

// lookupName: a lookup stands under the name of the relationship.
func (l *loader) lookupName(f *field, m strictyaml.Map) {
	lower := strings.ToLower(f.Name)
	right := ""
	switch {
	case strings.HasSuffix(lower, "__c"):
		right = f.Name[:len(f.Name)-1] + "r"
	case !isRelation(f.Name) && strings.HasSuffix(f.Name, "Id") && len(f.Name) > 2:
		right = strings.TrimSuffix(f.Name, "Id")
	}
	if right != "" {
		l.Key(m.Entry("lookup"), fmt.Sprintf("a lookup stands under the name of the relationship, not under %s", f.Name), "write "+right+": {lookup: …}")
	}
	f.Column = columnOf(f.Name)
}

// isRelation tells a custom relationship by its name.
func isRelation(name string) bool { return strings.HasSuffix(strings.ToLower(name), "__r") }

// columnOf is the field that a relationship is stored in: Customer__c for
// Customer__r, AccountId for Account.
func columnOf(relation string) string {
	if isRelation(relation) {
		return relation[:len(relation)-1] + "c"
	}
	return relation + "Id"
}
