package property

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing/synctest"
	"time"
)

var errDead = errors.New("the process is dead")

// A gate lets the requests of all processes through to the org in the order
// that a schedule says. It opens only when nothing else moves, so that a
// schedule means the same in every run.
type gate struct {
	schedule []int
	upsets   []upset
	strike   func(upset)

	mu      sync.Mutex
	waiting []*passage
	passed  int
	bell    chan struct{}
	end     chan struct{}
	done    chan struct{}
}

// A passage is a request that waits at the gate.
type passage struct {
	process int
	label   string
	open    chan struct{}
}

func newGate(sc scenario, strike func(upset)) *gate {
	g := &gate{
		schedule: slices.Clone(sc.Schedule), upsets: slices.Clone(sc.Upsets), strike: strike,
		bell: make(chan struct{}, 1), end: make(chan struct{}), done: make(chan struct{}),
	}
	go g.keep()
	return g
}

// pass waits until the request may go.
func (g *gate) pass(ctx context.Context, process int, label string) error {
	p := &passage{process: process, label: label, open: make(chan struct{})}
	g.mu.Lock()
	g.waiting = append(g.waiting, p)
	g.mu.Unlock()
	select {
	case g.bell <- struct{}{}:
	default:
	}
	select {
	case <-p.open:
		return nil
	case <-ctx.Done():
		g.leave(p)
		return ctx.Err()
	}
}

func (g *gate) leave(p *passage) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waiting = slices.DeleteFunc(g.waiting, func(o *passage) bool { return o == p })
}

// keep opens the gate for one request after the other until close.
func (g *gate) keep() {
	defer close(g.done)
	for {
		select {
		case <-g.bell:
		case <-g.end:
			return
		}
		for g.step() {
		}
	}
}

// step follows one entry of the schedule: a small number chooses the request,
// others let all go at once or let time pass. After the schedule's end all go.
func (g *gate) step() bool {
	synctest.Wait()
	g.mu.Lock()
	slices.SortStableFunc(g.waiting, func(a, b *passage) int {
		return cmp.Or(cmp.Compare(a.process, b.process), cmp.Compare(a.label, b.label))
	})
	if len(g.waiting) == 0 {
		g.mu.Unlock()
		return false
	}
	choice := all
	if len(g.schedule) > 0 {
		choice, g.schedule = g.schedule[0], g.schedule[1:]
	}
	var open []*passage
	switch choice {
	case wait:
	case all:
		open, g.waiting = g.waiting, nil
	default:
		i := choice % len(g.waiting)
		open = []*passage{g.waiting[i]}
		g.waiting = slices.Delete(g.waiting, i, i+1)
	}
	due := g.count(len(open))
	g.mu.Unlock()
	if choice == wait {
		time.Sleep(waitTime)
	}
	for _, u := range due {
		g.strike(u)
	}
	for _, p := range open {
		close(p.open)
	}
	return true
}

// count counts requests that passed and says what happens at this point.
func (g *gate) count(passed int) []upset {
	g.passed += passed
	var due []upset
	for len(g.upsets) > 0 && g.upsets[0].After < g.passed {
		due = append(due, g.upsets[0])
		g.upsets = g.upsets[1:]
	}
	return due
}

func (g *gate) close() {
	close(g.end)
	<-g.done
}

// A wire carries the requests of one process to the org, in memory. A client
// that gives up, or dies, doesn't keep the org from carrying the call out.
type wire struct {
	org     http.Handler
	gate    *gate
	process int
	dead    chan struct{}
	calls   *sync.WaitGroup
}

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		_ = r.Body.Close() // read to its end
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		select {
		case <-w.dead:
			cancel(errDead)
		case <-stop:
		}
	}()
	if err := w.gate.pass(ctx, w.process, r.Method+" "+r.URL.RequestURI()+" "+string(body)); err != nil {
		return nil, err
	}
	answer := make(chan *http.Response, 1)
	w.calls.Go(func() { answer <- carry(w.org, r, body) })
	select {
	case res := <-answer:
		if res == nil {
			return nil, io.ErrUnexpectedEOF
		}
		res.Request = r
		return res, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// carry lets the org answer a request; nil when it closed the connection.
func carry(org http.Handler, r *http.Request, body []byte) (res *http.Response) {
	in := r.Clone(context.WithoutCancel(r.Context()))
	in.RequestURI, in.Host, in.RemoteAddr = r.URL.RequestURI(), r.URL.Host, "127.0.0.1:1"
	in.Body = io.NopCloser(newReader(body))
	in.ContentLength = int64(len(body))
	out := httptest.NewRecorder()
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		if err, ok := p.(error); !ok || !errors.Is(err, http.ErrAbortHandler) {
			panic(p)
		}
		if out.Body.Len() == 0 {
			return
		}
		res = out.Result()
		res.Body = io.NopCloser(io.MultiReader(newReader(out.Body.Bytes()), broken{}))
	}()
	org.ServeHTTP(out, in)
	return out.Result()
}

// broken is the end of an answer that breaks off.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
