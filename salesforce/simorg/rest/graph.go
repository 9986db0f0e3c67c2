package rest

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"sfbridge/salesforce/simorg/fault"
	"sfbridge/salesforce/simorg/jsonin"
	"sfbridge/salesforce/simorg/org"
)

const (
	maxGraphs       = 75
	maxGraphNodes   = 500
	maxGraphDepth   = 15
	maxNodeKinds    = 15 // different version x method x object
	maxFailedGraphs = 14
	maxGraphID      = 40
)

// graph is one graph of composite/graph.
type graph struct {
	id    string
	nodes []node
}

// graphs carries out each graph in a transaction of its own.
func (a *API) graphs(q *request) reply {
	list, err := q.readGraphs()
	if err != nil {
		return err.reply()
	}
	hold := a.cfg.Latency / 2 / time.Duration(len(list))
	failed := 0
	b := append([]byte(nil), `{"graphs":[`...)
	for i, g := range list {
		if i > 0 {
			b = append(b, ',')
		}
		var done []answered
		good := false
		if failed < maxFailedGraphs {
			done, good = a.atomic(q, g.nodes, hold)
		} else {
			done = a.rolledBack(nil, g.nodes)
		}
		if !good {
			failed++
		}
		b = append(b, `{"graphId":`...)
		b = appendString(b, g.id)
		b = append(b, `,"graphResponse":`...)
		b = appendComposite(b, done)
		b = append(b, `,"isSuccessful":`...)
		b = strconv.AppendBool(b, good)
		b = append(b, '}')
	}
	return ok(append(b, "]}"...))
}

func (q *request) readGraphs() ([]graph, *apiError) {
	v := q.body.Get("graphs")
	if v == nil || v.Kind != jsonin.Array || len(v.Items) == 0 {
		return nil, bad("INVALID_INPUT", "The request has no graphs.")
	}
	if len(v.Items) > maxGraphs {
		return nil, bad("INVALID_INPUT", fmt.Sprintf("A request can have at most %d graphs, this one has %d.", maxGraphs, len(v.Items)))
	}
	seen := map[string]bool{}
	total := 0
	var list []graph
	for i := range v.Items {
		g := graph{id: v.Items[i].StringAt("graphId")}
		if !referenceID.MatchString(g.id) || len(g.id) > maxGraphID || seen[g.id] {
			return nil, bad("INVALID_INPUT", "The graphId '"+g.id+"' must be unique, start with a letter or a number and have at most 40 characters.")
		}
		seen[g.id] = true
		var err *apiError
		if g.nodes, err = q.nodes(v.Items[i].Get("compositeRequest")); err != nil {
			return nil, err
		}
		if err = q.checkGraph(g); err != nil {
			return nil, err
		}
		if total += len(g.nodes); total > maxGraphNodes {
			return nil, bad("INVALID_INPUT", fmt.Sprintf("A request can have at most %d nodes in its graphs.", maxGraphNodes))
		}
		list = append(list, g)
	}
	return list, nil
}

// checkGraph holds a graph against the limits that its nodes alone show.
func (q *request) checkGraph(g graph) *apiError {
	kinds := map[string]bool{}
	depth := map[string]int{}
	for _, n := range g.nodes {
		s, ok := q.sub(n)
		if !ok || !graphNode(s) {
			return bad("INVALID_INPUT", "The url or method of node "+n.ref+" is not supported in a graph: "+n.method+" "+n.url)
		}
		kinds[fmt.Sprint(s.version, s.method, strings.ToLower(s.object))] = true
		depth[n.ref] = 1
		for _, ref := range references(n) {
			depth[n.ref] = max(depth[n.ref], depth[ref]+1)
		}
		if depth[n.ref] > maxGraphDepth {
			return bad("INVALID_INPUT", fmt.Sprintf("A graph can be at most %d levels deep.", maxGraphDepth))
		}
	}
	if len(kinds) > maxNodeKinds {
		return bad("INVALID_INPUT", fmt.Sprintf("A graph can have at most %d different nodes.", maxNodeKinds))
	}
	return nil
}

// graphNode says whether a graph takes the request: single rows only.
func graphNode(s *request) bool {
	if s.path[0] != "sobjects" {
		return false
	}
	switch len(s.path) {
	case 2:
		return s.method == http.MethodPost
	case 3:
		return s.operation != fault.Describe && s.method != http.MethodPost
	}
	return len(s.path) == 4
}

// references lists the nodes a node refers to.
func references(n node) []string {
	var refs []string
	collect := func(text string) string {
		for _, m := range referenceText.FindAllStringSubmatch(text, -1) {
			ref, _, _ := strings.Cut(strings.ReplaceAll(m[1], "[", "."), ".")
			refs = append(refs, ref)
		}
		return text
	}
	collect(n.url)
	if n.body != nil {
		expandValue(*n.body, collect)
	}
	return refs
}

// batch carries out independent subrequests; each of them is an API call.
func (a *API) batch(q *request) reply {
	list := q.body.Get("batchRequests")
	if list == nil || list.Kind != jsonin.Array || len(list.Items) == 0 || len(list.Items) > maxSubrequests {
		return bad("INVALID_INPUT", fmt.Sprintf("A batch must have 1 to %d subrequests.", maxSubrequests)).reply()
	}
	stop := flag(q.body, "haltOnError")
	hasErrors := false
	var results []byte
	for i := range list.Items {
		rep := refused(http.StatusPreconditionFailed, "BATCH_PROCESSING_HALTED", "Batch processing halted as requested by the haltOnError parameter")
		if !hasErrors || !stop {
			rep = a.batched(q, &list.Items[i], i > 0)
		}
		hasErrors = hasErrors || rep.failed()
		if i > 0 {
			results = append(results, ',')
		}
		results = append(results, `{"statusCode":`+itoa(rep.status)+`,"result":`...)
		if len(rep.body) == 0 {
			results = append(results, "null"...)
		}
		results = append(append(results, rep.body...), '}')
	}
	b := append([]byte(nil), `{"hasErrors":`...)
	b = strconv.AppendBool(b, hasErrors)
	b = append(append(b, `,"results":[`...), results...)
	return ok(append(b, "]}"...))
}

func (a *API) batched(q *request, v *jsonin.Value, counts bool) reply {
	n := node{method: strings.ToUpper(v.StringAt("method")), url: v.StringAt("url"), body: v.Get("richInput")}
	if !strings.HasPrefix(n.url, "/") {
		n.url = "/services/data/" + n.url
	}
	s, good := q.sub(n)
	if !good {
		return notFound()
	}
	if counts && !a.count(fault.Composite) {
		return limitExceeded("TotalRequests Limit exceeded.")
	}
	s.tx = a.cfg.Org.Begin()
	defer s.tx.Commit()
	if s.path[0] == "composite" {
		return bad(org.CodeHalted, "This resource is not supported in a batch: "+n.url).reply()
	}
	return a.handle(s)
}
