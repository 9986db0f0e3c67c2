package mapping

import (
	"fmt"
	"regexp"

	"sfbridge/internal/strictyaml"
	"sfbridge/mapping/path"
)

// AuthorityWhen says which events are only a hint to load the provider's own
// object.
type AuthorityWhen string

// When the object is loaded.
const (
	AuthorityAlways   AuthorityWhen = "always"
	AuthorityUnsigned AuthorityWhen = "unsigned" // unless the whole body was under the signature
)

// Authority loads the provider's object before an event is mapped, so that thin
// events and those that anybody may have written bring true values.
type Authority struct {
	Get  path.Template // address; scheme and host are fixed text
	Auth string        // value of the Authorization header, with references; "" for none
	Into path.Path     // where the object is put
	When AuthorityWhen
}

// Authority is the route's own, else the file's; nil without.
func (r *Route) Authority() *Authority { return r.authority }

// Authorities lists those of the file, each once.
func (f *File) Authorities() []*Authority {
	var out []*Authority
	seen := map[*Authority]bool{nil: true}
	for _, r := range f.Routes {
		if !seen[r.authority] {
			seen[r.authority] = true
			out = append(out, r.authority)
		}
	}
	return out
}

// fixedHost is an address whose scheme and host hold no placeholder.
var fixedHost = regexp.MustCompile(`^https?://[^/{}@\s?#]+/`)

// authority reads where the provider's object is loaded from. What is sent to
// log in goes to no other host than the one in the file.
func (l *loader) authority(n *strictyaml.Node) *Authority {
	if n == nil {
		return nil
	}
	m := n.Map(l.Report, "get", "auth", "into", "when")
	a := &Authority{When: AuthorityWhen(m.Enum("when", string(AuthorityAlways), string(AuthorityUnsigned)))}
	get := m.Need("get", `write get: "https://HOST/PATH/{$.data.object.id}"`)
	if t, ok := l.template(get, path.URL, scope{}); ok {
		a.Get = t
		if !fixedHost.MatchString(t.String()) {
			l.At(get, fmt.Sprintf("%q does not begin with a fixed scheme and host", shorten(t.String())), "write https://HOST/… and placeholders after that")
		}
	}
	if into := m.Need("into", "write into: $.PATH, where the object is put"); into != nil {
		if p, ok := l.path(into, scope{}); ok && p.Root() != path.RootEvent {
			l.At(into, fmt.Sprintf("%s is outside the event", p), "write a path that begins with $.")
		} else if ok {
			a.Into = p
		}
	}
	if m.Has("auth") {
		a.Auth = l.credential(m.Get("auth"))
	}
	return a
}

// credential is text with a reference to a secret in it.
func (l *loader) credential(n *strictyaml.Node) string {
	text, ok := n.AsText(l.Report)
	if !ok {
		return ""
	}
	found, err := strictyaml.References(text)
	if err != nil || len(found) == 0 {
		l.At(n, "a secret must not stand in the file", `write auth: "Bearer ${NAME}" for an environment variable or "Bearer ${file:/path}" for a file`)
		return ""
	}
	return text
}

// judgeAuthority: only the bridge makes requests while it applies events.
func (l *loader) judgeAuthority(m strictyaml.Map) {
	if l.file.Processor == ProcessorOrg && m.Has("authority") {
		l.Key(m.Entry("authority"), "authority needs processor: bridge: the org makes no requests while it applies events", "remove one of them")
	}
}

func canonicalAuthority(a *Authority) map[string]any {
	o := object{"get": a.Get.String(), "into": a.Into.String(), "when": string(a.When)}
	o.text("auth", a.Auth)
	return o
}

// filledElsewhere are the places of references besides secrets and params:
// what is sent to others and never written to records.
var filledElsewhere = regexp.MustCompile(`^(routes\[\d+\]\.)?(effects\[\d+\]\.post\.(url|secret)|(authority|reconcile)\.auth)$`)
