package demo

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"sfbridge/bridge/apply"
	"sfbridge/bridge/event"
	"sfbridge/bridge/poll"
	"sfbridge/bridge/receive"
	"sfbridge/bridge/stage"
	"sfbridge/bridge/verify"
)

func of(e *event.Event, check string) bool { return ownedBy(e.ID, check) }

// forgetful is a stager that doesn't know an event again.
func forgetful(check string) func(receive.Stager) receive.Stager {
	var n atomic.Int64
	return wrapStager(func(next receive.Stager, ctx context.Context, requests []stage.Request) []stage.Answer {
		for i, r := range requests {
			if of(r.Event, check) {
				e := *r.Event
				e.ID = fmt.Sprint(e.ID, "_", n.Add(1))
				requests[i].Event = &e
			}
		}
		return next.Stage(ctx, requests)
	})
}

// givesUp is a stager that stages but answers that it couldn't.
func givesUp(check string) func(receive.Stager) receive.Stager {
	return wrapStager(func(next receive.Stager, ctx context.Context, requests []stage.Request) []stage.Answer {
		answers := next.Stage(ctx, requests)
		for i, r := range requests {
			if of(r.Event, check) {
				answers[i].Err = &stage.Unavailable{Reason: "the reply was lost"}
			}
		}
		return answers
	})
}

// together is a stager that stages the events of a check in one call once all of
// them have come, so that how many calls they take doesn't hang on the speed of
// their senders.
func together(check string, n int) func(receive.Stager) receive.Stager {
	type waiting struct {
		requests []stage.Request
		answers  []stage.Answer
	}
	var mu sync.Mutex
	gathered, done := &waiting{}, make(chan struct{})
	return wrapStager(func(next receive.Stager, ctx context.Context, requests []stage.Request) []stage.Answer {
		if !of(requests[0].Event, check) {
			return next.Stage(ctx, requests)
		}
		mu.Lock()
		place := len(gathered.requests)
		gathered.requests = append(gathered.requests, requests...)
		all := len(gathered.requests) == n
		mu.Unlock()
		if all {
			gathered.answers = next.Stage(ctx, gathered.requests)
			close(done)
		}
		select {
		case <-done:
			return gathered.answers[place : place+len(requests)]
		case <-ctx.Done():
			return []stage.Answer{{Err: ctx.Err()}}
		}
	})
}

type stagerDouble struct {
	receive.Stager
	stage func(receive.Stager, context.Context, []stage.Request) []stage.Answer
}

func (d stagerDouble) Stage(ctx context.Context, requests []stage.Request) []stage.Answer {
	return d.stage(d.Stager, ctx, requests)
}

func wrapStager(f func(receive.Stager, context.Context, []stage.Request) []stage.Answer) func(receive.Stager) receive.Stager {
	return func(next receive.Stager) receive.Stager { return stagerDouble{next, f} }
}

type applierDouble func(ctx context.Context, batch []*event.Event) (apply.Report, error)

func (d applierDouble) Apply(ctx context.Context, batch []*event.Event) (apply.Report, error) {
	return d(ctx, batch)
}

// by chooses the events of a check by their ids.
func by(check string) func(id string) bool {
	return func(id string) bool { return ownedBy(id, check) }
}

func backwards(order int64) int64 { return 2*begin*1000 - order }
func older(order int64) int64     { return order - 1 }

// orders is an applier that reads the order of the chosen events wrongly.
func orders(chosen func(id string) bool, wrong func(int64) int64) func(poll.Applier) poll.Applier {
	return func(next poll.Applier) poll.Applier {
		return applierDouble(func(ctx context.Context, batch []*event.Event) (apply.Report, error) {
			for _, e := range batch {
				if chosen(e.ID) && e.Order != nil {
					order := wrong(*e.Order)
					e.Order = &order
				}
			}
			return next.Apply(ctx, batch)
		})
	}
}

// spoilsMates is an applier in which one bad row harms the rest of its batch.
func spoilsMates(next poll.Applier) poll.Applier {
	return applierDouble(func(ctx context.Context, batch []*event.Event) (apply.Report, error) {
		var bad []byte
		for _, e := range batch {
			if of(e, "bad_row") && bytes.Contains(e.Payload, []byte("9000000000000000000")) {
				bad = e.Payload
			}
		}
		for _, e := range batch {
			if bad != nil && of(e, "bad_row") {
				number := strings.TrimPrefix(e.ID, "stripe:evt_bad_row_")
				e.Payload = bytes.ReplaceAll(bad, []byte("ch_bad_row_117"), []byte("ch_bad_row_"+number))
			}
		}
		return next.Apply(ctx, batch)
	})
}

type believer struct{ receive.Verifier }

func (b believer) Verify(r verify.Request) verify.Result {
	result := b.Verifier.Verify(r)
	result.Valid, result.Reason, result.Trust = true, verify.OK, verify.SignedBody
	return result
}

func believesAll(_ string, v receive.Verifier) receive.Verifier { return believer{v} }

// answers is a provider that answers so when its list is asked for the nth time.
func answers(nth int64, status int, body string) func(http.Handler) http.Handler {
	var asked atomic.Int64
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodGet || asked.Add(1) != nth {
				next.ServeHTTP(w, r)
				return
			}
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body) // the reader may be gone
		})
	}
}
