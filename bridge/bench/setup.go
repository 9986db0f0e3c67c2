package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// setup is how the measured bridges differ from the product's defaults.
type setup struct {
	ack       string   // "": staged
	redis     string   // URL of the Redis they share; "": none
	batch     int      // rows a call; 0: 200
	lanes     int      // calls in parallel, of staging and of processing; 0: 4
	instances int      // bridges; 0: 1
	roles     []string // none: all
	receipts  string   // host:port that takes an effect of every event; "": events cause none
}

func (s setup) withDefaults() setup {
	if s.ack == "" {
		s.ack = "staged"
	}
	setDefault(&s.batch, 200)
	setDefault(&s.lanes, 4)
	setDefault(&s.instances, 1)
	return s
}

// outageBackoff is the longest pause between two tries while the org is away.
const outageBackoff = "2s"

const settings = `
listen: 127.0.0.1:0
admin: {listen: 127.0.0.1:0}
salesforce:
  login_url: %[1]s
  allow_http: true
  auth: {flow: session, instance_url: %[1]s, access_token: "${BENCH_SESSION}"}
receiver: {ack: %[2]s, batch: %[3]d, calls: %[4]d}
poller: {batch: %[3]d, lanes: %[4]d, backoff: {base: 1s, max: ` + outageBackoff + `}}
store: {%[5]s}
outbound: {allow: [%[6]s]}
mappings: [%[7]s]
`

// write makes the settings of one bridge, whose files live in a folder of its
// own.
func (w *world) write(s setup) (Program, error) {
	w.folders++
	dir := filepath.Join(w.dir, fmt.Sprint("bridge-", w.folders))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return Program{}, err
	}
	stored := "dir: store"
	env := map[string]string{"STRIPE_SECRET": secret, "BENCH_SESSION": w.org.AccessToken()}
	if s.redis != "" {
		stored += `, redis: "${BENCH_REDIS}"`
		env["BENCH_REDIS"] = s.redis
	}
	allow, mapping := "", mappingFile
	if s.receipts != "" {
		allow, mapping = strconv.Quote(s.receipts), effectsFile
		env["RECEIPT_URL"], env["RECEIPT_SECRET"] = "http://"+s.receipts, receiptSecret
	}
	file := filepath.Join(dir, "bridge.yaml")
	text := fmt.Appendf(nil, settings, w.org.URL(), s.ack, s.batch, s.lanes, stored, allow, filepath.Join(w.dir, mapping))
	return Program{Settings: file, Roles: s.roles, Env: env}, os.WriteFile(file, text, 0o600)
}

// fleet is the bridges of one measurement.
type fleet []Process

// launch starts bridges and waits until all are ready.
func (w *world) launch(ctx context.Context, s setup) (fleet, error) {
	s = s.withDefaults()
	var f fleet
	for range s.instances {
		program, err := w.write(s)
		if err != nil {
			return nil, errors.Join(err, f.stop())
		}
		begun := time.Now()
		p, err := w.cfg.Launch(ctx, program)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("starting the bridge: %w", err), f.stop())
		}
		f = append(f, p)
		err = wait(ctx, 5*time.Millisecond, func() (bool, error) { return ready(ctx, p.URL()), nil })
		if err != nil {
			return nil, errors.Join(fmt.Errorf("the bridge did not become ready: %w", err), f.stop())
		}
		w.start = max(w.start, time.Since(begun))
	}
	return f, nil
}

// addresses are host:port of the receivers.
func (f fleet) addresses() []string {
	list := make([]string, len(f))
	for i, p := range f {
		list[i] = strings.TrimPrefix(p.URL(), "http://")
	}
	return list
}

// usage is what all have used; the peak is that of the largest.
func (f fleet) usage(ctx context.Context) (Usage, error) {
	var sum Usage
	for _, p := range f {
		u, err := p.Usage(ctx)
		if err != nil {
			return sum, fmt.Errorf("reading what the bridge has used: %w", err)
		}
		sum.CPU += u.CPU
		sum.Allocs += u.Allocs
		sum.Peak = max(sum.Peak, u.Peak)
	}
	return sum, nil
}

func (f fleet) stop() error {
	var problems []error
	for _, p := range f {
		problems = append(problems, p.Stop())
	}
	return errors.Join(problems...)
}
