package salesforce

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
)

// Limits of one composite call.
const (
	MaxSubrequests = 25
	// MaxCollections counts collections and queries together.
	MaxCollections = 5
)

// Limits of one graph call.
const (
	MaxGraphs = 75
	MaxNodes  = 500
)

var refPattern = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{0,79}$`)

// Subresponse is the answer to one Subrequest.
type Subresponse struct {
	Ref string
	// Status is the outer status: of a transaction, trust it and the rows'
	// Success together (see OK); each alone can lie.
	Status int
	// Results: one for a row, one each for the rows of a collection. Absent
	// when the subrequest was refused as a whole.
	Results []SaveResult
	// Records, Total and Next are the first page of a query; Next continues it
	// in QueryFrom and is empty after the last page.
	Records []Record
	Total   int
	Next    string
	// Faults of the subrequest as a whole.
	Faults []Fault
}

// OK reports whether the subrequest and all its rows worked.
func (s Subresponse) OK() bool {
	if s.Status < 200 || s.Status > 299 || len(s.Faults) > 0 {
		return false
	}
	for _, r := range s.Results {
		if !r.Success {
			return false
		}
	}
	return true
}

// Fault gives the error that decides about the subrequest as a whole; the zero
// Fault when only rows, or nothing, failed.
func (s Subresponse) Fault() Fault {
	return SaveResult{Success: len(s.Faults) == 0, Errors: s.Faults}.Fault()
}

// Culprit is an error that made a transaction fail.
type Culprit struct {
	// Sub and Row are positions; Row is -1 for a subrequest refused as a whole.
	Sub, Row int
	Fault    Fault
}

// Committed reports whether a call sent with allOrNone happened: every outer
// status and every row says so.
func Committed(subs []Subresponse) bool {
	for _, s := range subs {
		if !s.OK() {
			return false
		}
	}
	return true
}

// Culprits gives the errors that aren't collateral. Of a transaction that
// failed, none means that the answer doesn't tell whose fault it was.
func Culprits(subs []Subresponse) []Culprit {
	var found []Culprit
	for i, s := range subs {
		for _, f := range s.Faults {
			if f.Class != ClassCollateral {
				found = append(found, Culprit{Sub: i, Row: -1, Fault: f})
			}
		}
		for j, r := range s.Results {
			if f := r.Fault(); !r.Success && len(r.Errors) > 0 && f.Class != ClassCollateral {
				found = append(found, Culprit{Sub: i, Row: j, Fault: f})
			}
		}
	}
	return found
}

// Composite sends up to MaxSubrequests in one call, in order, as one
// transaction when allOrNone is set. The error is that of the call; a
// subrequest's own stands in its Subresponse.
func (c *Client) Composite(ctx context.Context, subs []Subrequest, allOrNone bool) ([]Subresponse, error) {
	if len(subs) == 0 {
		return nil, nil
	}
	if err := checkComposite(subs); err != nil {
		return nil, refusal(OpComposite, "", "%v", err)
	}
	e := newEncoder(hintOf(subs))
	e.raw(`{"allOrNone":`)
	e.value(allOrNone)
	e.raw(`,"collateSubrequests":false,"compositeRequest":`)
	e.subrequests(subs, c.base)
	e.raw(`}`)
	if e.err != nil {
		return nil, refusal(OpComposite, "", "%v", e.err)
	}
	var out []Subresponse
	req := request{op: OpComposite, method: http.MethodPost, path: "composite", body: e.bytes(), write: anyWrite(subs)}
	err := c.call(ctx, req, func(r reply) error {
		var env compositeReply
		if !unmarshal(r.body, &env) {
			return r.unreadable()
		}
		var problem string
		if out, problem = decodeSubs(subs, env.Responses); problem != "" {
			return r.lost(problem)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Graph is a small transaction of its own inside a graph call. It holds rows
// only: no collections, no queries.
type Graph struct {
	ID       string
	Requests []Subrequest
}

// GraphResult is what happened to one Graph.
type GraphResult struct {
	ID string
	// OK: the whole graph happened; otherwise nothing of it did.
	OK        bool
	Responses []Subresponse
}

// Halted reports whether Salesforce didn't try the graph, because too many
// before it had failed. It can be sent again as it is.
func (g GraphResult) Halted() bool {
	return !g.OK && len(Culprits(g.Responses)) == 0
}

// Graph sends up to MaxGraphs graphs with up to MaxNodes rows together in one
// call. Each graph is a transaction; they don't touch each other. Results stand
// in the order of the graphs.
func (c *Client) Graph(ctx context.Context, graphs []Graph) ([]GraphResult, error) {
	if len(graphs) == 0 {
		return nil, nil
	}
	if err := checkGraphs(graphs); err != nil {
		return nil, refusal(OpGraph, "", "%v", err)
	}
	e := newEncoder(encodeHint * len(graphs))
	e.graphs(graphs, c.base)
	if e.err != nil {
		return nil, refusal(OpGraph, "", "%v", e.err)
	}
	var out []GraphResult
	req := request{op: OpGraph, method: http.MethodPost, path: "composite/graph", body: e.bytes(), write: true}
	err := c.call(ctx, req, func(r reply) error {
		var env graphReply
		if !unmarshal(r.body, &env) {
			return r.unreadable()
		}
		var problem string
		if out, problem = decodeGraphs(graphs, env); problem != "" {
			return r.lost(problem)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func checkComposite(subs []Subrequest) error {
	if len(subs) > MaxSubrequests {
		return fmt.Errorf("%d subrequests: at most %d", len(subs), MaxSubrequests)
	}
	collections := 0
	for _, s := range subs {
		if s.kind != kindRow {
			collections++
		}
	}
	if collections > MaxCollections {
		return fmt.Errorf("%d collections and queries in one call: at most %d", collections, MaxCollections)
	}
	return checkRefs(subs)
}

func checkGraphs(graphs []Graph) error {
	nodes := 0
	ids := map[string]bool{}
	for _, g := range graphs {
		if !refPattern.MatchString(g.ID) || ids[g.ID] {
			return fmt.Errorf("graph id %q: want a name of its own", g.ID)
		}
		ids[g.ID] = true
		nodes += len(g.Requests)
		for _, s := range g.Requests {
			if s.kind != kindRow {
				return fmt.Errorf("graph %s: collections and queries are not allowed in a graph", g.ID)
			}
		}
		if err := checkRefs(g.Requests); err != nil {
			return fmt.Errorf("graph %s: %w", g.ID, err)
		}
	}
	if len(graphs) > MaxGraphs || nodes > MaxNodes {
		return fmt.Errorf("%d graphs with %d rows: at most %d and %d", len(graphs), nodes, MaxGraphs, MaxNodes)
	}
	return nil
}

func checkRefs(subs []Subrequest) error {
	refs := make(map[string]bool, len(subs))
	for _, s := range subs {
		if !refPattern.MatchString(s.Ref) || refs[s.Ref] {
			return fmt.Errorf("reference %q: want a name of its own", s.Ref)
		}
		refs[s.Ref] = true
		if s.err != nil {
			return fmt.Errorf("%s: %w", s.Ref, s.err)
		}
	}
	return nil
}

func anyWrite(subs []Subrequest) bool {
	for _, s := range subs {
		if s.method != http.MethodGet {
			return true
		}
	}
	return false
}

func hintOf(subs []Subrequest) int {
	hint := encodeHint
	for _, s := range subs {
		hint += encodeHint + s.size + len(s.path)
	}
	return hint
}
