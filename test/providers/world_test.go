package providers

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sfbridge/bridge/app"
	"sfbridge/bridge/event"
	"sfbridge/bridge/receive"
	"sfbridge/bridge/stage"
	"sfbridge/bridge/verify"
	"sfbridge/config"
)

// world is a bridge that receives for the given sources.
type world struct {
	t      testing.TB
	dir    string
	env    map[string]string
	public string
	keys   *fakeKeys
	now    atomic.Int64
	stager *memory
	log    *lockedBuffer
	bridge *app.Bridge
	client http.Client
}

func newWorld(t testing.TB) *world {
	w := &world{t: t, dir: t.TempDir(), env: map[string]string{}, keys: &fakeKeys{served: map[string][]byte{}},
		stager: &memory{rows: map[string]string{}}, log: &lockedBuffer{}}
	w.now.Store(1760000000)
	w.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return w
}

// source adds a mapping; secrets are given by reference, as they should be.
func (w *world) source(name, provider string, secrets []string, more string) {
	w.t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "source: %s\nprovider: %s\n", name, provider)
	if len(secrets) > 0 {
		b.WriteString("secrets:\n")
	}
	for i, secret := range secrets {
		key := fmt.Sprintf("S_%s_%d", strings.ToUpper(strings.ReplaceAll(name, "-", "_")), i)
		w.env[key] = secret
		fmt.Fprintf(&b, "  - \"${%s}\"\n", key)
	}
	b.WriteString(more)
	b.WriteString("\nroutes:\n  - {name: all, when: {type: \"*\"}, records: [{object: Thing__c, key: {field: Key__c, from: $.id}, fields: {Name__c: {value: x}}}]}\n")
	require.NoError(w.t, os.WriteFile(filepath.Join(w.dir, name+".yaml"), []byte(b.String()), 0o600))
}

const settings = `
listen: 127.0.0.1:0
%s
admin: {listen: 127.0.0.1:0}
salesforce:
  login_url: http://127.0.0.1:1
  allow_http: true
  auth: {flow: session, access_token: "${TOKEN}", instance_url: "http://127.0.0.1:1"}
store: {dir: ./store}
mappings: ["*.yaml"]
`

func (w *world) load() (*app.Bridge, error) {
	file := filepath.Join(w.dir, "bridge.yml")
	public := ""
	if w.public != "" {
		public = "public_url: " + w.public
	}
	require.NoError(w.t, os.WriteFile(file, fmt.Appendf(nil, settings, public), 0o600))
	w.env["TOKEN"] = "00D!x"
	cfg, err := config.Load(file)
	if err != nil {
		return nil, err
	}
	return app.New(app.Options{
		Config: cfg, Roles: []app.Role{app.Receive}, Log: slog.New(slog.NewTextHandler(w.log, nil)),
		Now: func() time.Time { return time.Unix(w.now.Load(), 0) },
		Env: config.Env{ReadFile: os.ReadFile, Lookup: func(name string) (string, bool) {
			v, ok := w.env[name]
			return v, ok
		}},
		Seams: app.Seams{
			Stager: func(receive.Stager) receive.Stager { return w.stager },
			Keys:   func(app.Keys) app.Keys { return w.keys },
		},
	})
}

func (w *world) start() {
	w.t.Helper()
	b, err := w.load()
	require.NoError(w.t, err)
	ctx, cancel := context.WithCancel(context.Background())
	require.NoError(w.t, b.Start(ctx))
	done := make(chan error, 1)
	go func() { done <- b.Run(ctx) }()
	w.t.Cleanup(func() {
		cancel()
		w.client.CloseIdleConnections()
		<-done
	})
	w.bridge = b
}

// reply is a whole answer.
type reply struct {
	status int
	header http.Header
	body   string
}

func (w *world) send(method, source string, header http.Header, body []byte) (reply, error) {
	w.t.Helper()
	return w.sendTo(method, w.bridge.URL()+"/webhooks/"+source, header, body)
}

