package bench

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"sfbridge/bridge/event"
	"sfbridge/config/examples"
	"sfbridge/internal/pause"
	"sfbridge/salesforce/simorg"
)

const (
	secret      = "whsec_bench"
	target      = "Payment__c" // where the events end
	mappingFile = "stripe.yaml"
)

// world is the org of a run and what its bridges share.
type world struct {
	cfg     Config
	dir     string
	org     *simorg.Server
	start   time.Duration // slowest start of a bridge
	next    int           // number of the next event
	folders int           // of bridges
}

func newWorld(cfg Config) (w *world, err error) {
	w = &world{cfg: cfg}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.close())
		}
	}()
	if w.dir, err = os.MkdirTemp("", "bridge-bench-"); err != nil {
		return w, err
	}
	if err := w.openOrg(cfg.Latency); err != nil {
		return w, err
	}
	withEffects, err := effectsMapping()
	if err != nil {
		return w, err
	}
	for name, text := range map[string][]byte{mappingFile: examples.Stripe, effectsFile: withEffects} {
		if err := os.WriteFile(filepath.Join(w.dir, name), text, 0o600); err != nil {
			return w, err
		}
	}
	return w, nil
}

// openOrg puts an org of this latency in the place of the one before.
func (w *world) openOrg(latency time.Duration) error {
	if w.org != nil {
		if err := w.org.Close(); err != nil {
			return err
		}
	}
	org, err := simorg.New(simorg.Config{Samples: true, Latency: latency, DailyLimit: 1_000_000_000})
	if err != nil {
		return err
	}
	w.org = org
	return org.Start()
}

func (w *world) close() error {
	var err error
	if w.org != nil {
		err = w.org.Close()
	}
	return errors.Join(err, os.RemoveAll(w.dir))
}

// patience bounds every wait of a run that is no measurement.
const patience = 60 * time.Second

func ready(ctx context.Context, url string) bool {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/readyz", nil)
	if err != nil {
		return false
	}
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		return false
	}
	reply.Body.Close()
	return reply.StatusCode == http.StatusOK
}

// wait asks again and again until the answer is yes.
func wait(ctx context.Context, every time.Duration, done func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		yes, err := done()
		if yes || err != nil {
			return err
		}
		if err := pause.For(ctx, every); err != nil {
			return err
		}
	}
}

// reading is the org's counters at one time.
type reading struct {
	at         time.Time
	calls      int
	operations map[string]int
	staged     int
	records    int
}

func (w *world) read() reading {
	s := w.org.Stats()
	return reading{
		at: time.Now(), calls: s.APICalls.Total, operations: s.APICalls.ByOperation,
		staged: s.Rows[event.Object], records: s.Rows[target],
	}
}

// snapshot is the counters of the org and of the bridges at one time.
type snapshot struct {
	reading
	used Usage
}

func (w *world) snapshot(ctx context.Context, f fleet) (snapshot, error) {
	used, err := f.usage(ctx)
	return snapshot{w.read(), used}, err
}

// row is what was done between two snapshots.
func row(name string, events int, from, to snapshot) Row {
	return Row{Name: name, Throughput: throughput(events, from.reading, to.reading), Cost: cost(events, from.used, to.used)}
}
