package retain

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"sfbridge/bridge/event"
	"sfbridge/salesforce"
)

// archived is an event as a line tells of it.
type archived struct {
	*event.Event
	Line
}

// readLine reads a line. Only finished events are ever archived; anything else
// would be worked on as soon as it is put back.
func readLine(l Line) (*archived, error) {
	e, err := event.FromRecord(l.Event)
	a := &archived{Event: e, Line: l}
	switch {
	case err != nil:
		return a, fmt.Errorf("the archived event can't be read: %w", err)
	case e.ID == "":
		return a, errors.New("an archived event without an id")
	case e.Status != event.Completed:
		return a, fmt.Errorf("an archived event with status %q: only completed ones are put back", e.Status)
	}
	return a, nil
}

// full says whether the line holds the payload.
func (a *archived) full() bool { return !a.Cleared() }

func (a *archived) nodes() int { return 1 + len(a.Chunks) + len(a.Line.Effects) }

func (a *archived) size() int {
	n := len(a.Payload)*4/3 + len(a.Context) + len(a.History) + 1024*a.nodes()
	for _, c := range a.Chunks {
		n += len(c)
	}
	return n
}

// dateTimes are the fields that are written in another form than they are read.
var dateTimes = []string{
	event.FieldSourceTime, event.FieldReceivedAt, event.FieldProcessedAt, event.FieldNextAttempt, event.FieldLastDuplicateAt,
	event.EffectFieldNextAttempt,
}

// writable turns archived fields into those of an insert.
func writable(stored map[string]any, without ...string) map[string]any {
	f := make(map[string]any, len(stored))
	for name, value := range stored {
		f[name] = value
	}
	for _, name := range append(without, "Id") {
		delete(f, name)
	}
	for _, name := range dateTimes {
		text, _ := f[name].(string)
		if t, err := event.ParseTime(text); err == nil {
			f[name] = event.FormatTime(t)
		}
	}
	return f
}

func (w *restoring) line(what string) event.Line {
	if w.Reason != "" {
		what += ": " + w.Reason
	}
	return event.Line{At: w.Now(), From: event.Completed, To: event.Completed, Who: w.Who, Why: what}
}

// insert puts a row back with its parts and effects. Its revisions begin anew;
// the row that it was in conflict with may be gone.
func (w *restoring) insert(a *archived) []salesforce.Subrequest {
	f := writable(a.Line.Event, event.FieldRevision, event.FieldExpectedRevision, event.FieldQueue, event.FieldConflictOf)
	f[event.FieldProcessedAt] = event.FormatTime(w.Now())
	f[event.FieldHistory] = event.AppendHistory(a.History, w.line("restored from the archive"))
	subs := append([]salesforce.Subrequest{salesforce.InsertRow("e", salesforce.Row{Object: event.Object, Fields: f})}, a.parts("@{e.id}")...)
	for i, stored := range a.Line.Effects {
		subs = append(subs, insertEffect(i, stored, "@{e.id}"))
	}
	return subs
}

// insertEffect puts a row back into the outbox of the event in a row.
func insertEffect(i int, stored map[string]any, row string) salesforce.Subrequest {
	x := writable(stored, event.EffectFieldQueue)
	x[event.EffectFieldEvent] = row
	return salesforce.InsertRow(fmt.Sprintf("x%d", i), salesforce.Row{Object: event.EffectObject, Fields: x})
}

// refillEffects gives effects back what was sent, answered and noted; one whose
// row is gone is put back.
func (a *archived) refillEffects(row *present) []salesforce.Subrequest {
	var subs []salesforce.Subrequest
	for i, stored := range a.Line.Effects {
		key, _ := stored[event.EffectFieldKey].(string)
		id, there := row.effects[key]
		if !there {
			subs = append(subs, insertEffect(i, stored, row.RowID))
			continue
		}
		f := map[string]any{}
		for _, name := range []string{event.EffectFieldRequest, event.EffectFieldResponse, event.EffectFieldHistory} {
			f[name] = stored[name]
		}
		subs = append(subs, salesforce.UpdateRow(fmt.Sprintf("x%d", i), salesforce.Row{Object: event.EffectObject, ID: id, Fields: f}))
	}
	return subs
}

// parts are the chunk rows of a large payload.
func (a *archived) parts(row string) []salesforce.Subrequest {
	var subs []salesforce.Subrequest
	for i, data := range a.Chunks {
		subs = append(subs, salesforce.InsertRow(fmt.Sprintf("c%d", i), salesforce.Row{Object: event.ChunkObject, Fields: map[string]any{
			event.ChunkFieldEvent: row, event.ChunkFieldIndex: i, event.ChunkFieldData: data,
		}}))
	}
	return subs
}

// refill gives a row its payload, context and history back, and its effects
// theirs.
func (w *restoring) refill(a *archived, row *present) []salesforce.Subrequest {
	f := map[string]any{
		event.FieldProcessedAt:      event.FormatTime(w.Now()),
		event.FieldHistory:          event.AppendHistory(joined(a.History, row.History), w.line("payload restored from the archive")),
		event.FieldExpectedRevision: row.Revision,
		event.FieldRevision:         event.NextRevision(row.Revision, w.IntN),
	}
	for _, name := range []string{event.FieldPayload, event.FieldEncoding, event.FieldContext} {
		f[name] = a.Line.Event[name]
	}
	update := salesforce.UpdateRow("e", salesforce.Row{Object: event.Object, ID: row.RowID, Fields: f})
	return slices.Concat([]salesforce.Subrequest{update}, a.parts(row.RowID), a.refillEffects(row))
}

// joined is the archived history with what was added since.
func joined(archived, since string) string {
	for line := range strings.SplitSeq(since, "\n") {
		if line != "" {
			archived = event.AppendLine(archived, line)
		}
	}
	return archived
}
