package apply

import (
	"context"
	"fmt"
	"slices"

	"sfbridge/salesforce"
	"sfbridge/salesforce/soql"
)

// question is one query and what to do with its rows.
type question struct {
	query  *soql.Query
	object string
	take   func(salesforce.Record)
	// none is called before the rows come: what is asked for may be absent.
	none func()
}

// ask runs the queries: a single one by itself, several in as few calls as
// possible. It returns the first error with the question it belongs to.
func (r *run) ask(ctx context.Context, questions []question) (failed *question, err error) {
	if len(questions) == 1 {
		q := questions[0]
		text, err := q.query.Build()
		if err != nil {
			return &q, err
		}
		rows, err := r.org.Query(ctx, text)
		if err != nil {
			return &q, fmt.Errorf("reading %s: %w", q.object, err)
		}
		q.accept(rows)
		return nil, nil
	}
	for part := range slices.Chunk(questions, salesforce.MaxCollections) {
		if failed, err := r.askTogether(ctx, part); err != nil {
			return failed, err
		}
	}
	return nil, nil
}

func (r *run) askTogether(ctx context.Context, part []question) (failed *question, err error) {
	subs := make([]salesforce.Subrequest, len(part))
	for i, q := range part {
		text, err := q.query.Build()
		if err != nil {
			return &q, err
		}
		subs[i] = salesforce.QueryRows(fmt.Sprintf("q%d", i), text)
	}
	answers, err := r.org.Composite(ctx, subs, false)
	if err != nil {
		return nil, fmt.Errorf("reading targets: %w", err)
	}
	for i, q := range part {
		if !answers[i].OK() {
			fault := answers[i].Fault()
			return &q, fmt.Errorf("reading %s: %w", q.object,
				&salesforce.Error{Op: salesforce.OpQuery, Status: answers[i].Status, Fault: fault})
		}
		rows := answers[i].Records
		if answers[i].Next != "" {
			rest, err := r.org.QueryFrom(ctx, answers[i].Next)
			if err != nil {
				return &q, fmt.Errorf("reading %s: %w", q.object, err)
			}
			rows = append(slices.Clone(rows), rest...)
		}
		q.accept(rows)
	}
	return nil, nil
}

func (q question) accept(rows []salesforce.Record) {
	if q.none != nil {
		q.none()
	}
	for _, row := range rows {
		q.take(row)
	}
}
