package app

import (
	"context"
	"crypto/subtle"
	"errors"
	"net/http"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"sfbridge/bridge/receive"
	"sfbridge/bridge/stage"
	"sfbridge/config"
)

// How long stopping waits, and a delivery.
const (
	adminWait   = time.Second      // for the operators' requests in flight after a stop
	stageWait   = 10 * time.Second // for a delivery to be durable
	noReceiving = "this process does not receive: it runs without the role"
)

// Start listens on the configured addresses.
func (b *Bridge) Start(ctx context.Context) error {
	var err error
	if b.listener, err = listenOn(ctx, "listen", b.cfg.Listen); err != nil {
		return err
	}
	if b.admin, err = listenOn(ctx, "admin.listen", b.cfg.Admin.Listen); err != nil {
		return errors.Join(err, b.listener.Close())
	}
	return nil
}

// URL is where the receiver listens, AdminURL the operators' side.
func (b *Bridge) URL() string { return "http://" + b.listener.Addr().String() }

// AdminURL is where the operators' side listens.
func (b *Bridge) AdminURL() string { return "http://" + b.admin.Addr().String() }

// ConsoleURL is the operators' page; empty where no token is set, and so there
// is none.
func (b *Bridge) ConsoleURL() string {
	if b.console == nil {
		return ""
	}
	return b.AdminURL() + "/console"
}

// Run serves until ctx ends, then stops in order: not ready any more, no new
// connections and no new batches, what is in flight finishes, leases and files
// are given back. It returns nil when all of that worked.
func (b *Bridge) Run(ctx context.Context) error {
	receiver := b.server(b.receiver(), maxDeliverers)
	admin := b.server(receive.Patient(b.adminRoutes(receiver.Handler)), maxOperators)
	g, running := errgroup.WithContext(ctx)
	g.Go(func() error { return receiver.Serve(b.listener) })
	g.Go(func() error { return admin.Serve(b.admin) })
	if b.stager != nil {
		g.Go(func() error { return b.stager.Run(running) })
	}
	g.Go(func() error { b.tryLogin(running); return nil })
	worked := make(chan struct{})
	g.Go(func() error {
		defer close(worked)
		return b.work(running)
	})
	g.Go(func() error {
		<-running.Done()
		b.stop(receiver.Server, worked)
		return b.shut(admin.Server)
	})
	err := g.Wait()
	if b.others != nil {
		b.others.flush(context.WithoutCancel(ctx)) // what was staged last
	}
	err = errors.Join(err, b.closeShared())
	if b.store != nil {
		err = errors.Join(err, b.store.Close())
	}
	b.login.Client.CloseIdle()
	b.guard.CloseIdle()
	if b.lists != nil {
		b.lists.CloseIdle()
	}
	return err
}

// tryLogin logs in before the first call needs it, so that a wrong login is said
// at the start and not with the first event. The service goes on: what it takes
// in is kept or refused by the readiness of its durable paths, as in an outage.
func (b *Bridge) tryLogin(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	_, err := b.login.sessions.Session(ctx)
	if err == nil || errors.Is(err, context.Canceled) {
		return
	}
	until := "events are spooled until it works"
	if b.cfg.Receiver.Ack == config.AckStaged {
		until = "senders get 503 until it works"
	}
	b.log.Error("the login to Salesforce fails: "+until, "error", err)
}

// work runs what goes on behind the receiver until ctx ends.
func (b *Bridge) work(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	if b.poller != nil {
		g.Go(func() error { return b.poller.Run(ctx) })
	}
	if b.spool != nil {
		g.Go(func() error { return b.spool.drain.Run(ctx) })
	}
	if b.calls != nil {
		g.Go(func() error { return b.calls.Run(ctx) })
	}
	if b.others != nil {
		g.Go(func() error { return b.others.Run(ctx) })
	}
	if b.effects != nil {
		g.Go(func() error { return b.effects.Run(ctx) })
	}
	if b.reconciler != nil {
		g.Go(func() error { return b.reconciler.Run(ctx) })
	}
	if b.keeper != nil {
		g.Go(func() error { return b.keeper.Run(ctx) })
	}
	return g.Wait()
}

// stop lets deliveries and batches in flight finish and closes the receiver.
// What did not finish is as if it had never come: its senders have no answer,
// its rows are as due as before. So that is no failure of the process.
func (b *Bridge) stop(receiver *http.Server, worked <-chan struct{}) {
	b.stopping.Store(true)
	ctx, cancel := context.WithTimeout(context.Background(), b.opts.stopWithin())
	defer cancel()
	b.drain(ctx, receiver)
	if b.stager != nil {
		if err := b.stager.Close(ctx); err != nil {
			b.log.Warn("staging was cut off, or duplicate counts could not be written", "error", err)
		}
	}
	select {
	case <-worked:
	case <-ctx.Done():
	}
}

// drain lets requests finish. A sender that is still sending when the time is
// up is cut off.
func (b *Bridge) drain(ctx context.Context, s *http.Server) {
	ctx, cancel := context.WithTimeout(ctx, b.opts.drainWithin())
	defer cancel()
	if err := s.Shutdown(ctx); err != nil {
		b.log.Warn("requests that were still under way were cut off")
		_ = s.Close() // the listener is closed already
	}
}

// shut closes the operators' side, which tells of the stop to its end.
func (b *Bridge) shut(admin *http.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), adminWait)
	defer cancel()
	if err := admin.Shutdown(ctx); err != nil {
		return admin.Close()
	}
	return nil
}

// receiver is the providers' side.
func (b *Bridge) receiver() http.Handler {
	var stager receive.Stager = gate{b, noStager{}}
	if b.stager != nil {
		stager = gate{b, b.opts.Seams.stager(b.spool.door)}
	}
	return receive.NewHandler(receive.Config{
		Sources: b.source, Stager: stager, PublicURL: b.publicURL(), Timeout: stageWait, Memory: b.memory, Metrics: b.metrics, Log: b.log, Now: b.now,
	})
}

// publicURL is what providers call. Left out, it is where we listen: good for a
// first try on one machine.
func (b *Bridge) publicURL() string {
	if b.cfg.PublicURL != "" {
		return strings.TrimRight(b.cfg.PublicURL, "/")
	}
	return b.URL()
}

// withToken asks for the admin token.
func (b *Bridge) withToken(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		want := "Bearer " + b.cfg.Admin.Token.Value()
		if !b.cfg.Admin.Token.IsSet() || subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), []byte(want)) != 1 {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "the admin token is missing or wrong", http.StatusUnauthorized)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// gate says "not ready" as soon as the process is stopping.
type gate struct {
	b *Bridge
	receive.Stager
}

func (g gate) Ready(ctx context.Context) error {
	if g.b.stopping.Load() {
		return errors.New("stopping")
	}
	return g.Stager.Ready(ctx)
}

// noStager stands where the process has no receiving role.
type noStager struct{}

func (noStager) Ready(context.Context) error { return nil }

func (noStager) Stage(_ context.Context, requests []stage.Request) []stage.Answer {
	answers := make([]stage.Answer, len(requests))
	for i, r := range requests {
		answers[i] = stage.Answer{EventID: r.Event.ID, Err: &stage.Unavailable{Reason: noReceiving}}
	}
	return answers
}
