package poll

import (
	"context"
	"fmt"
	"time"

	"sfbridge/bridge/event"
	"sfbridge/salesforce"
	"sfbridge/salesforce/soql"
)

// question is what a due query is to find.
type question struct {
	queues []string
	now    time.Time
	after  *event.Event // last row of the page before; nil: from the start
	count  bool         // count the due rows too

	elsewhere []string // queues of others to look at too
}

// answer is what a due query found.
type answer struct {
	due     []*event.Event // in fetching order
	waiting []*event.Event // open, but not due or in a sister queue
	behind  []*event.Event // open, looked up behind a page that was cut off
	further bool           // a page after the first
	cut     bool           // there are more due rows
	total   int            // due rows, as many as found unless counted
	others  map[string]int // due rows in the queues of others; nil: none are known
	nextDue time.Time      // nearest next attempt of our waiting rows; zero: none
}

// ask runs one due query for all queues, in one call: rows that are due, rows
// of the same queues that are not, and rows of the sister queues, which the
// other processor works on.
func (r *rows) ask(ctx context.Context, q question) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	subs, err := q.subrequests()
	if err != nil {
		return answer{}, err
	}
	replies, err := r.org.Composite(ctx, subs, false)
	if err != nil {
		return answer{}, err
	}
	var pages [3]found
	for i := range pages {
		if pages[i], err = page(replies[i]); err != nil {
			return answer{}, fmt.Errorf("reading %s rows: %w", subs[i].Ref, err)
		}
	}
	due, later, sisters := pages[0], pages[1], pages[2]
	a := answer{
		due: due.events, waiting: append(later.events, sisters.events...),
		further: q.after != nil, cut: due.cut, total: len(due.events),
	}
	if len(later.events) > 0 {
		a.nextDue = later.events[0].NextAttempt
	}
	if q.count && replies[len(pages)].OK() {
		a.total = replies[len(pages)].Total
	}
	if len(q.elsewhere) > 0 {
		a.others = foundElsewhere(replies[len(replies)-1])
	}
	a.behind, err = r.hidden(ctx, q, a, later.cut || sisters.cut)
	return a, err
}

func (q question) subrequests() ([]salesforce.Subrequest, error) {
	due := q.dueNow()
	type named struct {
		ref   string
		query *soql.Query
	}
	texts := []named{
		{"due", keys(due, q.behind()).OrderBy(event.FieldSourceTime+" NULLS FIRST", "Id").Limit(pageLimit)},
		{"waiting", keys(q.later()).OrderBy(event.FieldNextAttempt, "Id").Limit(pageLimit)},
		{"sister", keys(q.sisters()).OrderBy(event.FieldSourceTime+" NULLS FIRST", "Id").Limit(pageLimit)},
	}
	if q.count {
		texts = append(texts, named{"count", soql.Select("COUNT()").From(event.Object).Where(due)})
	}
	if len(q.elsewhere) > 0 {
		texts = append(texts, named{"elsewhere", q.dueElsewhere()})
	}
	subs := make([]salesforce.Subrequest, len(texts))
	for i, t := range texts {
		text, err := t.query.Build()
		if err != nil {
			return nil, fmt.Errorf("asking for %s rows: %w", t.ref, err)
		}
		subs[i] = salesforce.QueryRows(t.ref, text)
	}
	return subs, nil
}

// keys selects light rows.
func keys(where ...soql.Cond) *soql.Query {
	return soql.Select(event.KeyFields()...).From(event.Object).Where(where...)
}

func (q question) ours() soql.Cond { return soql.In(event.FieldQueue, q.queues) }

func (q question) dueNow() soql.Cond {
	return soql.And(q.ours(), soql.Or(soql.Null(event.FieldNextAttempt), soql.AtMost(event.FieldNextAttempt, q.now)))
}

func (q question) later() soql.Cond {
	return soql.And(q.ours(), soql.Greater(event.FieldNextAttempt, q.now))
}

func (q question) sisters() soql.Cond {
	names := make([]string, len(q.queues))
	for i, queue := range q.queues {
		names[i] = event.SisterQueue(queue)
	}
	return soql.In(event.FieldQueue, names)
}

// behind selects what follows the page before.
func (q question) behind() soql.Cond {
	if q.after == nil {
		return soql.Cond{}
	}
	return after(q.after)
}

