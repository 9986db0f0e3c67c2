package mapping

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"

	"sfbridge/internal/strictyaml"
	"sfbridge/mapping/path"
)

// canonicalFormat is raised when the compiled form changes its meaning.
const canonicalFormat = "1"

// versionDigits is how much of the hash names a version.
const versionDigits = 12

// canonical writes the compiled form: defaults filled in, short forms written
// out, members sorted by code point. Two files that mean the same give the same
// bytes; the order of routes and records means something and is kept.
func canonical(f *File) ([]byte, error) {
	routes := []any{}
	for _, r := range f.Routes {
		routes = append(routes, canonicalRoute(r))
	}
	currencies := object{}
	for code, digits := range f.Currencies {
		currencies[code] = integer(digits)
	}
	compiled := map[string]any{
		"format": json.Number(canonicalFormat), "source": f.Source, "provider": f.Provider,
		"secrets": texts(f.Secrets), "params": f.Params,
		"verify": canonicalVerify(f.Verify), "event": canonicalEvent(f.Event),
		"processor": string(f.Processor), "unmatched": string(f.Unmatched), "on_conflict": string(f.OnConflict),
		"limits": map[string]any{
			"max_body": json.Number(strconv.FormatInt(f.Limits.MaxBody, 10)),
			"rate":     json.Number(strconv.FormatFloat(f.Limits.Rate, 'f', -1, 64)), "encodings": texts(f.Limits.Encodings),
		},
		"currencies": currencies.plain(), "routes": routes,
	}
	if len(f.reconciles) > 0 {
		list := []any{}
		for _, r := range f.reconciles {
			list = append(list, canonicalReconcile(r))
		}
		compiled["reconcile"] = list
	}
	return path.AppendJSON(nil, compiled)
}

func version(canonical []byte) string {
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:])[:versionDigits]
}

// object is a JSON object that leaves out what isn't set.
type object map[string]any

func (o object) plain() map[string]any { return o }

func (o object) text(name, value string) {
	if value != "" {
		o[name] = value
	}
}

func (o object) flag(name string, value bool) {
	if value {
		o[name] = true
	}
}

func integer(n int) json.Number { return json.Number(strconv.Itoa(n)) }

func texts(list []string) []any {
	out := []any{}
	for _, text := range list {
		out = append(out, text)
	}
	return out
}

func pathTexts(list []path.Path) []any {
	out := []any{}
	for _, p := range list {
		out = append(out, p.String())
	}
	return out
}

func canonicalVerify(v Verify) map[string]any {
	o := object{}
	if len(v.Headers) > 0 {
		o["headers"] = texts(v.Headers)
	}
	if v.Prefix != nil {
		o["prefix"] = *v.Prefix
	}
	o.text("hash", v.Hash)
	o.text("encoding", v.Encoding)
	o.text("signed", v.Signed)
	if v.TimestampHeader != nil {
		o["timestamp_header"] = *v.TimestampHeader
	}
	o.text("timestamp_unit", v.TimestampUnit)
	if v.Tolerance > 0 {
		o["tolerance"] = strictyaml.SpanText(v.Tolerance)
	}
	return o
}

func canonicalEvent(e Event) map[string]any {
	o := object{}
	for name, t := range map[string]*path.Template{"id": e.ID, "type": e.Type, "object": e.Object} {
		if t != nil {
			o[name] = t.String()
		}
	}
	if e.Order != nil {
		o["order"] = map[string]any{"first": pathTexts(e.Order.Paths), "as": e.Order.As}
	}
	if len(e.Volatile) > 0 {
		o["volatile"] = pathTexts(e.Volatile)
	}
	if e.Split != nil {
		o["split"] = e.Split.String()
	}
	return o
}

func canonicalRoute(r *Route) map[string]any {
	o := object{"name": r.Name, "when": canonicalWhen(r.when)}
	o.flag("ignore", r.Ignore)
	if r.schema != nil {
		o["schema"] = map[string]any{"file": r.schema.file, "sha256": r.schema.digest}
	}
	records := []any{}
	for _, s := range r.records {
		records = append(records, canonicalRecord(s))
	}
	o["records"] = records
	if r.authority != nil {
		o["authority"] = canonicalAuthority(r.authority)
	}
	if len(r.effects) > 0 {
		effects := []any{}
		for _, e := range r.effects {
			effects = append(effects, canonicalEffect(e))
		}
		o["effects"] = effects
	}
	return o
}

