package mapping

import (
	"fmt"
	"strings"

	"sfbridge/internal/strictyaml"
	"sfbridge/mapping/path"
	"sfbridge/mapping/transform"
)

// values finds out what a field can be sent besides the event's own values, and
// warns of a literal that is a field error whenever it is used.
func (l *loader) values(f *field, m strictyaml.Map) {
	spec := f.rule.spec
	f.Open = f.rule.kind != "value" && spec.Map == nil
	if f.transform == nil {
		return
	}
	l.zoneless(f, m)
	if f.rule.kind == "value" {
		l.literal(f, f.transform, given{m.Get("value"), f.rule.raw})
	} else if spec.Map != nil {
		l.mapped(f, m.Get("map"), m.Get("otherwise"))
	}
	if !spec.Default.Set {
		return
	}
	if sent, _, err := f.transform.Apply(nil, false, path.Scope{}); err == nil {
		f.Values = append(f.Values, sent)
	}
}

// zoneless warns of a layout whose values never say which instant they mean.
func (l *loader) zoneless(f *field, m strictyaml.Map) {
	t := f.rule.spec
	named := t.Format == "" || t.Format == "rfc3339" || t.Format == "unix_s" || t.Format == "unix_ms"
	if t.As == transform.Datetime && t.Timezone == "" && !named && !strings.Contains(t.Format, "Z07:00") {
		l.warn.At(m.Get("format"), "values of this format have no zone, and no timezone is given: each is a field error",
			"add timezone: and an IANA name such as Europe/Berlin or UTC")
	}
}

// mapped adds what map and otherwise give, treated as the steps after them do.
func (l *loader) mapped(f *field, pairs, otherwise *strictyaml.Node) {
	rest := f.rule.spec
	rest.Trim, rest.Lower, rest.Upper, rest.Map = false, false, false, nil
	rest.Otherwise, rest.Default, rest.DefaultNull, rest.Required = transform.Literal{}, transform.Literal{}, false, false
	after := compiled(rest)
	for _, e := range pairs.Members() {
		l.literal(f, after, given{e.Value, f.rule.spec.Map[e.Key]})
	}
	if o := f.rule.spec.Otherwise; o.Set {
		l.literal(f, after, given{otherwise, o.Value})
	}
}

// given is a literal with its place.
type given struct {
	at    *strictyaml.Node
	value any
}

func (l *loader) literal(f *field, t *transform.Transform, g given) {
	if t == nil || len(t.Paths()) > 0 {
		return // a mistake that is reported elsewhere, or the event's currency decides
	}
	sent, _, err := t.Apply(g.value, true, path.Scope{})
	if err != nil {
		l.warn.At(g.at, fmt.Sprintf("%s can't take it: %s", f.Name, err), "write a value that as: "+string(f.rule.spec.As)+" takes")
		return
	}
	f.Values = append(f.Values, sent)
}

// compiled is nil when the spec holds mistakes, which are reported where the
// whole spec is compiled.
func compiled(s transform.Spec) *transform.Transform {
	t, err := transform.Compile(s)
	if err != nil {
		return nil
	}
	return t
}
