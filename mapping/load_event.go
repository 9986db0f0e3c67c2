package mapping

import (
	"fmt"
	"strings"
	"time"

	"sfbridge/internal/strictyaml"
	"sfbridge/mapping/path"
)

const generic = "generic"

// event reads the identity override.
func (l *loader) event(top strictyaml.Map) Event {
	n := top.Get("event")
	m := n.Map(l.Report, "id", "type", "object", "order", "volatile", "split")
	e := Event{
		ID:       l.identity(m.Get("id"), path.EventID),
		Type:     l.identity(m.Get("type"), path.Identity),
		Object:   l.identity(m.Get("object"), path.Identity),
		Order:    l.eventOrder(m.Get("order")),
		Volatile: l.volatile(m.Get("volatile")),
		Split:    l.list(m.Get("split"), scope{}),
	}
	if l.file.Provider == generic {
		l.needIdentity(top, m)
	}
	return e
}

// needIdentity: nothing is known about a generic sender's events.
func (l *loader) needIdentity(top, event strictyaml.Map) {
	at := event.Node()
	if at == nil {
		at = top.Node()
	}
	for _, key := range []string{"id", "type"} {
		if !event.Has(key) {
			l.At(at, "event."+key+" is missing, which provider: generic needs", "write event."+key+": $.PATH or header.NAME")
		}
	}
}

// identity reads a path or a template; a template without a value has no
// identity.
func (l *loader) identity(n *strictyaml.Node, escaping path.Escaping) *path.Template {
	text, ok := n.AsText(l.Report)
	if !ok {
		return nil
	}
	t, err := path.ParsePathOrTemplate(text, escaping)
	if err != nil {
		l.bad(n, err)
		return nil
	}
	for _, p := range t.Paths() {
		if !l.allow(n, p, scope{}) {
			return nil
		}
	}
	return &t
}

var orderKinds = []string{"unix_s", "unix_ms", "rfc3339", "integer"}

func (l *loader) eventOrder(n *strictyaml.Node) *EventOrder {
	if n == nil {
		return nil
	}
	m := n.Map(l.Report, "from", "first", "as")
	as := m.Need("as", "write as: unix_s, unix_ms, rfc3339 or integer")
	out := &EventOrder{Paths: l.fromOrFirst(m, scope{})}
	if as != nil {
		out.As = m.Enum("as", orderKinds...)
	}
	return out
}

// fromOrFirst reads the paths of exactly one of from and first.
func (l *loader) fromOrFirst(m strictyaml.Map, s scope) []path.Path {
	switch {
	case m.Has("from") && m.Has("first"):
		l.Key(m.Entry("first"), "from and first stand together", "keep one of them")
	case m.Has("from"):
		if p, ok := l.path(m.Get("from"), s); ok {
			return []path.Path{p}
		}
	case m.Has("first"):
		return l.paths(m.Get("first"), s)
	case m.Node() != nil && m.Node().Kind == strictyaml.Mapping:
		l.At(m.Node(), "from is missing", "write from: $.PATH")
	}
	return nil
}

func (l *loader) paths(n *strictyaml.Node, s scope) []path.Path {
	var out []path.Path
	for _, item := range n.AsList(l.Report) {
		if p, ok := l.path(item, s); ok {
			out = append(out, p)
		}
	}
	if n.Kind == strictyaml.Sequence && len(n.Items) == 0 {
		l.At(n, "the list is empty", "write at least one path")
	}
	return out
}

func (l *loader) volatile(n *strictyaml.Node) []path.Path {
	var out []path.Path
	for _, item := range n.AsList(l.Report) {
		p, ok := l.path(item, scope{})
		switch {
		case !ok:
		case p.Root() != path.RootEvent:
			l.At(item, fmt.Sprintf("%s is not part of the event", p), "write a path that begins with $.; only the event is hashed")
		default:
			out = append(out, p)
		}
	}
	return out
}

// scope says which roots may stand at a place.
type scope struct {
	element bool // @, inside a record with each
}

// path reads a path and remembers it when its value must be kept at receipt.
func (l *loader) path(n *strictyaml.Node, s scope) (path.Path, bool) {
	text, ok := n.AsText(l.Report)
	if !ok {
		return path.Path{}, false
	}
	p, err := path.Parse(text)
	if err != nil {
		l.bad(n, err)
		return path.Path{}, false
	}
	return p, l.allow(n, p, s)
}

// allow judges a compiled path by its place.
func (l *loader) allow(n *strictyaml.Node, p path.Path, s scope) bool {
	if p.Root() == path.RootElement && !s.element {
		l.At(n, fmt.Sprintf("%s: @ stands for the element of each, and there is no each here", p), "begin with $, or give the record an each")
		return false
	}
	if p.Contextual() {
		l.context[p.ContextKey()] = p
	}
	return true
}

func (l *loader) list(n *strictyaml.Node, s scope) *path.List {
	text, ok := n.AsText(l.Report)
	if !ok {
		return nil
	}
	list, err := path.ParseList(text)
	if err != nil {
		l.bad(n, err)
		return nil
	}
	if !l.allow(n, list.Path(), s) {
		return nil
	}
	return &list
}

func (l *loader) verify(n *strictyaml.Node) Verify {
	m := n.Map(l.Report, "headers", "prefix", "hash", "encoding", "signed", "timestamp", "tolerance")
	v := Verify{Headers: m.Texts("headers"), Signed: m.Text("signed", "")}
	if m.Has("headers") && len(v.Headers) == 0 {
		l.At(m.Get("headers"), "the list is empty", "name the header that holds the signature")
	}
	if m.Has("prefix") {
		prefix := m.Text("prefix", "")
		v.Prefix = &prefix
	}
	v.Hash = l.word(m, "hash", "sha256", "sha1", "sha512")
	v.Encoding = l.word(m, "encoding", "hex", "base64")
	if m.Has("signed") && !strings.Contains(v.Signed, "{body}") {
		l.At(m.Get("signed"), "the signed text doesn't hold {body}", `write for example "{body}" or "{ts}.{body}"`)
	}
	if m.Has("tolerance") {
		v.Tolerance = m.Duration("tolerance", 5*time.Minute, time.Second, 24*time.Hour)
	}
	t := m.Get("timestamp").Map(l.Report, "header", "unit")
	if t.Has("header") {
		header := t.Text("header", "")
		v.TimestampHeader = &header
	}
	v.TimestampUnit = l.word(t, "unit", "s", "ms")
	return v
}

// word is one of the words, "" when the key is left out.
func (l *loader) word(m strictyaml.Map, key string, words ...string) string {
	if !m.Has(key) {
		return ""
	}
	return m.Enum(key, words...)
}
