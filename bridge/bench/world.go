package bench

import (
	"context"
	"errors"
	"fmt"
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
	secret = "whsec_bench"
	target = "Payment__c" // where the events end
)

// world is the org of a run and the settings of its bridges.
type world struct {
	cfg   Config
	dir   string
	org   *simorg.Server
	start time.Duration // slowest start of a bridge
	next  int           // number of the next event
}

const settings = `
listen: 127.0.0.1:0
admin: {listen: 127.0.0.1:0}
salesforce:
  login_url: %[1]s
  allow_http: true
  auth: {flow: session, instance_url: %[1]s, access_token: "${BENCH_SESSION}"}
receiver: {ack: staged}
store: {dir: store}
mappings: [stripe.yaml]
`

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
	w.org, err = simorg.New(simorg.Config{Samples: true, Latency: cfg.Latency, DailyLimit: 1_000_000_000})
	if err != nil {
		return w, err
	}
	if err := w.org.Start(); err != nil {
		return w, err
	}
	if err := os.WriteFile(filepath.Join(w.dir, "stripe.yaml"), examples.Stripe, 0o600); err != nil {
		return w, err
	}
	return w, os.WriteFile(w.settings(), fmt.Appendf(nil, settings, w.org.URL()), 0o600)
}

func (w *world) settings() string { return filepath.Join(w.dir, "bridge.yaml") }

func (w *world) close() error {
	var err error
	if w.org != nil {
		err = w.org.Close()
	}
	return errors.Join(err, os.RemoveAll(w.dir))
}

// patience bounds every wait of a run that is no measurement.
const patience = 60 * time.Second

// launch starts a bridge with these roles, all if none, and waits until it is
// ready.
func (w *world) launch(ctx context.Context, roles ...string) (Process, error) {
	begun := time.Now()
	p, err := w.cfg.Launch(ctx, Program{
		Settings: w.settings(), Roles: roles,
		Env: map[string]string{"STRIPE_SECRET": secret, "BENCH_SESSION": w.org.AccessToken()},
	})
	if err != nil {
		return nil, fmt.Errorf("starting the bridge: %w", err)
	}
	err = wait(ctx, 5*time.Millisecond, func() (bool, error) { return ready(ctx, p.URL()), nil })
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the bridge did not become ready: %w", err), p.Stop())
	}
	w.start = max(w.start, time.Since(begun))
	return p, nil
}

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
