package mapping

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"sfbridge/internal/strictyaml"
	"sfbridge/mapping/path"
)

var (
	effectKinds  = []string{string(EffectPost), string(EffectRecord), string(EffectPublished)}
	effectAdvice = `write post: {url: "${URL}", secret: "${SECRET}", body: {…}}, salesforce: {object: …, key: …, fields: …} or platform_event: {object: …, fields: …}`
)

// maxEffectName is the length of Name__c in the outbox.
const maxEffectName = 80

// effects reads what a route's transitions cause.
func (l *loader) effects(n *strictyaml.Node, r *Route) {
	items := n.AsList(l.Report)
	if n != nil && n.Kind == strictyaml.Sequence && len(items) == 0 {
		l.At(n, "there is no effect", "write at least one, or remove the line")
	}
	for _, item := range items {
		r.effects = append(r.effects, l.effect(item, r))
	}
}

func (l *loader) effect(n *strictyaml.Node, r *Route) *effect {
	m := n.Map(l.Report, append([]string{"name", "when"}, effectKinds...)...)
	e := &effect{}
	e.target.Name = l.effectName(m)
	l.effectWhen(m, e, r)
	var given []string
	for _, kind := range effectKinds {
		if m.Has(kind) {
			given = append(given, kind)
		}
	}
	switch {
	case n.Kind != strictyaml.Mapping:
	case len(given) == 0:
		l.At(n, "the effect does nothing", effectAdvice)
	case len(given) > 1:
		l.Key(m.Entry(given[1]), strings.Join(given, " and ")+" stand together", "write one effect for each")
	case given[0] == string(EffectPost):
		l.post(m.Get(given[0]), e)
	default:
		l.ownRecord(m.Get(given[0]), e, EffectKind(given[0]))
	}
	return e
}

// effectName is unique in the file: a row of the outbox finds its address and
// secret by it.
func (l *loader) effectName(m strictyaml.Map) string {
	n := m.Need("name", "write name: and a short name; it is part of the effect's key, so never change it")
	name, ok := n.AsText(l.Report)
	switch {
	case !ok:
	case strings.TrimSpace(name) == "" || strings.TrimSpace(name) != name || len(name) > maxEffectName:
		l.At(n, fmt.Sprintf("%q is no name for an effect", shorten(name)), fmt.Sprintf("write at most %d letters without blanks at the ends", maxEffectName))
	case l.effectNames[name]:
		l.At(n, fmt.Sprintf("the effect %q stands twice in this file", name), "give each its own name")
	}
	l.effectNames[name] = true
	return name
}

// effectWhen reads the transition. The watched field must be one that a record
// of the route writes.
func (l *loader) effectWhen(effect strictyaml.Map, e *effect, r *Route) {
	n := effect.Need("when", "write when: {object: OBJECT, field: FIELD, to: [VALUE]}")
	m := n.Map(l.Report, "object", "field", "from", "to")
	e.target.On = l.apiName(m.Need("object", "write object: and the object whose field is watched"), "an object")
	e.target.Field = l.apiName(m.Need("field", "write field: and the field that is watched"), "a field")
	e.from, e.to = l.literals(m.Get("from")), l.literals(m.Get("to"))
	if n != nil && n.Kind == strictyaml.Mapping && !m.Has("from") && !m.Has("to") {
		l.At(n, "the transition names no value", "write to: [VALUE], from: [VALUE] or both")
	}
	if e.target.On == "" || e.target.Field == "" {
		return
	}
	watched := l.watched(e, r)
	switch {
	case watched == nil:
		l.At(m.Get("field"), fmt.Sprintf("no record of %s in this route writes %s", e.target.On, e.target.Field), "watch a field that the route writes")
	case watched.Parent != "":
		l.At(m.Get("field"), fmt.Sprintf("%s is a lookup", e.target.Field), "watch a field that holds a value of its own")
	default:
		e.target.Field = watched.Name
		l.judgeTo(m.Get("to"), watched, e.to)
	}
}

func (l *loader) watched(e *effect, r *Route) *field {
	for _, s := range r.records {
		if s.target.Action == Delete || !strings.EqualFold(s.target.Object, e.target.On) {
			continue
		}
		for i, f := range s.fields {
			if strings.EqualFold(f.Name, e.target.Field) || strings.EqualFold(f.Column, e.target.Field) {
				e.target.On = s.target.Object
				return &s.fields[i]
			}
		}
	}
	return nil
}

// judgeTo warns of values that the mapping never gives the field.
func (l *loader) judgeTo(n *strictyaml.Node, f *field, to []any) {
	if f.Open {
		return
	}
	for _, want := range to {
		if !slices.ContainsFunc(f.Values, func(v any) bool { return among([]any{want}, v) }) {
			text, _ := path.Text(want)
			l.warn.At(n, fmt.Sprintf("the mapping never gives %s the value %q: the effect can't fire on it", f.Name, shorten(text)), "name a value that map or value gives")
		}
	}
}

