package stage

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"sfbridge/bridge/event"
	"sfbridge/salesforce"
)

// fakeOrg keeps staging rows in memory with a unique Event_Id__c.
type fakeOrg struct {
	mu       sync.Mutex
	rows     map[string]salesforce.Record // by event id
	foldCase bool
	calls    []int // rows of each insert
	queries  int
	latency  time.Duration // of a query
	horizons map[string]time.Time
	asked    int   // how often for horizons
	away     error // what such a question gets

	// before runs at the start of an insert, after at its end; their error is
	// the call's.
	before, after func(call int, rows []salesforce.Row) error
	// moved runs before an update, in the place of another writer.
	moved func()
	// refuse gives the fault of a row, if any.
	refuse func(salesforce.Row) *salesforce.Fault
}

func newFakeOrg() *fakeOrg { return &fakeOrg{rows: map[string]salesforce.Record{}} }

func (o *fakeOrg) key(id string) string {
	if o.foldCase {
		return strings.ToLower(id)
	}
	return id
}

func (o *fakeOrg) InsertAll(_ context.Context, rows []salesforce.Row, _ bool) ([]salesforce.SaveResult, error) {
	o.mu.Lock()
	call := len(o.calls)
	o.calls = append(o.calls, len(rows))
	o.mu.Unlock()
	if o.before != nil {
		if err := o.before(call, rows); err != nil {
			return nil, err
		}
	}
	results := make([]salesforce.SaveResult, len(rows))
	for i, r := range rows {
		results[i] = o.insert(r)
	}
	if o.after != nil {
		if err := o.after(call, rows); err != nil {
			return nil, err
		}
	}
	return results, nil
}

func (o *fakeOrg) insert(r salesforce.Row) salesforce.SaveResult {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.refuse != nil {
		if f := o.refuse(r); f != nil {
			return salesforce.SaveResult{Errors: []salesforce.Fault{*f}}
		}
	}
	id, _ := r.Fields[event.FieldID].(string)
	if id == "" {
		return salesforce.SaveResult{Errors: []salesforce.Fault{{Code: "REQUIRED_FIELD_MISSING", Class: salesforce.ClassData}}}
	}
	if _, taken := o.rows[o.key(id)]; taken {
		return salesforce.SaveResult{Errors: []salesforce.Fault{{Code: "DUPLICATE_VALUE", Class: salesforce.ClassDuplicate,
			Message: "duplicate value found: <unknown> duplicates value on record with id: <unknown>"}}}
	}
	record := salesforce.Record{"Id": fmt.Sprintf("a01%015d", len(o.rows)+1), event.FieldRevision: json.Number("1")}
	for name, v := range r.Fields {
		record[name] = v
	}
	o.rows[o.key(id)] = record
	return salesforce.SaveResult{ID: record.ID(), Success: true}
}

func (o *fakeOrg) UpdateAll(_ context.Context, rows []salesforce.Row, _ bool) ([]salesforce.SaveResult, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.moved != nil {
		o.moved()
	}
	results := make([]salesforce.SaveResult, len(rows))
	for i, r := range rows {
		for _, record := range o.rows {
			if record.ID() != r.ID {
				continue
			}
			if fmt.Sprint(r.Fields[event.FieldExpectedRevision]) != fmt.Sprint(record[event.FieldRevision]) {
				results[i] = salesforce.SaveResult{Errors: []salesforce.Fault{{Code: "FIELD_CUSTOM_VALIDATION_EXCEPTION", Class: salesforce.ClassStale}}}
				continue
			}
			for name, v := range r.Fields {
				record[name] = v
			}
			record[event.FieldRevision] = json.Number(fmt.Sprint(r.Fields[event.FieldRevision]))
			record[event.FieldDuplicateCount] = json.Number(fmt.Sprint(r.Fields[event.FieldDuplicateCount]))
			results[i] = salesforce.SaveResult{ID: r.ID, Success: true}
		}
	}
	return results, nil
}

func (o *fakeOrg) Composite(ctx context.Context, subs []salesforce.Subrequest, _ bool) ([]salesforce.Subresponse, error) {
	return nil, fmt.Errorf("the fake takes no composite of %d", len(subs))
}

var quoted = regexp.MustCompile(`'((?:[^'\\]|\\.)*)'`)

func (o *fakeOrg) Query(_ context.Context, soql string) ([]salesforce.Record, error) {
	time.Sleep(o.latency)
	o.mu.Lock()
	defer o.mu.Unlock()
	if strings.Contains(soql, "FROM "+event.QueueObject) {
		return o.lockRows(), o.away
	}
	o.queries++
	wanted := map[string]bool{}
	for _, m := range quoted.FindAllStringSubmatch(soql, -1) {
		wanted[m[1]] = true
	}
	var found []salesforce.Record
	for _, r := range o.rows {
		id := r.String(event.FieldID)
		byID := wanted[id]
		if o.foldCase {
			for w := range wanted {
				byID = byID || strings.EqualFold(w, id)
			}
		}
		if strings.Contains(soql, event.FieldConflictOf) {
			parent, _ := r[event.FieldConflictOf].(string)
			byID = parent != "" && wanted[parent]
		} else {
			byID = byID || wanted[r.ID()]
		}
		if byID {
			found = append(found, r)
		}
	}
	return found, nil
}

// lockRows answers a question for horizons. The lock is held.
func (o *fakeOrg) lockRows() []salesforce.Record {
	o.asked++
	var found []salesforce.Record
	for name, at := range o.horizons {
		found = append(found, salesforce.Record{event.QueueFieldName: name, event.QueueFieldHorizon: at.UTC().Format("2006-01-02T15:04:05.000-0700")})
	}
	return found
}

func (o *fakeOrg) count() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.rows)
}

func newEvent(key, hash string) *event.Event {
	id := event.ID("stripe", key)
	return &event.Event{ID: id, Source: "stripe", Payload: []byte(`{"id":1}`), Hash: strings.Repeat(hash, 32),
		Status: event.Received, HomeQueue: event.HomeQueue(event.ByBridge, id)}
}

func requests(events ...*event.Event) []Request {
	list := make([]Request, len(events))
	for i, e := range events {
		list[i] = Request{Event: e}
	}
	return list
}

// setup returns a fresh org and a stager on it.
func setup(t *testing.T, change func(*Config)) (*fakeOrg, *Stager) {
	t.Helper()
	org := newFakeOrg()
	cfg := Config{Salesforce: org}
	if change != nil {
		change(&cfg)
	}
	return org, New(cfg)
}
