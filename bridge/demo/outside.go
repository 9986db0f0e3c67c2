package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// outside is somebody else's server: it takes the receipts that effects send,
// and lists what the provider of the shop holds for true.
type outside struct {
	server *http.Server
	host   string
	served chan error

	listed chan struct{} // closed once the list has been asked for
	asked  sync.Once

	mu       sync.Mutex
	receipts map[string]int // requests by Idempotency-Key
	charges  []map[string]any
}

const (
	shopKey       = "shop-key"
	receiptSecret = "whsec_cmVjZWlwdHMtb2YtdGhlLWRlbW8="
)

// newOutside serves on a free port of the loopback until close.
func newOutside(ctx context.Context, wrap func(http.Handler) http.Handler) (*outside, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	o := &outside{host: l.Addr().String(), served: make(chan error, 1), listed: make(chan struct{}), receipts: map[string]int{}, charges: []map[string]any{}}
	routes := http.NewServeMux()
	routes.HandleFunc("POST /receipts", o.take)
	routes.HandleFunc("GET /charges", o.list)
	o.server = &http.Server{Handler: wrap(routes), ReadHeaderTimeout: 10 * time.Second}
	go func() { o.served <- o.server.Serve(l) }()
	return o, nil
}

func (o *outside) close() error {
	err := o.server.Close()
	if served := <-o.served; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}

func (o *outside) take(w http.ResponseWriter, r *http.Request) {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return // the sender broke off
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.receipts[r.Header.Get("Idempotency-Key")]++
}

func (o *outside) list(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer "+shopKey {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	_ = json.NewEncoder(w).Encode(map[string]any{"data": o.charges}) // the reader may be gone
	o.asked.Do(func() { close(o.listed) })
}

// firstLook waits until the list has been given for the first time.
func (o *outside) firstLook(ctx context.Context, patience time.Duration) error {
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case <-o.listed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-late.C:
		return fmt.Errorf("the provider's list was not asked for within %s", patience)
	}
}

// holds sets what the provider lists.
func (o *outside) holds(charges ...charge) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.charges = o.charges[:0]
	for _, c := range charges {
		o.charges = append(o.charges, c.object())
	}
}

// received gives how many requests came under the key, and how many in all.
func (o *outside) received(key string) (own, all int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, n := range o.receipts {
		all += n
	}
	return o.receipts[key], all
}
