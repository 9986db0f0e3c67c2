package app

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"sfbridge/bridge/apply"
	"sfbridge/bridge/effect"
	"sfbridge/bridge/event"
	"sfbridge/bridge/keys"
	"sfbridge/bridge/operate"
	"sfbridge/bridge/outbound"
	"sfbridge/bridge/poll"
	"sfbridge/bridge/provider"
	"sfbridge/bridge/receive"
	"sfbridge/bridge/reconcile"
	"sfbridge/bridge/retain"
	"sfbridge/bridge/stage"
	"sfbridge/bridge/store"
	"sfbridge/config"
	"sfbridge/internal/pause"
	"sfbridge/mapping"
	"sfbridge/salesforce"
)

// Bridge is one process of the service.
type Bridge struct {
	opts    Options
	cfg     *config.Config // filled
	log     *slog.Logger
	now     func() time.Time
	catalog *provider.Catalog
	sources atomic.Pointer[sources]
	metrics *Metrics
	login   *Login
	org     Org
	keys    Keys
	guard   *outbound.Client // for every request that mappings or deliveries lead to

	store   *store.Store
	redis   *store.Redis // nil: this process shares nothing
	calls   *sharedUsage // nil: likewise
	others  *others      // nil: likewise
	stager  *stage.Stager
	spool   *spooler
	poller  *poll.Poller
	effects *effect.Worker
	keeper  *retain.Keeper

	reconciler *reconcile.Reconciler
	lists      *outbound.Client // for the providers' lists

	console http.Handler // the admin API; nil without a token

	memory   *receive.Pool // of deliveries in flight
	stopping atomic.Bool
	listener net.Listener
	admin    net.Listener
}

// New checks everything and joins it; it opens the store but neither listens
// nor calls Salesforce. Every problem of settings, mappings and secrets is
// reported at once.
func New(opts Options) (*Bridge, error) {
	b := &Bridge{opts: opts, log: opts.Log, now: opts.Now}
	if b.now == nil {
		b.now = time.Now
	}
	if b.log == nil {
		b.log = slog.New(slog.DiscardHandler)
	}
	var err error
	if b.catalog, err = provider.Load(); err != nil {
		return nil, err
	}
	b.guard = outbound.New(outbound.Config{Allow: opts.Config.Outbound.Allow})
	b.keys = b.opts.Seams.keys(keys.New(keys.Config{Client: b.guard}))
	filled, fillErr := opts.Config.Fill(opts.Env)
	loaded, sourcesErr := b.load()
	if err := errors.Join(fillErr, sourcesErr); err != nil {
		return nil, err
	}
	b.cfg = filled
	b.sources.Store(loaded)
	b.memory = receive.NewPool(inFlight, loaded.receiver)
	if err := b.build(); err != nil {
		return nil, errors.Join(err, b.closeShared())
	}
	return b, nil
}

// build connects and makes the parts.
func (b *Bridge) build() (err error) {
	if err := b.openShared(); err != nil {
		return err
	}
	if err := b.connect(); err != nil {
		return err
	}
	if err := b.join(); err != nil {
		return err
	}
	b.console, err = b.newConsole()
	return err
}

// load compiles every source with its secrets.
func (b *Bridge) load() (*sources, error) {
	list, err := LoadSources(b.opts.Config.Mappings, b.catalog)
	problems := []error{err}
	compile := compiler{
		env: b.opts.Env, publicURL: b.opts.Config.PublicURL, fetcher: b.keys,
		kept: store.OpenSecrets(b.opts.Config.Store.Dir), log: b.log, now: b.now,
	}
	s := &sources{byName: map[string]*Source{}, receiver: map[string]*receive.Source{}, outgoing: newOutgoing()}
	for _, source := range list {
		name := source.Mapping.Source
		if err := s.outgoing.fill(source.Mapping, b.opts); err != nil {
			problems = append(problems, err)
		}
		v, greeter, err := compile.verifier(source)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		s.byName[name] = source
		s.receiver[name] = source.receiver(b.opts.Config.Receiver, b.opts.Seams.verifier(name, v), greeter)
	}
	return s, errors.Join(problems...)
}

// connect makes the client and what hangs on it.
func (b *Bridge) connect() error {
	b.metrics = NewMetrics(func() float64 {
		if b.login == nil {
			return 0
		}
		return b.usage().Share()
	})
	login, err := connect(b.cfg, b.opts.Env, b.sharedLogin(), func(op string, class salesforce.Class, _ time.Duration) {
		b.metrics.Call(op, class.String())
	})
	if err != nil {
		return err
	}
	for _, w := range login.Warnings {
		b.log.Warn(w)
	}
	b.login, b.org = login, b.opts.Seams.org(login.Client)
	return nil
}

