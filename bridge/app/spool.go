package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sfbridge/bridge/event"
	"sfbridge/bridge/spool"
	"sfbridge/bridge/store"
	"sfbridge/config"
)

// spooler is where the events of this process wait for Salesforce, and what
// brings them there.
type spooler struct {
	engine spool.Engine
	door   *spool.Door
	drain  *spool.Drain
}

// openSpool opens the spool whatever the ack mode is: what an earlier mode left
// has to go home.
func (b *Bridge) openSpool() error {
	engine, err := b.openEngine()
	if err != nil {
		return err
	}
	leases := b.leases("spool")
	if _, local := engine.(*spool.File); local {
		leases = store.NewMemoryLeases(b.now) // nobody else reads the file
	}
	backoff := b.cfg.Poller.Backoff
	drain := spool.NewDrain(spool.DrainConfig{
		Engine: engine, Target: b.stager, Leases: leases, Owner: owner(),
		Batch: b.cfg.Receiver.Batch, Lanes: b.cfg.Receiver.Calls, Log: b.log, Now: b.now,
		Backoff: event.Backoff{Base: min(time.Second, backoff.Base), Max: min(time.Minute, backoff.Max)},
	})
	b.spool = &spooler{engine: engine, drain: drain, door: spool.NewDoor(spool.DoorConfig{
		Ack: spool.Ack(b.cfg.Receiver.Ack), Timeout: b.cfg.Receiver.AckTimeout, Stager: b.stager, Engine: engine,
		Backlog: drain.Backlog, Appended: drain.Appended, Log: b.log,
	})}
	b.metrics.spool(drain.State, b.now)
	return nil
}

// lookLimit bounds the look at Redis at the start: a server that is away for the
// moment must not keep the process from serving.
const lookLimit = 500 * time.Millisecond

// openEngine chooses where events wait. Redis that would lose them is refused
// where everything rests on it; else the local file takes its place.
func (b *Bridge) openEngine() (spool.Engine, error) {
	file := func() (spool.Engine, error) {
		return spool.OpenFile(spool.FileConfig{Dir: b.cfg.Store.Dir, Now: b.now})
	}
	if b.redis == nil {
		return file()
	}
	engine := spool.OpenRedis(spool.RedisConfig{Store: b.redis, Consumer: owner(), Durable: b.cfg.Store.Durable, Now: b.now})
	ctx, cancel := context.WithTimeout(context.Background(), lookLimit)
	defer cancel()
	err := engine.Check(ctx)
	var unsafe *spool.NotDurable
	switch {
	case err == nil:
		return engine, nil
	case !errors.As(err, &unsafe):
		b.log.Warn("Redis can't be reached yet: the spool waits for it", "error", err)
		return engine, nil
	case b.cfg.Receiver.Ack == config.AckSpooled:
		return nil, errors.Join(fmt.Errorf("receiver.ack: spooled: %w", err), engine.Close())
	}
	b.log.Warn("events wait in the local file of store.dir instead", "error", err)
	if err := engine.Close(); err != nil {
		return nil, err
	}
	return file()
}

// spool measures what waits in the spool.
func (m *Metrics) spool(state func() spool.State, now func() time.Time) {
	measure := func(name, help string, value func(spool.State) float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 { return value(state()) })
	}
	m.Registry.MustRegister(
		measure("bridge_spool_depth", "Events that wait in the spool for Salesforce.",
			func(s spool.State) float64 { return float64(s.Total()) }),
		measure("bridge_spool_oldest_seconds", "Age of the oldest event in the spool.", func(s spool.State) float64 {
			if s.Oldest.IsZero() {
				return 0
			}
			return max(0, now().Sub(s.Oldest).Seconds())
		}),
		measure("bridge_spool_apart", "Events of the spool that Salesforce refuses for good and that wait for a person.",
			func(s spool.State) float64 { return float64(s.Apart) }),
		measure("bridge_spool_lost", "Entries of the spool whose data somebody else removed, since the start.",
			func(s spool.State) float64 { return float64(s.Lost) }),
	)
}
