package demo

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"sfbridge/bridge/app"
	"sfbridge/bridge/event"
	"sfbridge/bridge/operate"
	"sfbridge/bridge/provider"
	"sfbridge/bridge/verify"
	"sfbridge/config"
	"sfbridge/config/examples"
	"sfbridge/salesforce/simorg"
)

const (
	secret      = "whsec_demo"
	wrongSecret = "whsec_wrong"
	source      = "stripe"
)

// world is the org, the bridge and the sender of one demo.
type world struct {
	cfg    Config
	dir    string
	org    *simorg.Server
	bridge *app.Bridge
	desk   *operate.Desk
	rule   verify.Rule
	client *http.Client

	stop    context.CancelFunc
	stopped chan error

	callsPerEvent float64 // set by the burst
}

const settings = `
listen: 127.0.0.1:0
admin: {listen: 127.0.0.1:0}
salesforce:
  login_url: %[1]s
  allow_http: true
  auth: {flow: session, instance_url: %[1]s, access_token: "${DEMO_SESSION}"}
store: {dir: store}
poller: {interval: 500ms}
mappings: [stripe.yaml]
`

func newWorld(ctx context.Context, cfg Config) (w *world, err error) {
	w = &world{cfg: cfg, stopped: make(chan error, 1), client: newClient()}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.close())
		}
	}()
	if w.dir, err = os.MkdirTemp("", "bridge-demo-"); err != nil {
		return w, err
	}
	if w.org, err = simorg.New(simorg.Config{Samples: true, Latency: cfg.Latency}); err != nil {
		return w, err
	}
	if err := w.org.Start(); err != nil {
		return w, err
	}
	if err := w.startBridge(ctx); err != nil {
		return w, err
	}
	catalog, err := provider.Load()
	if err != nil {
		return w, err
	}
	preset, err := catalog.Preset("stripe")
	if err != nil {
		return w, err
	}
	w.rule = preset.Rules[0]
	return w, nil
}

// startBridge runs the service as a command would, from a settings file.
func (w *world) startBridge(ctx context.Context) error {
	file := filepath.Join(w.dir, "bridge.yaml")
	if err := os.WriteFile(filepath.Join(w.dir, "stripe.yaml"), examples.Stripe, 0o600); err != nil {
		return err
	}
	if err := os.WriteFile(file, fmt.Appendf(nil, settings, w.org.URL()), 0o600); err != nil {
		return err
	}
	cfg, err := config.Load(file)
	if err != nil {
		return err
	}
	w.bridge, err = app.New(app.Options{Config: cfg, Env: w.env(), Log: w.cfg.Log, Seams: w.cfg.Seams})
	if err != nil {
		return err
	}
	if w.desk, err = w.bridge.Desk(); err != nil {
		return err
	}
	if err := w.bridge.Start(ctx); err != nil {
		return err
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	w.stop = stop
	go func() { w.stopped <- w.bridge.Run(running) }()
	return nil
}

// env gives the demo's two secrets and nothing of the process.
func (w *world) env() config.Env {
	values := map[string]string{"STRIPE_SECRET": secret, "DEMO_SESSION": w.org.AccessToken()}
	return config.Env{
		Lookup:   func(name string) (string, bool) { v, ok := values[name]; return v, ok },
		ReadFile: os.ReadFile,
	}
}

func (w *world) close() error {
	var err error
	if w.stop != nil {
		w.stop()
		err = <-w.stopped
	}
	w.client.CloseIdleConnections()
	if w.org != nil {
		err = errors.Join(err, w.org.Close())
	}
	return errors.Join(err, os.RemoveAll(w.dir))
}

func newClient() *http.Client {
	return &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: senders}}
}

// staged gives the staging rows of a check by event id.
func (w *world) staged(check string) map[string]simorg.Row {
	rows := map[string]simorg.Row{}
	for _, r := range w.org.Rows(event.Object) {
		if id := text(r[event.FieldID]); ownedBy(id, check) {
			rows[id] = r
		}
	}
	return rows
}

// payments gives the payments of a check by charge id.
func (w *world) payments(check string) map[string]simorg.Row {
	rows := map[string]simorg.Row{}
	for _, r := range w.org.Rows("Payment__c") {
		if id := text(r["Stripe_Charge_Id__c"]); ownedBy(source+":"+id, check) {
			rows[id] = r
		}
	}
	return rows
}

// pause is how often a check looks again.
const pause = 5 * time.Millisecond

// settle waits until so many rows of the check are staged and none is open.
func (w *world) settle(ctx context.Context, check string, rows int) (map[string]simorg.Row, error) {
	deadline := time.Now().Add(w.cfg.Patience)
	for {
		staged := w.staged(check)
		open := 0
		for _, r := range staged {
			if event.Status(text(r[event.FieldStatus])).Open() {
				open++
			}
		}
		if len(staged) >= rows && open == 0 {
			return staged, nil
		}
		if time.Now().After(deadline) {
			return staged, fmt.Errorf("%d of %d rows staged, %d still open after %s", len(staged), rows, open, w.cfg.Patience)
		}
		select {
		case <-ctx.Done():
			return staged, ctx.Err()
		case <-time.After(pause):
		}
	}
}

func text(v any) string {
	s, _ := v.(string)
	return s
}