// after selects what follows a row in fetching order.
func after(e *event.Event) soql.Cond {
	id := soql.Greater("Id", e.RowID)
	if e.SourceTime.IsZero() {
		return soql.Or(soql.NotNull(event.FieldSourceTime), id)
	}
	return soql.Or(soql.Greater(event.FieldSourceTime, e.SourceTime), soql.And(soql.Eq(event.FieldSourceTime, e.SourceTime), id))
}

// found is one page of light rows.
type found struct {
	events []*event.Event
	cut    bool
}

// readable reads rows. One that can't be read in full is kept with what could be
// read: it is set aside when its turn comes.
func readable(records []salesforce.Record) []*event.Event {
	events := make([]*event.Event, len(records))
	for i, record := range records {
		events[i], _ = event.FromRecord(record)
	}
	return events
}

func page(reply salesforce.Subresponse) (found, error) {
	if !reply.OK() {
		return found{}, &salesforce.Error{Op: salesforce.OpComposite, Status: reply.Status, Fault: reply.Fault()}
	}
	return found{events: readable(reply.Records), cut: reply.Next != "" || len(reply.Records) >= pageLimit}, nil
}

// hidden looks for earlier events of the entities at hand behind the end of a
// page. Fetching order is order within an entity when orders are times, so only
// other entities have to be looked for, unless rows that wait were cut off.
func (r *rows) hidden(ctx context.Context, q question, a answer, cutWaiting bool) ([]*event.Event, error) {
	if !cutWaiting && !a.cut {
		return nil, nil
	}
	objects, latest := suspectObjects(a.due, cutWaiting)
	if len(objects) == 0 {
		return nil, nil
	}
	var where []soql.Cond
	if cutWaiting {
		where = append(where, q.sisters(), q.later())
	}
	if a.cut {
		where = append(where, soql.And(q.ours(), after(a.due[len(a.due)-1]),
			soql.Or(soql.Null(event.FieldOrder), soql.AtMost(event.FieldOrder, latest))))
	}
	var hidden []*event.Event
	for _, chunk := range soql.Chunks(objects, objectsBudget, pageLimit) {
		text, err := keys(soql.Or(where...), soql.In(event.FieldObjectID, chunk)).Limit(pageLimit).Build()
		if err != nil {
			return nil, fmt.Errorf("asking for earlier events behind the page: %w", err)
		}
		records, err := r.org.Query(ctx, text)
		if err != nil {
			return nil, fmt.Errorf("reading earlier events behind the page: %w", err)
		}
		hidden = append(hidden, readable(records)...)
	}
	return hidden, nil
}

// suspectObjects lists the provider's objects that may have earlier events
// which the page doesn't show, and the highest order on it.
func suspectObjects(due []*event.Event, all bool) (objects []string, latest int64) {
	seen := map[string]bool{}
	for _, e := range due {
		if e.ObjectID == "" {
			continue
		}
		if e.Order != nil {
			latest = max(latest, *e.Order)
		}
		if (all || !timed(e)) && !seen[e.ObjectID] {
			seen[e.ObjectID] = true
			objects = append(objects, e.ObjectID)
		}
	}
	return objects, latest
}

// timed says whether the event's order is its source time, which Salesforce
// may have cut to seconds.
func timed(e *event.Event) bool {
	return e.Order != nil && *e.Order/1000 == e.SourceTime.Unix()
}

// reviews counts the rows that wait for a person. The count reads a field
// without index, so it is made rarely and given up early.
func (r *rows) reviews(ctx context.Context) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, r.timeout/4)
	defer cancel()
	text, err := soql.Select("COUNT()").From(event.Object).Where(soql.Eq(event.FieldStatus, string(event.Review))).Build()
	if err != nil {
		return 0, fmt.Errorf("asking for what waits for a person: %w", err)
	}
	replies, err := r.org.Composite(ctx, []salesforce.Subrequest{salesforce.QueryRows("review", text)}, false)
	if err != nil {
		return 0, err
	}
	if reply := replies[0]; !reply.OK() {
		return 0, &salesforce.Error{Op: salesforce.OpComposite, Status: reply.Status, Fault: reply.Fault()}
	}
	return replies[0].Total, nil
}
