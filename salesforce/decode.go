package salesforce

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
)

type compositeReply struct {
	Responses []subReply `json:"compositeResponse"`
}

type subReply struct {
	Body   json.RawMessage `json:"body"`
	Status int             `json:"httpStatusCode"`
	Ref    string          `json:"referenceId"`
}

type graphReply struct {
	Graphs []struct {
		ID       string         `json:"graphId"`
		Response compositeReply `json:"graphResponse"`
		OK       bool           `json:"isSuccessful"`
	} `json:"graphs"`
}

// saveReply is a row's result, or an error standing in its place.
type saveReply struct {
	ID      string       `json:"id"`
	Success *bool        `json:"success"`
	Created *bool        `json:"created"`
	Errors  []faultReply `json:"errors"`
	faultReply
}

type faultReply struct {
	StatusCode string   `json:"statusCode"`
	ErrorCode  string   `json:"errorCode"`
	Message    string   `json:"message"`
	Fields     []string `json:"fields"`
}

func (f faultReply) code() string {
	if f.StatusCode != "" {
		return f.StatusCode
	}
	return f.ErrorCode
}

func (f faultReply) fault(status int, keyField string) Fault {
	return newFault(Answer{Code: f.code(), Message: f.Message, Status: status, Write: true, KeyField: keyField}, f.Fields)
}

func (s saveReply) result(keyField string) SaveResult {
	r := SaveResult{ID: s.ID, Success: s.Success != nil && *s.Success, Created: s.Created}
	for _, f := range s.Errors {
		r.Errors = append(r.Errors, f.fault(0, keyField))
	}
	if s.Success == nil && s.code() != "" {
		r.Errors = append(r.Errors, s.fault(0, keyField))
	}
	return r
}

// decodeSaves reads the results of a collection.
func decodeSaves(body []byte, keyField string) ([]SaveResult, bool) {
	var replies []saveReply
	if !unmarshal(body, &replies) || replies == nil {
		return nil, false
	}
	results := make([]SaveResult, len(replies))
	for i, r := range replies {
		if r.Success == nil && r.code() == "" {
			return nil, false
		}
		results[i] = r.result(keyField)
	}
	return results, true
}

// decodeSave reads the 2xx answer to one row. An answer without a body is a
// success of the row that was named.
func decodeSave(status int, body []byte, rowID string) (SaveResult, bool) {
	if len(bytes.TrimSpace(body)) == 0 || string(bytes.TrimSpace(body)) == "null" {
		return SaveResult{ID: rowID, Success: true, Created: createdBy(status)}, true
	}
	var r saveReply
	if !unmarshal(body, &r) || r.Success == nil {
		return SaveResult{}, false
	}
	result := r.result("")
	if result.Created == nil {
		result.Created = createdBy(status)
	}
	return result, true
}

func createdBy(status int) *bool {
	created := status == http.StatusCreated
	return &created
}

// decodeSubs matches the answers of a composite to its subrequests. The
// problem it may tell means that the outcome can't be known.
func decodeSubs(subs []Subrequest, replies []subReply) (out []Subresponse, problem string) {
	if len(replies) != len(subs) {
		return nil, fmt.Sprintf("%d answers for %d subrequests", len(replies), len(subs))
	}
	byRef := make(map[string]subReply, len(replies))
	for _, r := range replies {
		byRef[r.Ref] = r
	}
	out = make([]Subresponse, len(subs))
	for i, s := range subs {
		r, ok := byRef[s.Ref]
		if !ok {
			return nil, "no answer for subrequest " + s.Ref
		}
		if out[i], ok = decodeSub(s, r); !ok {
			return nil, "unreadable answer for subrequest " + s.Ref
		}
	}
	return out, ""
}

func decodeSub(s Subrequest, r subReply) (Subresponse, bool) {
	out := Subresponse{Ref: s.Ref, Status: r.Status}
	good := r.Status >= 200 && r.Status < 300
	switch {
	case s.kind == kindRows:
		return decodeRowsSub(s, r, out)
	case !good:
		out.Faults = decodeFaults(r.Status, r.Body, Answer{Write: s.method != http.MethodGet, KeyField: s.keyField})
		return out, true
	case s.kind == kindQuery:
		p := page{}
		err := p.read(bytes.NewReader(r.Body), func(rec Record) error {
			out.Records = append(out.Records, rec)
			return nil
		})
		out.Total, out.Next = p.total, p.next
		return out, err == nil && p.finish() == nil
	default:
		result, ok := decodeSave(r.Status, r.Body, s.rowID)
		out.Results = []SaveResult{result}
		return out, ok
	}
}

// decodeRowsSub reads a collection's answer: results, or, when it was refused
// or undone as a whole, errors in their place.
func decodeRowsSub(s Subrequest, r subReply, out Subresponse) (Subresponse, bool) {
	good := r.Status >= 200 && r.Status < 300
	if results, ok := decodeSaves(r.Body, s.keyField); ok && len(results) == s.rows &&
		(slices.ContainsFunc(results, succeeded) || isResults(r.Body)) {
		out.Results = results
		return out, true
	}
	if good {
		return out, false
	}
	out.Faults = decodeFaults(r.Status, r.Body, Answer{Write: true, KeyField: s.keyField})
	return out, true
}

func succeeded(r SaveResult) bool { return r.Success }

// isResults tells a list of row results from a list of errors of the whole
// subrequest, which can have the same length.
func isResults(body []byte) bool {
	var replies []struct {
		Success *bool `json:"success"`
	}
	if !unmarshal(body, &replies) {
		return false
	}
	for _, r := range replies {
		if r.Success != nil {
			return true
		}
	}
	return false
}

func decodeGraphs(graphs []Graph, env graphReply) (out []GraphResult, problem string) {
	if len(env.Graphs) != len(graphs) {
		return nil, fmt.Sprintf("%d answers for %d graphs", len(env.Graphs), len(graphs))
	}
	at := make(map[string]int, len(env.Graphs))
	for i, g := range env.Graphs {
		at[g.ID] = i
	}
	out = make([]GraphResult, len(graphs))
	for i, g := range graphs {
		n, ok := at[g.ID]
		if !ok {
			return nil, "no answer for graph " + g.ID
		}
		reply := env.Graphs[n]
		responses, problem := decodeGraph(g, reply.Response.Responses, reply.OK)
		if problem != "" {
			return nil, "graph " + g.ID + ": " + problem
		}
		out[i] = GraphResult{ID: g.ID, OK: reply.OK && Committed(responses), Responses: responses}
	}
	return out, ""
}

// decodeGraph reads one graph's answers. One that failed may answer for fewer
// requests than it has, as a graph that was refused before its rows were tried
// does; nothing of it was written either way.
func decodeGraph(g Graph, replies []subReply, ok bool) ([]Subresponse, string) {
	if ok || len(replies) == len(g.Requests) {
		return decodeSubs(g.Requests, replies)
	}
	var out []Subresponse
	for _, r := range replies {
		out = append(out, Subresponse{Ref: r.Ref, Status: r.Status,
			Faults: decodeFaults(r.Status, r.Body, Answer{Write: true})})
	}
	return out, ""
}

// unmarshal reads exactly one JSON value, numbers with all their digits.
func unmarshal(body []byte, into any) bool {
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	if dec.Decode(into) != nil {
		return false
	}
	return len(bytes.TrimSpace(body[dec.InputOffset():])) == 0
}
