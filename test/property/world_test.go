package property

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"sfbridge/bridge/app"
	"sfbridge/bridge/event"
	"sfbridge/bridge/identify"
	"sfbridge/bridge/operate"
	"sfbridge/bridge/provider"
	"sfbridge/bridge/stage"
	"sfbridge/mapping"
	"sfbridge/salesforce"
	"sfbridge/salesforce/auth"
	"sfbridge/salesforce/simorg"
)

const (
	backoffBase = time.Second
	backoffMax  = 20 * time.Second
	callTimeout = 30 * time.Second
	workerPause = 2 * time.Second // between two looks of a worker
	door        = 0               // the process that receives; workers count from 1
)

// catalog is read once: it doesn't change, and reading it takes longer than a
// case.
var catalog = sync.OnceValues(provider.Load)

func newReader(b []byte) io.Reader { return bytes.NewReader(b) }

// A world is an org and the processes that work on it. It lives in a bubble of
// fake time.
type world struct {
	sc      scenario
	org     *simorg.Server
	gate    *gate
	source  *app.Source
	client  *salesforce.Client // of the door
	stager  *stage.Stager
	workers []*worker
	calls   sync.WaitGroup
	turns   chan struct{} // held by each worker while it works

	receiver *receiver // of effects
}

func newWorld(sc scenario) (*world, error) {
	file, err := mapping.Parse("prop.yaml", []byte(sc.Design.yaml()))
	if err != nil {
		return nil, err
	}
	presets, err := catalog()
	if err != nil {
		return nil, err
	}
	w := &world{sc: sc, turns: make(chan struct{}, sc.Workers), receiver: newReceiver()}
	if w.source, err = app.LoadSource(file, presets); err != nil {
		return nil, err
	}
	w.org, err = simorg.New(simorg.Config{Samples: true, Unsure: sc.Unsure, Latency: sc.Latency, PageSize: sc.PageSize})
	if err != nil {
		return nil, err
	}
	w.gate = newGate(sc, w.strike)
	if w.client, err = w.connect(door, make(chan struct{})); err != nil {
		return nil, err
	}
	random := newRandom(sc.Seed)
	w.stager = stage.New(stage.Config{Salesforce: w.client, Intn: random.intn})
	for n := range sc.Workers {
		w.workers = append(w.workers, &worker{w: w, number: n + 1, random: newRandom(sc.Seed + uint64(n) + 1), journal: newJournal()})
	}
	return w, nil
}

// Mapping implements apply.Mappings.
func (w *world) Mapping(name string) (*mapping.File, bool) { return w.source.Mapping, name == source }

// connect makes a client with a session of its own.
func (w *world) connect(process int, dead chan struct{}) (*salesforce.Client, error) {
	var transport http.RoundTripper = &wire{org: w.org.Handler(), gate: w.gate, process: process, dead: dead, calls: &w.calls}
	sessions, err := auth.New(auth.Config{
		Flow: auth.ClientCredentials, LoginURL: "http://127.0.0.1:8089", AllowHTTP: true,
		ClientID: "sim", ClientSecret: "sim", Transport: transport, Jitter: func() float64 { return 0.5 },
	})
	if err != nil {
		return nil, err
	}
	return salesforce.New(salesforce.Config{Sessions: sessions, Transport: transport, Timeout: callTimeout})
}

// deliver stages events and returns those that are not known to be durable.
func (w *world) deliver(ctx context.Context, events []int) (again []int, err error) {
	requests := make([]stage.Request, len(events))
	for i, n := range events {
		e, err := w.identify(w.sc.Events[n])
		if err != nil {
			return nil, err
		}
		requests[i] = stage.Request{Event: e}
	}
	for i, a := range w.stager.Stage(ctx, requests) {
		switch {
		case a.Err != nil:
			again = append(again, events[i])
		case a.Status != stage.Accepted && a.Status != stage.Duplicate:
			return nil, fmt.Errorf("event %d was answered %s", events[i], a.Status)
		}
	}
	return again, nil
}

// pause lets no worker work until the returned function is called.
func (w *world) pause() (resume func()) {
	for range w.workers {
		w.turns <- struct{}{}
	}
	return func() {
		for range w.workers {
			<-w.turns
		}
	}
}

func (w *world) identify(s snapshot) (*event.Event, error) {
	doc, err := w.source.Identifier.Read(identify.Delivery{
		Header: http.Header{"Content-Type": {"application/json"}}, Body: w.sc.Design.payload(s), ReceivedAt: time.Now(),
	})
	if err != nil {
		return nil, err
	}
	found, err := doc.Events()
	if err != nil {
		return nil, err
	}
	e := found[0].Event
	if s.Repair {
		e.ID = s.eventID() // no provider can give such an id: reconciliation makes it
	}
	e.Trust, e.Status = event.SignedBody, event.Received
	e.HomeQueue = event.HomeQueue(event.ByBridge, e.Entity())
	return &e, nil
}

// replay does what a person does after a fault: all of Review once more.
func (w *world) replay(ctx context.Context, code string) error {
	desk, err := operate.New(operate.Config{Org: w.client, IntN: newRandom(w.sc.Seed).intn})
	if err != nil {
		return err
	}
	_, err = desk.Replay(ctx, operate.Order{
		Filter: operate.Filter{Source: source, Status: []event.Status{event.Review}, Code: code}, Who: "ada", Reason: "the rule is gone",
	})
	return err
}

// strike stops or kills a worker.
func (w *world) strike(u upset) {
	if u.Worker < len(w.workers) {
		w.workers[u.Worker].strike(u.Kill)
	}
}

func (w *world) close(ctx context.Context) error {
	for _, worker := range w.workers {
		worker.stop()
	}
	err := w.stager.Close(ctx)
	w.calls.Wait()
	w.gate.close()
	w.client.CloseIdle()
	return err
}

// random is a source of numbers that a case brings along.
type random struct {
	mu sync.Mutex
	r  *rand.Rand
}

func newRandom(seed uint64) *random { return &random{r: rand.New(rand.NewPCG(seed, seed))} }

func (r *random) intn(n int64) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.r.Int64N(n)
}

func (r *random) float() float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.r.Float64()
}
