package apply

import (
	"context"
	"errors"
	"sync"

	"golang.org/x/sync/errgroup"

	"sfbridge/bridge/apply/authority"
	"sfbridge/bridge/event"
	"sfbridge/mapping"
)

// Authority gives the objects of providers as they stand now.
type Authority interface {
	// Get loads an object; it fails with an *authority.Failure.
	Get(ctx context.Context, r authority.Request) (any, error)
	// OrderOf is the order value that an event has as its tree reads now.
	OrderOf(source string, in mapping.Input) *int64
}

const (
	lookers = 8 // looks at providers at once
	// After so many looks of a route that found its provider down, the rest of
	// the call is not tried.
	maxDown = 3
)

// hint is an event that waits for the provider's object.
type hint struct {
	in      mapping.Input
	ask     *mapping.Authority
	request authority.Request
	object  any
	failure error
}

// consults says whether the event is only a hint.
func consults(a *mapping.Authority, trust event.Trust) bool {
	return a != nil && (a.When == mapping.AuthorityAlways || trust != event.SignedBody)
}

// address writes down what the event asks for. An address that can't be made is
// the event's own fault.
func (it *item) address(a *mapping.Authority, in mapping.Input) {
	url, present, err := a.Get.Expand(in.Scope)
	switch {
	case err != nil:
		it.review(event.CodeField, "the address of authority: "+err.Error())
	case !present:
		it.review(event.CodeField, "the address of authority: a value of "+a.Get.String()+" is missing")
	default:
		it.hint = &hint{in: in, ask: a, request: authority.Request{Source: it.ev.Source, URL: url, Auth: a.Auth}}
	}
}

// consult loads what the events of the batch are hints to, each object once,
// and maps them with it.
func (r *run) consult(ctx context.Context) error {
	looks := map[authority.Request][]*item{}
	var order []authority.Request
	for _, it := range r.items {
		if it.hint == nil || it.settled() {
			continue
		}
		if looks[it.hint.request] == nil {
			order = append(order, it.hint.request)
		}
		looks[it.hint.request] = append(looks[it.hint.request], it)
	}
	if len(order) == 0 {
		return nil
	}
	down := newOutages()
	var g errgroup.Group
	g.SetLimit(lookers)
	for _, request := range order {
		g.Go(func() error {
			route := looks[request][0].ev.Source + "/" + looks[request][0].route.Name
			object, err := any(nil), down.last(route)
			if err == nil {
				object, err = r.cfg.Authority.Get(ctx, request)
				down.note(route, err)
			}
			for _, it := range looks[request] {
				it.hint.object, it.hint.failure = object, err
			}
			return ctx.Err()
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for _, it := range r.items {
		if it.hint != nil && !it.settled() {
			r.consulted(it)
		}
	}
	return nil
}

// consulted goes on with an event whose object has come, or decides what
// becomes of one whose object hasn't.
func (r *run) consulted(it *item) {
	h := it.hint
	if h.failure != nil {
		r.unanswered(it)
		return
	}
	tree, ok := h.ask.Into.Put(h.in.Scope.Event, h.object)
	if !ok {
		it.review(event.CodeField, "authority: the event has no place at "+h.ask.Into.String())
		return
	}
	h.in.Scope.Event = tree
	if at := r.cfg.Authority.OrderOf(it.ev.Source, h.in); at != nil && it.ev.Order != nil && *at < *it.ev.Order {
		r.takeOut(it, r.await(it, event.CodeAuthority, "the provider's object is older than the event"))
		return
	}
	it.mapped(r.Applier, h.in)
	if it.settled() {
		r.hold(it, it.result.NotBefore)
	}
}

// unanswered maps failed looks to what happens to the event. An outage or limit
// costs no attempt; what a person must mend pauses the route.
func (r *run) unanswered(it *item) {
	var f *authority.Failure
	if !errors.As(it.hint.failure, &f) {
		f = &authority.Failure{Kind: authority.Down, Reason: it.hint.failure.Error()}
	}
	switch f.Kind {
	case authority.Down:
		age := r.cfg.Now().Sub(it.ev.ReceivedAt)
		r.takeOut(it, &verdict{
			status: event.Retryable, code: event.CodeAuthority, why: f.Reason, attempts: it.ev.Attempts,
			next: r.cfg.Now().Add(max(f.Pause, r.patience(age))),
		})
	case authority.Denied:
		r.pauseRoute(it, "authority: "+f.Reason)
	default:
		r.takeOut(it, r.charged(it, event.CodeAuthority, f.Reason, max(f.Pause, minWait)))
	}
}

// outages counts those of each route.
type outages struct {
	mu  sync.Mutex
	n   map[string]int
	err map[string]error
}

func newOutages() *outages { return &outages{n: map[string]int{}, err: map[string]error{}} }

// last is the failure that stands for all looks of a route from now on; nil as
// long as the provider is worth asking.
func (o *outages) last(route string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.n[route] < maxDown {
		return nil
	}
	return o.err[route]
}

func (o *outages) note(route string, err error) {
	var f *authority.Failure
	if !errors.As(err, &f) || f.Kind != authority.Down {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.n[route]++
	o.err[route] = err
}
