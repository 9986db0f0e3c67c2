package rest

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"sfbridge/salesforce/simorg/fault"
	"sfbridge/salesforce/simorg/jsonin"
	"sfbridge/salesforce/simorg/org"
)

const (
	maxSubrequests = 25
	maxHeavy       = 5 // collections and queries among them

	graphVersion = 50
	halted       = "The transaction was rolled back since another operation in the same transaction failed."
)

// composites serves everything below composite/.
func (a *API) composites(q *request) reply {
	if len(q.path) > 1 && q.path[1] == "sobjects" {
		return a.collections(q)
	}
	if q.inside {
		return bad("INVALID_INPUT", "A composite request cannot be a subrequest.").reply()
	}
	if q.method != http.MethodPost {
		return notAllowed(q.method, "POST")
	}
	if q.body == nil || q.body.Kind != jsonin.Object {
		return bad("JSON_PARSER_ERROR", "The HTTP entity body is required to be a JSON object.").reply()
	}
	switch {
	case len(q.path) == 1:
		return a.composite(q)
	case len(q.path) == 2 && q.path[1] == "graph" && q.version >= graphVersion:
		return a.graphs(q)
	case len(q.path) == 2 && q.path[1] == "batch":
		return a.batch(q)
	case len(q.path) == 3 && q.path[1] == "tree":
		return a.tree(q)
	}
	return notFound()
}

// node is one subrequest of a composite or graph.
type node struct {
	method, url string
	ref         string
	body        *jsonin.Value
}

// answered is a subrequest with what came of it.
type answered struct {
	ref   string
	reply reply
	keeps bool          // a collection that keeps its body when it is rolled back
	value *jsonin.Value // the body as references see it, parsed when first needed
}

