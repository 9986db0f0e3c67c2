package mapping

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"sfbridge/internal/strictyaml"
	"sfbridge/mapping/path"
)

// Reconcile compares the objects that the provider lists with Salesforce: each
// becomes an event of a shape that the routes know.
type Reconcile struct {
	List  string    // address of the first page
	Auth  string    // value of the Authorization header, with references; "" for none
	Items path.List // the objects of a page
	// NextPath is where a page holds the address of the next, or a Link header;
	// NextURL is that address with values of the page in it. Both zero: one page.
	NextPath path.Path
	NextURL  path.Template
	Type     string      // of the events, as routes see it
	Into     path.Path   // where the object is put in the event
	Order    *EventOrder // $ is the event, @ the object; nil: when the page was asked for
	Every    time.Duration
	Repair   bool // stage the events of what differs
	Complete bool // the list holds every object: records of others are reported
}

// Reconciles lists the comparisons of the file.
func (f *File) Reconciles() []*Reconcile { return append([]*Reconcile(nil), f.reconciles...) }

const (
	reconcileEvery = time.Hour
	listAdvice     = "write list: https://HOST/PATH, the first page of the provider's list of objects"
	nextAdvice     = `write next: $.PATH or next: header.Link where a page names the next, or next: "https://HOST/PATH?after={$.PATH}"`
)

// reconcile reads what is compared; it stands beside the routes or in one.
func (l *loader) reconcile(n *strictyaml.Node) {
	if n == nil {
		return
	}
	m := n.Map(l.Report, "list", "auth", "items", "next", "type", "into", "order", "every", "repair", "complete")
	r := &Reconcile{
		Every:  m.Duration("every", reconcileEvery, time.Minute, 31*24*time.Hour),
		Repair: m.Bool("repair", false), Complete: m.Bool("complete", false),
	}
	r.List = l.listAddress(m.Need("list", listAdvice))
	if m.Has("auth") {
		r.Auth = l.credential(m.Get("auth"))
	}
	if items, ok := l.pageList(m.Need("items", `write items: "$.data[*]", where a page holds the objects`)); ok {
		r.Items = items
	}
	l.next(m.Get("next"), r)
	l.reconciledType(m, r)
	if into := m.Need("into", "write into: $.PATH, where events of the mapping hold the object"); into != nil {
		if p, ok := l.path(into, scope{}); ok && p.Root() != path.RootEvent {
			l.At(into, fmt.Sprintf("%s is outside the event", p), "write a path that begins with $")
		} else if ok {
			r.Into = p
		}
	}
	if m.Has("order") {
		r.Order = l.reconciledOrder(m.Get("order"))
	}
	l.file.reconciles = append(l.file.reconciles, r)
}

// listAddress reads the address of the list.
func (l *loader) listAddress(n *strictyaml.Node) string {
	text, ok := n.AsText(l.Report)
	if !ok {
		return ""
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.Fragment != "" {
		l.At(n, fmt.Sprintf("%q is not the address of a list", shorten(text)), listAdvice)
		return ""
	}
	if strings.ContainsAny(text, "{}") {
		l.At(n, "the address holds a placeholder, and there is no event here", listAdvice)
		return ""
	}
	return text
}

func (l *loader) pageList(n *strictyaml.Node) (path.List, bool) {
	text, ok := n.AsText(l.Report)
	if !ok {
		return path.List{}, false
	}
	list, err := path.ParseList(text)
	if err != nil {
		l.bad(n, err)
		return path.List{}, false
	}
	if list.Path().Root() != path.RootEvent {
		l.At(n, fmt.Sprintf("%s is outside the page", list), `write a list that begins with $, such as "$.data[*]"`)
		return path.List{}, false
	}
	return list, true
}

// next reads how a page leads to the next one. What is sent to log in goes to
// no other host than the list's.
func (l *loader) next(n *strictyaml.Node, r *Reconcile) {
	text, ok := n.AsText(l.Report)
	switch {
	case !ok:
	case strings.HasPrefix(text, "$"), strings.HasPrefix(strings.ToLower(text), "header."):
		p, err := path.Parse(text)
		if err != nil {
			l.bad(n, err)
		} else if p.Root() != path.RootEvent && p.Root() != path.RootHeader {
			l.At(n, fmt.Sprintf("%s is outside the page", p), nextAdvice)
		}
		r.NextPath = p
	default:
		t, err := path.ParseTemplate(text, path.URL)
		switch {
		case err != nil:
			l.bad(n, err)
		case !fixedHost.MatchString(text) || origin(text) != origin(r.List):
			l.At(n, "the next page is not on the host of the list", nextAdvice)
		}
		r.NextURL = t
	}
}

// origin is scheme and host of an address.
func origin(address string) string {
	scheme, rest, _ := strings.Cut(address, "://")
	host, _, _ := strings.Cut(rest, "/")
	host, _, _ = strings.Cut(host, "?")
	return strings.ToLower(scheme + "://" + host)
}

// reconciledType reads the type, by which comparisons are told apart too.
func (l *loader) reconciledType(m strictyaml.Map, r *Reconcile) {
	n := m.Need("type", "write type: TYPE, by which the routes know such an event, for example charge.reconciled")
	text, ok := n.AsText(l.Report)
	if !ok {
		return
	}
	r.Type = text
	if strings.TrimSpace(text) == "" {
		l.At(n, "the type is empty", "write the type by which a route knows such an event")
	}
	for _, other := range l.file.reconciles {
		if other.Type == text {
			l.At(n, fmt.Sprintf("two comparisons have the type %q", shorten(text)), "give each a type of its own")
		}
	}
	l.compared = append(l.compared, n)
}

func (l *loader) reconciledOrder(n *strictyaml.Node) *EventOrder {
	m := n.Map(l.Report, "from", "first", "as")
	as := m.Need("as", "write as: unix_s, unix_ms, rfc3339 or integer")
	out := &EventOrder{Paths: l.fromOrFirst(m, scope{element: true})}
	if as != nil {
		out.As = m.Enum("as", orderKinds...)
	}
	for _, p := range out.Paths {
		if p.Contextual() {
			l.At(n, fmt.Sprintf("%s is not there: the event is made from an object of the list", p), "begin with $ for the event or @ for the object")
		}
	}
	return out
}

// judgeReconciles: an event that no route can fit would be made in vain. A
// route may ask for values, which only the object can answer.
func (l *loader) judgeReconciles() {
	for i, r := range l.file.reconciles {
		if i < len(l.compared) && r.Type != "" && !l.reached(r.Type) {
			l.At(l.compared[i], fmt.Sprintf("no route takes the type %q", shorten(r.Type)), "name the type in a route's when, or give the type of a route here")
		}
	}
}

func (l *loader) reached(kind string) bool {
	for _, r := range l.file.Routes {
		if !r.Ignore && (l.unsure[r] || r.when.takesType(kind)) {
			return true
		}
	}
	return false
}

func canonicalReconcile(r *Reconcile) map[string]any {
	o := object{
		"list": r.List, "items": r.Items.String(), "type": r.Type, "into": r.Into.String(), "every": strictyaml.SpanText(r.Every),
	}
	o.text("auth", r.Auth)
	switch {
	case !r.NextPath.IsZero():
		o.text("next", r.NextPath.String())
	case !r.NextURL.IsZero():
		o.text("next", r.NextURL.String())
	}
	if r.Order != nil {
		o["order"] = map[string]any{"as": r.Order.As, "first": pathTexts(r.Order.Paths)}
	}
	o.flag("repair", r.Repair)
	o.flag("complete", r.Complete)
	return o
}