// literals are typed values; nil when left out.
func (l *loader) literals(n *strictyaml.Node) []any {
	if n == nil {
		return nil
	}
	items := []*strictyaml.Node{n}
	if n.Kind == strictyaml.Sequence {
		items = n.Items
		if len(items) == 0 {
			l.At(n, "an empty list never fits", "write at least one value, or remove the line")
		}
	}
	out := []any{}
	for _, item := range items {
		if v, ok := item.AsLiteral(l.Report); ok {
			out = append(out, v)
		}
	}
	return out
}

// post reads an HTTP request.
func (l *loader) post(n *strictyaml.Node, e *effect) {
	m := n.Map(l.Report, "url", "secret", "body")
	e.target.Kind = EffectPost
	e.target.URL = l.address(m.Need("url", `write url: "${RECEIPT_URL}" or an https address`))
	if m.Has("secret") {
		e.target.Secret, _ = m.Get("secret").AsSecret(l.Report)
	}
	e.body = map[string]any{}
	if m.Has("body") {
		e.body = l.body(m.Get("body"))
	}
}

// address is where a request goes: https, or a reference that holds it. Plain
// http is for hosts that outbound.allow names.
func (l *loader) address(n *strictyaml.Node) string {
	text, ok := n.AsText(l.Report)
	if !ok {
		return ""
	}
	found, err := strictyaml.References(text)
	switch {
	case err != nil:
		l.At(n, err.Error(), "")
	case strings.Contains(text, "{$") || strings.Contains(text, "{header."):
		l.At(n, "the address of an effect is the same for every event", "put the value into body")
	case len(found) > 0:
	default:
		if u, err := url.Parse(text); err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" || u.User != nil {
			l.At(n, fmt.Sprintf("%q is not a web address", shorten(text)), "write https://HOST/PATH")
		}
	}
	return text
}

// body reads a tree of fixed values and paths.
func (l *loader) body(n *strictyaml.Node) any {
	switch n.Kind {
	case strictyaml.Mapping:
		out := map[string]any{}
		for _, e := range n.Entries {
			out[e.Key] = l.body(e.Value)
		}
		return out
	case strictyaml.Sequence:
		out := []any{}
		for _, item := range n.Items {
			out = append(out, l.body(item))
		}
		return out
	}
	value, ok := n.AsLiteral(l.Report)
	text, isText := value.(string)
	if !ok || !isText {
		return value
	}
	if !looksLikePath(text) {
		if _, err := path.ParseTemplate(text, path.Field); err == nil {
			l.At(n, fmt.Sprintf("a body takes paths and fixed values, and %q looks like a template", shorten(text)), "write the path alone, such as id: $.id")
		}
		return text
	}
	p, ok := l.path(n, scope{})
	if !ok {
		return nil
	}
	return p
}

// looksLikePath tells which texts of a body stand for a value of the event.
func looksLikePath(text string) bool {
	for _, begin := range []string{"$.", "$[", "$$", "@.", "@[", "header."} {
		if strings.HasPrefix(text, begin) {
			return true
		}
	}
	return text == "$"
}

// ownRecord reads a record or a platform event that an effect writes.
func (l *loader) ownRecord(n *strictyaml.Node, e *effect, kind EffectKind) {
	known := []string{"object", "fields"}
	if kind == EffectRecord {
		known = append(known, "key")
	}
	m := n.Map(l.Report, known...)
	s := &spec{target: Target{Action: Upsert}}
	e.spec, e.target.Kind = s, kind
	s.target.Object = l.apiName(m.Need("object", "write object: and its API name"), "an object")
	isEvent := strings.HasSuffix(strings.ToLower(s.target.Object), "__e")
	switch {
	case s.target.Object == "":
	case kind == EffectRecord && isEvent:
		l.At(m.Get("object"), s.target.Object+" is a platform event", "write platform_event: {object: …, fields: …}")
	case kind == EffectPublished && !isEvent:
		l.At(m.Get("object"), s.target.Object+" is not a platform event: their names end with __e", "write salesforce: {object: …, key: …, fields: …}")
	}
	if kind == EffectRecord {
		s.key = l.key(m, &s.target, scope{})
	}
	s.fields = l.fields(m.Need("fields", "write fields: with at least one field"), scope{})
	for _, f := range s.fields {
		if f.On != "" {
			l.At(m.Get("fields"), f.Name+" is sent on "+f.On+" only, and an effect doesn't know which it is", "leave on: out")
		}
		e.target.Fields = append(e.target.Fields, f.TargetField)
	}
	l.judgeColumns(m, s)
	e.target.Object, e.target.KeyField = s.target.Object, s.target.KeyField
}
