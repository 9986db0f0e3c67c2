package effect

import (
	"context"
	"slices"

	"sfbridge/bridge/event"
)

// again reads events whose results were refused. A result that the rows show
// already, from a send whose reply was lost or from another worker, needs no
// recording; nor does one whose row is gone.
func (w *Worker) again(ctx context.Context, jobs []*job) ([]*job, error) {
	ids := make([]string, len(jobs))
	for i, j := range jobs {
		ids[i] = j.ev.RowID
	}
	fresh, err := w.jobs(ctx, ids)
	if err != nil {
		return nil, err
	}
	byRow := map[string]*job{}
	for _, j := range fresh {
		byRow[j.ev.RowID] = j
	}
	var open []*job
	for _, old := range jobs {
		now := byRow[old.ev.RowID]
		if now == nil {
			continue
		}
		for _, d := range old.tried() {
			i := slices.IndexFunc(now.effects, func(e *event.Effect) bool { return e.RowID == d.effect.RowID })
			if i < 0 || recorded(now.effects[i], d.result) {
				continue
			}
			now.sent = append(now.sent, &delivery{job: now, effect: now.effects[i], result: d.result})
		}
		if len(now.sent) > 0 {
			open = append(open, now)
		}
	}
	return open, nil
}

// recorded says whether a row needs no recording of a result. A failed try
// opens no row again that was ended meanwhile, as with a discarded event.
func recorded(e *event.Effect, r *result) bool {
	if r.status == event.EffectDone {
		return e.Status == event.EffectDone
	}
	return !e.Status.Open() || e.Attempts >= r.attempts
}
