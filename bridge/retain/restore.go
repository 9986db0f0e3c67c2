package retain

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"sfbridge/bridge/event"
	"sfbridge/salesforce"
)

// Source is what restoring needs of the Salesforce client.
type Source interface {
	Query(ctx context.Context, soql string) ([]salesforce.Record, error)
	Graph(ctx context.Context, graphs []salesforce.Graph) ([]salesforce.GraphResult, error)
}

// Restoring is a request to put archived events back.
type Restoring struct {
	Org  Source
	From []string // files or directories of an archive

	Match  func(*event.Event) bool // nil: every event
	Limit  int                     // most events; 0: no bound
	DryRun bool                    // count only
	Who    string                  // for the history
	Reason string                  // for the history; may be empty
	// Progress is told after every call how it stands; may be nil.
	Progress func(Restored)

	Log  *slog.Logger        // nil: discarded
	Now  func() time.Time    // nil: time.Now
	IntN func(n int64) int64 // 0 to n-1; nil: math/rand/v2
}

// Restored counts what was put back.
type Restored struct {
	Files    int `json:"files"`    // read, their checksums right
	Matched  int `json:"matched"`  // events chosen
	Restored int `json:"restored"` // rows that were gone
	Refilled int `json:"refilled"` // rows whose payload was cleared
	Exists   int `json:"exists"`   // rows that lack nothing: left alone
	Failed   int `json:"failed"`
	// Refusals name some of the failed.
	Refusals []Refusal `json:"refusals,omitempty"`
}

// Refusal is an event that could not be put back.
type Refusal struct {
	EventID string `json:"event_id"`
	Why     string `json:"why"`
}

const maxRefusals = 20

// Bounds of one call of restoring.
const (
	callBytes = 4 << 20
)

// Restore puts events back as they ended: nothing is worked on again unless a
// person replays them. A row that is there keeps what it has and gets its
// payload back if that was cleared. The end of the work is set to now, so that
// retention leaves the row alone for as long as any other.
func Restore(ctx context.Context, r Restoring) (Restored, error) {
	if r.Org == nil || len(r.From) == 0 {
		return Restored{}, errors.New("restore: no Salesforce client, or no archive")
	}
	w := &restoring{Restoring: r}
	if w.Log == nil {
		w.Log = slog.New(slog.DiscardHandler)
	}
	if w.Now == nil {
		w.Now = time.Now
	}
	if w.IntN == nil {
		w.IntN = rand.Int64N
	}
	if w.Who == "" {
		w.Who = "operator"
	}
	err := w.run(ctx)
	return w.report, err
}

// restoring is a restore under way.
type restoring struct {
	Restoring
	report Restored
	best   map[string]place // by event id
	batch  []*archived
	bytes  int
}

// place is where a line stands.
type place struct {
	file, line int
	full       bool // it holds the payload
}

func (w *restoring) run(ctx context.Context) error {
	files, err := w.open()
	if err != nil {
		return err
	}
	if err := w.survey(ctx, files); err != nil {
		return err
	}
	w.report.Matched = len(w.best)
	for i, name := range files {
		err := lines(name, func(n int, l Line) error {
			a, err := readLine(l)
			if err != nil || w.best[a.ID] != (place{i, n, a.full()}) {
				return nil // told by the survey, or another line is the one
			}
			return w.take(ctx, a)
		})
		if err != nil {
			return err
		}
	}
	return w.send(ctx)
}

// open lists the volumes and checks every one of them before anything is
// written.
func (w *restoring) open() ([]string, error) {
	var files []string
	for _, path := range w.From {
		found, err := volumes(path)
		if err != nil {
			return nil, fmt.Errorf("reading the archive: %w", err)
		}
		files = append(files, found...)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("there is no archive file in %v", w.From)
	}
	for _, name := range files {
		if err := check(name); err != nil {
			return nil, err
		}
	}
	w.report.Files = len(files)
	return files, nil
}

// survey finds the line that tells most of each event: the latest that holds
// its payload, else the latest.
func (w *restoring) survey(ctx context.Context, files []string) error {
	w.best = map[string]place{}
	for i, name := range files {
		err := lines(name, func(n int, l Line) error {
			a, err := readLine(l)
			if err != nil {
				w.refuse(a.ID, err.Error())
				return nil
			}
			if w.Match != nil && !w.Match(a.Event) {
				return ctx.Err()
			}
			old, met := w.best[a.ID]
			if !met && w.Limit > 0 && len(w.best) == w.Limit {
				return ctx.Err()
			}
			if !met || a.full() || !old.full {
				w.best[a.ID] = place{i, n, a.full()}
			}
			return ctx.Err()
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *restoring) refuse(id, why string) {
	w.report.Failed++
	if len(w.report.Refusals) < maxRefusals {
		w.report.Refusals = append(w.report.Refusals, Refusal{EventID: id, Why: why})
	}
}

// take gathers events into calls.
func (w *restoring) take(ctx context.Context, a *archived) error {
	if len(w.batch) == salesforce.MaxGraphs || len(w.batch) > 0 && w.bytes+a.size() > callBytes || w.nodes()+a.nodes() > salesforce.MaxNodes {
		if err := w.send(ctx); err != nil {
			return err
		}
	}
	w.batch, w.bytes = append(w.batch, a), w.bytes+a.size()
	return nil
}

func (w *restoring) nodes() int {
	n := 0
	for _, a := range w.batch {
		n += a.nodes()
	}
	return n
}

// send puts the gathered events back, each in a transaction of its own.
func (w *restoring) send(ctx context.Context) error {
	batch := w.batch
	w.batch, w.bytes = nil, 0
	there, err := w.present(ctx, batch)
	if err != nil {
		return err
	}
	var graphs []salesforce.Graph
	var sent []*archived
	for _, a := range batch {
		row := there[a.ID]
		switch {
		case row != nil && (!row.Cleared() || !a.full()):
			w.report.Exists++
		case row != nil:
			graphs, sent = append(graphs, salesforce.Graph{ID: fmt.Sprintf("g%d", len(graphs)), Requests: w.refill(a, row)}), append(sent, a)
		default:
			graphs, sent = append(graphs, salesforce.Graph{ID: fmt.Sprintf("g%d", len(graphs)), Requests: w.insert(a)}), append(sent, a)
		}
	}
	if len(graphs) > 0 && !w.DryRun {
		if err := w.commit(ctx, graphs, sent, there); err != nil {
			return err
		}
	}
	if w.Progress != nil {
		w.Progress(w.report)
	}
	return nil
}

func (w *restoring) commit(ctx context.Context, graphs []salesforce.Graph, sent []*archived, there map[string]*present) error {
	answers, err := w.Org.Graph(ctx, graphs)
	if err != nil {
		return fmt.Errorf("restoring %d events (start it again to go on): %w", len(sent), err)
	}
	for i, answer := range answers {
		a := sent[i]
		switch {
		case !answer.OK:
			why := "refused without a reason"
			if causes := salesforce.Culprits(answer.Responses); len(causes) > 0 {
				why = causes[0].Fault.Code + ": " + causes[0].Fault.Message
			}
			w.refuse(a.ID, why)
			continue
		case there[a.ID] != nil:
			w.report.Refilled++
		default:
			w.report.Restored++
		}
		w.Log.Info("event restored from the archive", "event", a.ID, "by", w.Who)
	}
	return nil
}
