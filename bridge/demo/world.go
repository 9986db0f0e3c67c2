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
	"sfbridge/bridge/receive"
	"sfbridge/bridge/stage"
	"sfbridge/bridge/verify"
	"sfbridge/config"
	"sfbridge/config/examples"
	"sfbridge/internal/pause"
	"sfbridge/salesforce"
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
	others *outside
	config *config.Config
	bridge *app.Bridge
	desk   *operate.Desk
	tool   *salesforce.Client // another tool on the org, such as a person's
	rule   verify.Rule
	client *http.Client

	stop    context.CancelFunc
	stopped chan error

	callsPerEvent float64 // set by the burst
}

// settings are the defaults, but that a busy machine is no outage: a delivery
// waits for longer, and rows of a burst gather for longer into full batches.
const settings = `
listen: 127.0.0.1:0
admin: {listen: 127.0.0.1:0, token: "${DEMO_TOKEN}"}
salesforce:
  login_url: %[1]s
  allow_http: true
  auth: {flow: session, instance_url: %[1]s, access_token: "${DEMO_SESSION}"}
store: {dir: store}
receiver: {ack_timeout: 5m}
poller: {interval: 5s}
outbound: {allow: ["%[2]s"]}
retention: {payload_after: 30d, row_after: 90d, archive_dir: archive}
mappings: [stripe.yaml, shop.yaml]
`

func newWorld(ctx context.Context, cfg Config) (w *world, err error) {
	w = &world{cfg: cfg, stopped: make(chan error, 1), client: newClient(cfg.Patience)}
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
	if w.others, err = newOutside(ctx, cfg.outside); err != nil {
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
	for name, text := range map[string][]byte{
		file:                                fmt.Appendf(nil, settings, w.org.URL(), w.others.host),
		filepath.Join(w.dir, "stripe.yaml"): examples.Stripe,
		filepath.Join(w.dir, "shop.yaml"):   fmt.Appendf(nil, shopMapping, w.others.host),
	} {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			return err
		}
	}
	var err error
	if w.config, err = config.Load(file); err != nil {
		return err
	}
	if w.bridge, err = w.newBridge(); err != nil {
		return err
	}
	if w.desk, err = w.bridge.Desk(); err != nil {
		return err
	}
	filled, err := w.config.Fill(w.env(), "salesforce")
	if err != nil {
		return err
	}
	login, err := app.Connect(filled, w.env(), nil)
	if err != nil {
		return err
	}
	w.tool = login.Client
	if err := w.bridge.Start(ctx); err != nil {
		return err
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	w.stop = stop
	go func() { w.stopped <- w.bridge.Run(running) }()
	return nil
}

// newBridge makes a process of the service with these roles, all if none.
func (w *world) newBridge(roles ...app.Role) (*app.Bridge, error) {
	seams := w.cfg.Seams
	seams.Stager = func(next receive.Stager) receive.Stager {
		if wrap := w.cfg.Seams.Stager; wrap != nil {
			next = wrap(next)
		}
		return patient{next, w.cfg.Patience}
	}
	return app.New(app.Options{Config: w.config, Env: w.env(), Roles: roles, Log: w.cfg.Log, Seams: seams})
}

// patient stages for longer than the provider would wait: how fast the machine
// is must not decide whether an event is staged at once or by way of the spool.
type patient struct {
	receive.Stager
	within time.Duration
}

func (p patient) Stage(ctx context.Context, requests []stage.Request) []stage.Answer {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.within)
	defer cancel()
	return p.Stager.Stage(ctx, requests)
}

// env gives the demo's secrets and nothing of the process.
func (w *world) env() config.Env {
	values := map[string]string{
		"STRIPE_SECRET": secret, "DEMO_TOKEN": w.cfg.Token, "DEMO_SESSION": w.org.AccessToken(), "SHOP_KEY": shopKey,
		"RECEIPT_URL": "http://" + w.others.host + "/receipts", "RECEIPT_SECRET": receiptSecret,
	}
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
	if w.tool != nil {
		w.tool.CloseIdle()
	}
	if w.org != nil {
		err = errors.Join(err, w.org.Close())
	}
	if w.others != nil {
		err = errors.Join(err, w.others.close())
	}
	return errors.Join(err, os.RemoveAll(w.dir))
}

// newClient is the sender's. It gives the receiver time to say no first.
func newClient(patience time.Duration) *http.Client {
	return &http.Client{Timeout: 2 * patience, Transport: &http.Transport{MaxIdleConnsPerHost: senders}}
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

// look is how often a check looks again.
const look = 5 * time.Millisecond

// settle waits until so many rows of the check are staged and none is open.
func (w *world) settle(ctx context.Context, check string, rows int) (map[string]simorg.Row, error) {
	deadline := time.Now().Add(w.cfg.Patience)
	for {
		staged := w.staged(check)
		open := 0
		for _, r := range staged {
			if s := event.Status(text(r[event.FieldStatus])); s.Open() || s == event.Applied {
				open++
			}
		}
		if len(staged) >= rows && open == 0 {
			return staged, nil
		}
		if time.Now().After(deadline) {
			return staged, fmt.Errorf("%d of %d rows staged, %d still open after %s", len(staged), rows, open, w.cfg.Patience)
		}
		if err := pause.For(ctx, look); err != nil {
			return staged, err
		}
	}
}

func text(v any) string {
	s, _ := v.(string)
	return s
}
