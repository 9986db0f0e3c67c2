package effect

import (
	"context"
	"fmt"
	"slices"
	"time"

	"sfbridge/bridge/event"
	"sfbridge/internal/failpoint"
	"sfbridge/salesforce"
)

// Bounds of recording one batch.
const (
	maxTogether = 2  // tries as one transaction until each event goes by itself
	maxRecords  = 8  // tries in all
	maxLocks    = 20 // lock rows beside two collections
)

// record writes the results of a batch down. What was refused, because the
// event's row has moved on or is held, is read again and decided again. What
// can't be written in the end stays due: it is sent again under its own key.
func (w *Worker) record(ctx context.Context, jobs []*job) error {
	open := slices.DeleteFunc(slices.Clone(jobs), func(j *job) bool { return len(j.tried()) == 0 })
	for try := 1; len(open) > 0; try++ {
		var err error
		if try <= maxTogether {
			open, err = w.together(ctx, open)
		} else {
			open, err = w.apart(ctx, open)
		}
		switch {
		case len(open) == 0:
			return nil
		case try == maxRecords, pointless(err):
			w.cfg.Log.Error("results of effects could not be recorded: they will be sent again under their keys", "events", len(open), "error", err)
			return err
		}
		rest := event.Backoff{Base: 250 * time.Millisecond, Max: 8 * time.Second}.Delay(try, w.cfg.Random)
		if e := w.cfg.Sleep(ctx, rest); e != nil {
			return e
		}
		if fresh, e := w.again(ctx, open); e == nil {
			open = fresh
		}
	}
	return nil
}

// pointless says whether sending the same again can't help at the moment.
func pointless(err error) bool {
	switch salesforce.ClassOf(err) {
	case salesforce.ClassLimit, salesforce.ClassAuth, salesforce.ClassConfiguration:
		return err != nil
	}
	return false
}

// tried are the deliveries that have a result to record.
func (j *job) tried() []*delivery {
	return slices.DeleteFunc(slices.Clone(j.sent), func(d *delivery) bool { return d.result == nil })
}

// together records events as few transactions, each all or none. It returns
// those that were not recorded.
func (w *Worker) together(ctx context.Context, jobs []*job) (left []*job, err error) {
	for _, part := range parts(jobs) {
		subs := w.locks(part)
		var effects, events []salesforce.Row
		var moves []move
		for _, j := range part {
			m := w.move(j)
			moves = append(moves, m)
			effects, events = append(effects, m.effects...), append(events, m.event)
		}
		subs = append(subs, salesforce.UpdateRows("x", effects, true), salesforce.UpdateRows("e", events, true))
		failpoint.Hit(failpoint.EffectMoving)
		answers, e := w.cfg.Org.Composite(ctx, subs, true)
		if e == nil && !salesforce.Committed(answers) {
			e = refusal(answers)
		}
		if e != nil {
			left = append(left, part...)
			err = firstError(err, e)
			continue
		}
		w.settle(moves)
	}
	return left, err
}

// parts cuts jobs so that the lock rows of each part fit into one call.
func parts(jobs []*job) [][]*job {
	var out [][]*job
	var part []*job
	queues := map[string]bool{}
	for _, j := range jobs {
		if !queues[j.ev.HomeQueue] && len(queues) == maxLocks {
			out, part = append(out, part), nil
			clear(queues)
		}
		queues[j.ev.HomeQueue] = true
		part = append(part, j)
	}
	return append(out, part)
}

// apart records each event as a graph of its own, so that one that is refused
// can't hurt others.
func (w *Worker) apart(ctx context.Context, jobs []*job) (left []*job, err error) {
	for part := range slices.Chunk(jobs, salesforce.MaxGraphs) {
		var graphs []salesforce.Graph
		var sent []*job
		var moves []move
		nodes := 0
		for i, j := range part {
			m := w.move(j)
			if nodes += len(m.effects) + 2; nodes > salesforce.MaxNodes && i > 0 {
				left = append(left, j)
				continue
			}
			subs := w.locks([]*job{j})
			for k, row := range m.effects {
				subs = append(subs, salesforce.UpdateRow(fmt.Sprintf("x%d", k), row))
			}
			subs = append(subs, salesforce.UpdateRow("e", m.event))
			graphs = append(graphs, salesforce.Graph{ID: fmt.Sprintf("g%d", i), Requests: subs})
			sent, moves = append(sent, j), append(moves, m)
		}
		results, e := w.cfg.Org.Graph(ctx, graphs)
		if e != nil {
			left, err = append(left, sent...), firstError(err, e)
			continue
		}
		for i, r := range results {
			if !r.OK {
				left = append(left, sent[i])
				err = firstError(err, refusal(r.Responses))
				continue
			}
			w.settle(moves[i : i+1])
		}
	}
	return left, err
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// refusal tells why an event's results were not taken.
func refusal(answers []salesforce.Subresponse) error {
	fault := salesforce.Fault{Code: "UNKNOWN", Message: "refused without a reason", Class: salesforce.ClassRetryable}
	if causes := salesforce.Culprits(answers); len(causes) > 0 {
		fault = causes[0].Fault
	}
	return fmt.Errorf("recording results of effects: %w", &salesforce.Error{Op: salesforce.OpComposite, Status: 200, Fault: fault})
}

// locks begin every transaction with the rows of its queues, in name order, so
// that the org itself runs those apart that could decide on each other's reads.
func (w *Worker) locks(jobs []*job) []salesforce.Subrequest {
	names := map[string]bool{}
	for _, j := range jobs {
		if j.ev.HomeQueue != "" {
			names[j.ev.HomeQueue] = true
		}
	}
	var subs []salesforce.Subrequest
	for i, name := range sorted(names) {
		subs = append(subs, salesforce.UpsertRow(fmt.Sprintf("q%d", i), event.QueueFieldName, salesforce.Row{
			Object: event.QueueObject,
			Fields: map[string]any{event.QueueFieldName: name, event.QueueFieldTouched: event.FormatTime(w.cfg.Now())},
		}))
	}
	return subs
}

func sorted(names map[string]bool) []string {
	out := make([]string, 0, len(names))
	for name := range names {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// settle tells of what is recorded.
func (w *Worker) settle(moves []move) {
	for _, m := range moves {
		for _, d := range m.job.tried() {
			d.log(w)
		}
		switch m.status {
		case m.job.ev.Status:
		case event.Completed:
			w.cfg.Metrics.Event(m.job.ev.Source, string(m.job.ev.Outcome))
		default:
			w.cfg.Metrics.Event(m.job.ev.Source, string(m.status))
		}
	}
}