var referenceID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_]*$`)

// nodes reads the subrequests of a list. What is wrong with one of them is
// wrong with the envelope.
func (q *request) nodes(list *jsonin.Value) ([]node, *apiError) {
	if list == nil || list.Kind != jsonin.Array || len(list.Items) == 0 {
		return nil, bad("INVALID_INPUT", "The request has no subrequests.")
	}
	seen := map[string]bool{}
	nodes := make([]node, len(list.Items))
	for i := range list.Items {
		v := &list.Items[i]
		n := node{method: strings.ToUpper(v.StringAt("method")), url: v.StringAt("url"), ref: v.StringAt("referenceId"), body: v.Get("body")}
		switch {
		case n.method == "" || n.url == "" || n.ref == "":
			return nil, bad("INVALID_INPUT", "A subrequest must have a method, a url and a referenceId.")
		case !strings.Contains(" GET POST PATCH PUT DELETE HEAD ", " "+n.method+" "):
			return nil, bad("INVALID_INPUT", "Invalid subrequest method: "+n.method)
		case !strings.HasPrefix(n.url, "/services/data/v"):
			return nil, bad("INVALID_INPUT", "The url of a subrequest must begin with /services/data/vXX.X/: "+n.url)
		case !referenceID.MatchString(n.ref):
			return nil, bad("INVALID_INPUT", "Provided referenceId ('"+n.ref+"') must start with a letter or a number, and it can contain only letters, numbers and underscores ('_').")
		case seen[n.ref]:
			return nil, bad("INVALID_INPUT", "Duplicate referenceId: "+n.ref)
		}
		seen[n.ref] = true
		nodes[i] = n
	}
	return nodes, nil
}

// sub makes the request of a subrequest.
func (q *request) sub(n node) (*request, bool) {
	u, err := url.Parse(n.url)
	if err != nil {
		return nil, false
	}
	segments := split(u.EscapedPath())
	if len(segments) < 4 || segments[0] != "services" || segments[1] != "data" {
		return nil, false
	}
	version, ok := parseVersion(segments[2])
	if !ok || version < oldestVersion {
		return nil, false
	}
	s := &request{method: n.method, path: segments[3:], query: u.Query(), header: http.Header{}, version: version,
		raw: q.raw, body: n.body, inside: true}
	s.classify()
	return s, true
}

// subrequests lists the subrequests of a composite, graph or batch as far as
// they can be read; planted call faults look at them.
func subrequests(q *request) []*request {
	var list []*request
	add := func(v *jsonin.Value) {
		if v == nil {
			return
		}
		for i := range v.Items {
			n := node{method: strings.ToUpper(v.Items[i].StringAt("method")), url: v.Items[i].StringAt("url"),
				body: v.Items[i].Get("body")}
			if s, ok := q.sub(n); ok {
				list = append(list, s)
			}
		}
	}
	add(q.body.Get("compositeRequest"))
	if graphs := q.body.Get("graphs"); graphs != nil {
		for i := range graphs.Items {
			add(graphs.Items[i].Get("compositeRequest"))
		}
	}
	return list
}

// flag reads an optional boolean member.
func flag(v *jsonin.Value, name string) bool {
	m := v.Get(name)
	return m != nil && m.Kind == jsonin.Bool && m.Bool
}

func (a *API) composite(q *request) reply {
	for i := range q.body.Members {
		switch m := &q.body.Members[i]; m.Name {
		case "allOrNone", "collateSubrequests", "compositeRequest":
		default:
			return reader{a, q.raw}.parserError(&m.Value, "Unrecognized field %q, not marked as ignorable", m.Name).reply()
		}
	}
	nodes, err := q.nodes(q.body.Get("compositeRequest"))
	if err == nil {
		err = q.tooBig(nodes)
	}
	if err != nil {
		return err.reply()
	}
	var done []answered
	if flag(q.body, "allOrNone") {
		done, _ = a.atomic(q, nodes, a.cfg.Latency/2)
	} else {
		done = a.separate(q, nodes)
	}
	return ok(appendComposite(nil, done))
}

func (q *request) tooBig(nodes []node) *apiError {
	if len(nodes) > maxSubrequests {
		return bad("INVALID_INPUT", fmt.Sprintf("Composite requests can have at most %d subrequests, this one has %d.", maxSubrequests, len(nodes)))
	}
	heavy := 0
	for _, n := range nodes {
		if s, ok := q.sub(n); ok && (collective(s.operation) || len(s.path) > 1 && s.path[1] == "sobjects" && s.path[0] == "composite") {
			heavy++
		}
	}
	if heavy > maxHeavy {
		return bad("INVALID_INPUT", fmt.Sprintf("Composite requests can have at most %d queries and sObject collections, this one has %d.", maxHeavy, heavy))
	}
	return nil
}

// separate carries out subrequests one by one, each in its own transaction.
func (a *API) separate(q *request, nodes []node) []answered {
	done := make([]answered, 0, len(nodes))
	a.pause(a.cfg.Latency / 2)
	for _, n := range nodes {
		tx := a.cfg.Org.Begin()
		one := a.subrequest(q, n, done, tx)
		tx.Commit()
		done = append(done, one)
	}
	return done
}

// atomic carries out subrequests in one transaction, which holds its locks for
// some time before it commits; the first that fails takes all back.
func (a *API) atomic(q *request, nodes []node, hold time.Duration) ([]answered, bool) {
	tx := a.cfg.Org.Begin()
	whole := *q
	whole.whole = true
	done := make([]answered, 0, len(nodes))
	for _, n := range nodes {
		one := a.subrequest(&whole, n, done, tx)
		done = append(done, one)
		if one.reply.failed() {
			tx.Rollback()
			return a.rolledBack(done, nodes), false
		}
	}
	a.pause(hold)
	tx.Commit()
	return done, true
}

// rolledBack is what an allOrNone composite shows when its last answered
// subrequest failed: that one tells why, collections before it keep the body
// they had, all others only tell that they were rolled back.
func (a *API) rolledBack(done []answered, nodes []node) []answered {
	culprit := len(done) - 1
	for i := range done {
		keeps := done[i].keeps && (i == culprit || !a.cfg.Unsure.HaltedCollections)
		if !keeps && (i != culprit || a.cfg.Unsure.CulpritUnnamed) {
			done[i].reply = refused(http.StatusBadRequest, org.CodeHalted, halted)
		}
		done[i].reply.location = ""
		if i != culprit {
			done[i].reply.status = http.StatusBadRequest
		}
	}
	for _, n := range nodes[len(done):] {
		done = append(done, answered{ref: n.ref, reply: refused(http.StatusBadRequest, org.CodeHalted, halted)})
	}
	return done
}

// subrequest carries out one subrequest.
func (a *API) subrequest(q *request, n node, before []answered, tx *org.Tx) answered {
	one := answered{ref: n.ref}
	n, err := resolve(n, before)
	if err != nil {
		one.reply = err.reply()
		return one
	}
	s, ok := q.sub(n)
	if !ok {
		one.reply = notFound()
		return one
	}
	s.tx, s.whole = tx, q.whole
	one.reply = a.handle(s)
	one.keeps = s.path[0] == "composite" && s.operation != fault.Row && one.reply.body != nil && one.reply.body[0] == '[' && !isError(one.reply)
	return one
}

// isError tells the reply of a call that failed as a whole from the results
// of a collection.
func isError(r reply) bool {
	return strings.HasPrefix(string(r.body[:min(len(r.body), 12)]), `[{"message":`)
}

func appendComposite(b []byte, done []answered) []byte {
	b = append(b, `{"compositeResponse":[`...)
	for i, one := range done {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"body":`...)
		if len(one.reply.body) == 0 {
			b = append(b, "null"...)
		}
		b = append(b, one.reply.body...)
		b = append(b, `,"httpHeaders":{`...)
		if one.reply.location != "" {
			b = append(b, `"Location":`...)
			b = appendString(b, one.reply.location)
		}
		b = append(b, `},"httpStatusCode":`...)
		b = append(b, itoa(one.reply.status)...)
		b = append(b, `,"referenceId":`...)
		b = appendString(b, one.ref)
		b = append(b, '}')
	}
	return append(b, "]}"...)
}