// canonicalEffect writes an effect. In the body of a post, text that is a path
// stands for the event's value; all other text is itself.
func canonicalEffect(e *effect) map[string]any {
	t := e.target
	when := object{"object": t.On, "field": t.Field}
	if e.from != nil {
		when["from"] = e.from
	}
	if e.to != nil {
		when["to"] = e.to
	}
	content := object{}
	if t.Kind == EffectPost {
		content["url"], content["body"] = t.URL, bodyTexts(e.body)
		content.text("secret", t.Secret)
	} else {
		fields := object{}
		for _, f := range e.spec.fields {
			fields[f.Name] = canonicalField(f)
		}
		content["object"], content["fields"] = t.Object, fields.plain()
		if t.Kind == EffectRecord {
			content["key"] = canonicalKey(e.spec)
		}
	}
	return map[string]any{"name": t.Name, "when": when.plain(), string(t.Kind): content.plain()}
}

// bodyTexts is a body with its paths written out.
func bodyTexts(tree any) any {
	switch t := tree.(type) {
	case path.Path:
		return t.String()
	case []any:
		out := make([]any, len(t))
		for i, item := range t {
			out[i] = bodyTexts(item)
		}
		return out
	case map[string]any:
		out := object{}
		for name, item := range t {
			out[name] = bodyTexts(item)
		}
		return out.plain()
	}
	return tree
}

// canonicalWhen maps each key to its alternatives: {"glob": text} for text,
// {"is": value} for the rest.
func canonicalWhen(w when) map[string]any {
	o := object{}
	for _, c := range w {
		list := []any{}
		for _, a := range c.any {
			if a.text {
				list = append(list, map[string]any{"glob": a.glob.String()})
			} else {
				list = append(list, map[string]any{"is": a.value})
			}
		}
		o[c.key] = list
	}
	return o
}

func canonicalRecord(s *spec) map[string]any {
	t := s.target
	o := object{"object": t.Object, "action": string(t.Action), "key": canonicalKey(s)}
	o.flag("coalesce", t.Coalesce)
	o.flag("guard", t.Guard)
	if s.each != nil {
		o["each"] = s.each.String()
	}
	if t.Order != nil {
		order := object{"field": t.Order.Field}
		order.text("event", t.Order.Event)
		order.text("prior", t.Order.Prior)
		o["order"] = order.plain()
	}
	if t.Machine != nil {
		o["state"] = map[string]any{"field": t.State, "allow": t.Machine.canonical(), "rank": texts(t.Machine.ranked)}
	}
	fields := object{}
	for _, f := range s.fields {
		fields[f.Name] = canonicalField(f)
	}
	o["fields"] = fields.plain()
	return o
}

func (m *Machine) canonical() map[string]any {
	o := object{}
	for _, from := range m.states {
		o[from] = texts(m.steps[from])
	}
	return o
}

func canonicalKey(s *spec) map[string]any {
	o := object{"field": s.target.KeyField}
	if s.key.template.IsZero() {
		o["first"] = pathTexts(s.key.candidates)
	} else {
		o["template"] = s.key.template.String()
	}
	return o
}

func canonicalField(f field) map[string]any {
	o := object{}
	switch f.rule.kind {
	case "value":
		o["value"] = f.rule.raw
	case "template":
		o["template"] = f.source.String()
	default:
		o["first"] = pathTexts(f.source.Paths())
	}
	o.text("on", f.On)
	if f.Parent != "" {
		o["lookup"], o["by"], o["column"] = f.Parent, f.By, f.Column
	}
	t := f.rule.spec
	o.flag("trim", t.Trim)
	o.flag("lower", t.Lower)
	o.flag("upper", t.Upper)
	o.flag("keep_empty", t.KeepEmpty)
	o.flag("required", t.Required)
	o.flag("default_null", t.DefaultNull)
	o.text("as", string(t.As))
	o.text("format", t.Format)
	o.text("timezone", t.Timezone)
	o.text("currency", t.Currency)
	if t.Map != nil {
		o["map"] = t.Map
	}
	if t.Otherwise.Set {
		o["otherwise"] = t.Otherwise.Value
	}
	if t.Default.Set {
		o["default"] = t.Default.Value
	}
	if t.Max > 0 {
		o["max"] = integer(t.Max)
	}
	return o
}
