package rest

import (
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"sfbridge/salesforce/simorg/fault"
	"sfbridge/salesforce/simorg/jsonin"
	"sfbridge/salesforce/simorg/org"
)

// request is one call of a resource, by itself or inside a composite.
type request struct {
	method  string
	path    []string // below /services/data/vNN.0, unescaped
	query   url.Values
	header  http.Header
	host    string // base address the client used
	version int
	raw     []byte        // the body of the whole exchange
	body    *jsonin.Value // nil: there is none
	inside  bool          // of a composite
	whole   bool          // of an allOrNone composite: one failed row fails all
	tx      *org.Tx

	operation fault.Operation
	object    string
}

// subjects are the names by which row faults reach the rows of this request.
func (q *request) subjects() []fault.Subject {
	if !q.inside {
		return []fault.Subject{{Operation: q.operation, Object: q.object}}
	}
	list := []fault.Subject{{Operation: fault.Composite, Object: q.object}}
	if collective(q.operation) || q.operation == fault.Delete && len(q.path) == 2 {
		list = append(list, fault.Subject{Operation: q.operation, Object: q.object})
	}
	return list
}

// collective tells the operations that faults may name inside a composite.
func collective(op fault.Operation) bool {
	switch op {
	case fault.CollectionsInsert, fault.CollectionsUpdate, fault.CollectionsUpsert, fault.Query:
		return true
	}
	return false
}

// split cuts an escaped path into unescaped segments.
func split(path string) []string {
	var segments []string
	for _, s := range strings.Split(strings.Trim(path, "/"), "/") {
		if text, err := url.PathUnescape(s); err == nil {
			s = text
		}
		segments = append(segments, s)
	}
	return segments
}

var versionText = regexp.MustCompile(`^v(\d{1,3})\.0$`)

// parseVersion reads a path segment; ok is false for what is no version.
func parseVersion(segment string) (version int, ok bool) {
	m := versionText.FindStringSubmatch(segment)
	if m == nil {
		return 0, false
	}
	version, err := strconv.Atoi(m[1])
	return version, err == nil && version <= newestVersion
}

var fromObject = regexp.MustCompile(`(?is)\bFROM\s+(\w+)`)

// classify names what a request does, and to which object.
func (q *request) classify() {
	q.operation = fault.Other
	if len(q.path) == 0 {
		return
	}
	switch q.path[0] {
	case "limits":
		q.operation = fault.Limits
	case "query", "queryAll":
		q.operation = fault.Query
		if m := fromObject.FindStringSubmatch(q.query.Get("q")); m != nil {
			q.object = m[1]
		}
	case "jobs":
		q.operation = fault.Bulk
	case "sobjects":
		q.classifyRow()
	case "composite":
		q.classifyComposite()
	case "tooling":
		q.operation = fault.Query
	}
}

func (q *request) classifyRow() {
	q.operation = fault.Row
	if len(q.path) > 1 {
		q.object = q.path[1]
	}
	switch {
	case len(q.path) == 1, len(q.path) == 2 && q.method == http.MethodGet, len(q.path) == 3 && q.path[2] == "describe":
		q.operation = fault.Describe
	case q.method == http.MethodDelete:
		q.operation = fault.Delete
	}
}

func (q *request) classifyComposite() {
	q.operation = fault.Composite
	if len(q.path) == 1 || q.path[1] != "sobjects" {
		return
	}
	if len(q.path) > 2 {
		q.object = q.path[2]
	} else if q.body != nil {
		q.object = firstType(q.body)
	}
	switch {
	case q.method == http.MethodDelete:
		q.operation = fault.Delete
	case q.method == http.MethodPatch && len(q.path) == 4:
		q.operation = fault.CollectionsUpsert
	case q.method == http.MethodPatch:
		q.operation = fault.CollectionsUpdate
	case q.method == http.MethodPost && len(q.path) == 2:
		q.operation = fault.CollectionsInsert
	default:
		q.operation = fault.Row
	}
}

// firstType is the type of the first record of a collection.
func firstType(body *jsonin.Value) string {
	records := body.Get("records")
	if records == nil || len(records.Items) == 0 {
		return ""
	}
	if attributes := records.Items[0].Get("attributes"); attributes != nil {
		return attributes.StringAt("type")
	}
	return ""
}

// handle carries out a request in its transaction.
func (a *API) handle(q *request) reply {
	if len(q.path) == 0 {
		return ok(resources(q))
	}
	switch q.path[0] {
	case "limits":
		return a.limits()
	case "query", "queryAll":
		return a.queries(q)
	case "sobjects":
		return a.sobjects(q)
	case "composite":
		return a.composites(q)
	case "jobs":
		if !q.inside {
			return a.jobs(q)
		}
	case "tooling":
		if !q.inside {
			return a.tooling(q)
		}
	}
	return notFound()
}

// writes says whether a request changes rows by itself, so that the exchange
// must give it a transaction to commit.
func (q *request) writes() bool {
	switch q.operation {
	case fault.CollectionsInsert, fault.CollectionsUpdate, fault.CollectionsUpsert, fault.Delete, fault.Row:
		return q.method != http.MethodGet
	}
	return false
}