// join makes the parts of the configured roles.
func (b *Bridge) join() error {
	b.shareWork()
	var err error
	if b.opts.has(Receive) {
		r := b.cfg.Receiver
		b.stager = stage.New(stage.Config{
			Salesforce: b.org, Batch: r.Batch, Calls: r.Calls, Linger: r.Linger,
			Shared: b.confirmed(), Now: b.now, MayCount: func() bool { return !b.yields(event.CountWork) },
			Staged: b.staged, Observe: b.metrics.Staged, Log: b.log,
		})
		if err = b.openSpool(); err != nil {
			return err
		}
	}
	if b.opts.has(Effects) {
		if b.effects, err = b.newEffects(); err != nil {
			return err
		}
	}
	if b.opts.has(Retain) {
		if b.keeper, err = b.newKeeper(); err != nil {
			return err
		}
	}
	if err := b.joinProcess(); err != nil {
		return err
	}
	if b.opts.has(Reconcile) {
		if b.reconciler, err = b.newReconciler(); err != nil {
			return err
		}
	}
	return nil
}

func (b *Bridge) joinProcess() error {
	if !b.opts.has(Process) {
		return nil
	}
	var err error
	if b.store, err = store.Open(store.Config{Dir: b.cfg.Store.Dir}); err != nil {
		return err
	}
	if b.poller, err = b.newPoller(); err != nil {
		return errors.Join(err, b.store.Close())
	}
	return nil
}

func (b *Bridge) newPoller() (*poll.Poller, error) {
	p := b.cfg.Poller
	backoff := event.Backoff{Base: p.Backoff.Base, Max: p.Backoff.Max}
	applier, err := apply.New(apply.Config{
		Org: b.org, Mappings: b, Authority: b.newLookup(), Outbox: b.wakeEffects, MaxAttempts: p.MaxAttempts, ParentWait: p.ParentWait, Backoff: backoff,
		Now: b.now, Intn: mathrand.Int64N, Float: mathrand.Float64, Sleep: pause.For,
	})
	if err != nil {
		return nil, err
	}
	staging := func() bool { return b.stager != nil && b.stager.Busy() }
	return poll.New(poll.Config{
		Org: b.org, Applier: b.opts.Seams.applier(applier), Journal: b.store.Journal(),
		Leases: b.leases("poll"), Metrics: b.metrics, Log: b.log, Owner: owner(), LeaseTTL: b.opts.LeaseTTL, StopWait: b.opts.drainWithin(),
		Interval: p.Interval, Idle: p.Idle, Batch: p.Batch, Lanes: p.Lanes, Backoff: backoff,
		DailyBudget: b.cfg.Salesforce.DailyBudget,
		Usage:       b.usage,
		Now:         b.now,
		Staging:     staging,
		Looked:      b.looked(),
	})
}

// Mapping gives the mapping of a source as it stands now.
func (b *Bridge) Mapping(source string) (*mapping.File, bool) {
	return b.sources.Load().Mapping(source)
}

// source gives the receiver's view of a source as it stands now.
func (b *Bridge) source(name string) *receive.Source { return b.sources.Load().receiver[name] }

// Reload reads mappings and secrets again. On any problem the old ones stay.
func (b *Bridge) Reload() error {
	loaded, err := b.load()
	if err != nil {
		return fmt.Errorf("reloading: the old mappings and secrets stay in use: %w", err)
	}
	loaded.remember(b.sources.Load())
	b.sources.Store(loaded)
	b.memory.Divide(loaded.receiver)
	return nil
}

func (b *Bridge) yields(w event.Work) bool {
	u := b.usage()
	return w.Yields(u.Used, u.Max, b.cfg.Salesforce.DailyBudget)
}

// owner names this process among the holders of leases.
func owner() string {
	host, err := os.Hostname()
	if err != nil {
		host = "host"
	}
	random := make([]byte, 4)
	_, _ = rand.Read(random) // never fails
	return fmt.Sprintf("%s-%d-%s", host, os.Getpid(), hex.EncodeToString(random))
}

// replayRate is how many events a second an operator may have worked on again.
const replayRate = 200

// Desk is the operators' side of the running bridge: what it makes due again is
// worked on at once.
func (b *Bridge) Desk() (*operate.Desk, error) {
	return operate.New(operate.Config{Org: b.org, Log: b.log, Rate: replayRate, Wake: b.wake, WakeEffects: b.wakeEffects})
}