func (w *world) sendTo(method, url string, header http.Header, body []byte) (reply, error) {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), method, url, bytes.NewReader(body))
	require.NoError(w.t, err)
	if header != nil {
		req.Header = header
	}
	resp, err := w.client.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	text, err := io.ReadAll(resp.Body)
	return reply{resp.StatusCode, resp.Header, string(text)}, err
}

// post sends a delivery and wants an answer.
func (w *world) post(source string, header http.Header, body string) reply {
	w.t.Helper()
	r, err := w.send(http.MethodPost, source, header, []byte(body))
	require.NoError(w.t, err)
	return r
}

// signed signs a delivery of a source under a rule of the table, now.
func (w *world) signed(rule, secret, source string, header http.Header, body string) http.Header {
	w.t.Helper()
	table, err := verify.LoadTable()
	require.NoError(w.t, err)
	out := http.Header{}
	for name, values := range header {
		out[name] = values
	}
	made, err := verify.Sign(table[rule], secret, verify.Request{
		Method: http.MethodPost, URL: w.url(source), Header: out, Body: []byte(body), Now: time.Unix(w.now.Load(), 0),
	})
	require.NoError(w.t, err)
	for name, values := range made {
		out[name] = values
	}
	return out
}

func (w *world) clock() time.Time { return time.Unix(w.now.Load(), 0) }

func (w *world) url(source string) string {
	base := w.public
	if base == "" {
		base = w.bridge.URL()
	}
	return base + "/webhooks/" + source
}

// memory is a stager that dedupes as the real one does.
type memory struct {
	mu   sync.Mutex
	rows map[string]string // hash by event id
	list []*event.Event
	fail bool
}

func (m *memory) Ready(context.Context) error { return nil }

func (m *memory) Stage(_ context.Context, requests []stage.Request) []stage.Answer {
	m.mu.Lock()
	defer m.mu.Unlock()
	answers := make([]stage.Answer, len(requests))
	for i, r := range requests {
		hash, known := m.rows[r.Event.ID]
		switch {
		case m.fail:
			answers[i] = stage.Answer{EventID: r.Event.ID, Err: errors.New("down")}
			continue
		case !known:
			m.rows[r.Event.ID] = r.Event.Hash
			m.list = append(m.list, r.Event)
			answers[i].Status = stage.Accepted
		case hash == r.Event.Hash:
			answers[i].Status = stage.Duplicate
		default:
			answers[i].Status = stage.Conflict
		}
		answers[i].EventID = r.Event.ID
	}
	return answers
}

// taken returns what was staged since the last look.
func (m *memory) taken() []*event.Event {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := m.list
	m.list = nil
	return list
}

// fakeKeys serves certificates and keys without a network.
type fakeKeys struct {
	mu     sync.Mutex
	served map[string][]byte // by URL, or URL + name
	asked  []string
	called []string
	down   bool
}

func (k *fakeKeys) Fetch(f verify.Fetch) ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.asked = append(k.asked, f.URL)
	if k.down {
		return nil, errors.New("down")
	}
	if data, ok := k.served[f.URL+f.Name]; ok {
		return data, nil
	}
	return nil, verify.ErrNoSuchKey
}

func (k *fakeKeys) Call(_ context.Context, address string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.called = append(k.called, address)
	if k.down {
		return errors.New("down")
	}
	return nil
}

// lockedBuffer is a log that may be read while it is written.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// vectors are the recorded deliveries.
func vectors(t testing.TB) []verify.Vector {
	t.Helper()
	f, err := os.Open("../../bridge/verify/testdata/vectors.json.gz")
	require.NoError(t, err)
	defer f.Close() //nolint:errcheck // only read
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	var list []verify.Vector
	require.NoError(t, json.NewDecoder(z).Decode(&list))
	return list
}
