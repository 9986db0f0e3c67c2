package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"sfbridge/bridge/event"
	"sfbridge/config/examples"
)

// Effects is what was measured with one effect an event.
type Effects struct {
	Row
	Requests int `json:"requests"` // that the receiver has had; more than events: some came again
	Lost     int `json:"lost"`     // accepted events without an effect that is done at the end
}

// The example mapping, whose charges cause a receipt besides.
const (
	receiptSecret = "whsec_cmVjZWlwdHMtb2YtdGhlLWJlbmNo"
	effectsFile   = "effects.yaml"
	nextRoute     = "\n  - name: invoice\n"
	receipt       = `
    effects:
      - name: receipt
        when: {object: Payment__c, field: Status__c, to: [Succeeded]}
        post: {url: "${RECEIPT_URL}", secret: "${RECEIPT_SECRET}", body: {charge: $.data.object.id, amount: $.data.object.amount}}
`
)

func effectsMapping() ([]byte, error) {
	text := bytes.Replace(examples.Stripe, []byte(nextRoute), []byte(receipt+nextRoute), 1)
	if len(text) == len(examples.Stripe) {
		return nil, errors.New("the example mapping has no route after its charges")
	}
	return text, nil
}

// receiver takes receipts and answers at once.
type receiver struct {
	server *http.Server
	host   string
	served chan error

	mu       sync.Mutex
	keys     map[string]bool
	requests int
}

func newReceiver(ctx context.Context) (*receiver, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &receiver{host: l.Addr().String(), served: make(chan error, 1), keys: map[string]bool{}}
	r.server = &http.Server{Handler: http.HandlerFunc(r.take), ReadHeaderTimeout: 10 * time.Second}
	go func() { r.served <- r.server.Serve(l) }()
	return r, nil
}

func (r *receiver) take(_ http.ResponseWriter, req *http.Request) {
	if _, err := io.Copy(io.Discard, req.Body); err != nil {
		return // the sender broke off
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.keys[req.Header.Get("Idempotency-Key")] = true
	r.requests++
}

// taken counts the effects that have come.
func (r *receiver) taken() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.keys)
}

// all counts the requests.
func (r *receiver) all() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.requests
}

func (r *receiver) close() error {
	err := r.server.Close()
	if served := <-r.served; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}

// measureEffects measures the whole way with one effect an event, up to the
// record of its delivery.
func (w *world) measureEffects(ctx context.Context, r *Report) error {
	in, err := newReceiver(ctx)
	if err != nil {
		return err
	}
	f, err := w.launch(ctx, setup{receipts: in.host})
	if err != nil {
		return errors.Join(err, in.close())
	}
	begin := w.read()
	got := &Effects{}
	got.Row, _, err = w.business(ctx, way{"the whole way, with one effect an event", f, in.taken})
	if err == nil {
		got.Lost, err = w.delivered(ctx)
		end := w.read()
		whole := throughput(end.staged, begin, end)
		got.APICalls, got.CallsPerEvent, got.Operations = whole.APICalls, whole.CallsPerEvent, whole.Operations
	}
	got.Requests = in.all()
	r.Effects, r.Table = got, append(r.Table, got.Row)
	err = errors.Join(err, f.stop(), in.close())
	w.org.Reset()
	return err
}

// delivered waits until the effect of every staged event is recorded as done
// and tells how many are not when patience ends.
func (w *world) delivered(ctx context.Context) (lost int, err error) {
	err = wait(ctx, 100*time.Millisecond, func() (bool, error) {
		done := 0
		for _, row := range w.org.Rows(event.EffectObject) {
			if row[event.EffectFieldStatus] == string(event.EffectDone) {
				done++
			}
		}
		lost = w.read().staged - done
		if lost < 0 {
			return false, fmt.Errorf("%d effects of %d events", done, done+lost)
		}
		return lost == 0, nil
	})
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return lost, nil
	}
	return lost, err
}
