package trial_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"sfbridge/bridge/provider"
	"sfbridge/bridge/trial"
	"sfbridge/bridge/verify"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var now = time.Unix(1767225600, 0)

var presets = sync.OnceValues(provider.Load)

func load(t testing.TB, name string) (*provider.Catalog, *provider.Preset) {
	t.Helper()
	catalog, err := presets()
	require.NoError(t, err)
	preset, err := catalog.Preset(name)
	require.NoError(t, err)
	return catalog, preset
}

// delivery is rightly signed for the provider.
func delivery(t testing.TB, name, secret, body string, header http.Header) trial.Delivery {
	t.Helper()
	_, preset := load(t, name)
	h := preset.Send.For([]byte(body))
	for n, values := range header {
		h[http.CanonicalHeaderKey(n)] = values
	}
	req := verify.Request{Method: "POST", Header: h, Body: []byte(body), Now: now}
	signature, err := verify.Sign(preset.Rules[0], secret, req)
	require.NoError(t, err)
	for n, values := range signature {
		h[n] = values
	}
	return trial.Delivery{Provider: name, Secrets: []string{secret}, Request: req}
}

func check(t testing.TB, d trial.Delivery) string {
	t.Helper()
	catalog, _ := load(t, d.Provider)
	report, err := trial.Check(catalog, d)
	require.NoError(t, err)
	report.Hint = "" // see TestHints
	text, err := json.Marshal(report)
	require.NoError(t, err)
	return string(text)
}

func TestCheck(t *testing.T) {
	t.Parallel()
	const stripeEvent = `{"id":"evt_1","type":"charge.succeeded","created":1767225600,"data":{"object":{"id":"ch_1"}}}`
	good := delivery(t, "stripe", "s", stripeEvent, nil)
	assert.JSONEq(t, `{"valid":true,"reason":"ok","events":[{"event_id":"stripe:evt_1","type":"charge.succeeded","object_id":"ch_1","order":1767225600000}]}`, check(t, good))

	bare := delivery(t, "stripe", "s", `{"id":"evt_1"}`, nil)
	assert.JSONEq(t, `{"valid":true,"reason":"ok","events":[{"event_id":"stripe:evt_1","type":null,"object_id":null,"order":null}]}`, check(t, bare))

	refused := func(d trial.Delivery, reason string) {
		assert.JSONEq(t, `{"valid":false,"reason":"`+reason+`","events":[]}`, check(t, d))
	}
	other := good
	other.Secrets = []string{"t"}
	refused(other, "bad_signature")
	other.Secrets = nil
	refused(other, "no_secret")
	other.Secrets = []string{""}
	refused(other, "no_secret")
	late := good
	late.Request.Now = now.Add(time.Hour)
	refused(late, "too_old")
	late.Scheme = "shopify"
	refused(late, "missing_header")

	byScheme := delivery(t, "generic", "s", `{}`, nil)
	byScheme.Scheme = "generic-sha256-hex"
	assert.Contains(t, check(t, byScheme), `"valid":true,"reason":"ok","events":[],"note":"where this provider's events`)
	assert.Contains(t, check(t, delivery(t, "stripe", "s", `{}`, nil)), `"valid":true,"reason":"ok","events":[],"note":"no event id: $.id: is missing"`)
	assert.Contains(t, check(t, delivery(t, "stripe", "s", `x`, nil)), `"note":"the body is not JSON`)
	assert.Contains(t, check(t, delivery(t, "slack", "s", `{"type":"url_verification","challenge":"c"}`, nil)), "url-verification, which is answered and never stored")
}

func TestCheckRefusesQuestionsThatMakeNoSense(t *testing.T) {
	t.Parallel()
	catalog, _ := load(t, "stripe")
	_, err := trial.Check(catalog, trial.Delivery{Provider: "nobody"})
	assert.ErrorContains(t, err, `provider "nobody" is unknown`)
	_, err = trial.Check(catalog, trial.Delivery{Provider: "stripe", Scheme: "nothing"})
	assert.ErrorContains(t, err, `scheme "nothing" is unknown`)
}

// receiver judges what arrives with the provider's own rules.
type receiver struct {
	mu      sync.Mutex
	reports []trial.Report
}

func (r *receiver) serve(t testing.TB, name, secret string) *httptest.Server {
	t.Helper()
	catalog, _ := load(t, name)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		assert.NoError(t, err)
		report, err := trial.Check(catalog, trial.Delivery{
			Provider: name, Secrets: []string{secret},
			Request: verify.Request{Method: req.Method, Header: req.Header, Body: body, Now: now},
		})
		assert.NoError(t, err)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.reports = append(r.reports, report)
		if !report.Valid {
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	t.Cleanup(server.Close)
	return server
}

func TestSendIsAcceptedByEachProvidersOwnRules(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"stripe": "stripe:evt_1", "github": "github:", "shopify": "shopify:orders/updated:", "slack": "slack:Ev1",
		"standard-webhooks": "standard-webhooks:msg_", "svix": "svix:msg_",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			secret := "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
			var r receiver
			server := r.serve(t, name, secret)
			_, preset := load(t, name)
			var numbers []int
			report, err := trial.Sender{
				URL: server.URL + "/webhooks/x", Preset: preset, Secret: secret, Body: []byte(`{"id":"evt_1","event_id":"Ev1","issue":{"id":1}}`),
				Times: 12, Workers: 3, Client: server.Client(), Now: func() time.Time { return now },
				Each: func(s trial.Sent) { numbers = append(numbers, s.Number) },
			}.Run(t.Context())
			require.NoError(t, err)
			assert.Equal(t, map[int]int{200: 12}, report.Statuses)
			assert.Equal(t, 12, report.Accepted)
			assert.Equal(t, 1, report.First.Number)
			assert.ElementsMatch(t, []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, numbers)
			require.Len(t, r.reports, 12)
			for _, got := range r.reports {
				require.Len(t, got.Events, 1, got.Note)
				assert.Contains(t, got.Events[0].ID, want)
				assert.Equal(t, r.reports[0].Events, got.Events, "the same body is the same event")
			}
			if name == "github" {
				assert.Equal(t, "issues", *r.reports[0].Events[0].Type)
			}
		})
	}
}

// A second delivery of an event is taken and is no second event: the report
// tells them apart where the answers do.
func TestSendTellsWhatBecameOfDeliveries(t *testing.T) {
	t.Parallel()
	_, preset := load(t, "stripe")
	for name, c := range map[string]struct {
		status  int
		bodies  []string
		results map[string]int
		first   string
	}{
		"the bridge's": {202, []string{`{"status":"accepted","event_id":"a"}`, `{"status":"duplicate"}`, `{"status":"duplicate"}`},
			map[string]int{"accepted": 1, "duplicate": 2}, `"answer":{"status":"accepted","event_id":"a"}`},
		"a preset's own":       {200, []string{"[accepted]"}, nil, `"answer":"[accepted]"`},
		"none":                 {200, []string{""}, nil, `"status":200,"took_ns"`},
		"an unknown word":      {200, []string{`{"status":"<b>"}`}, nil, `"answer":{"status":`},
		"refusals count apart": {409, []string{`{"status":"accepted"}`}, nil, `"answer":{"status":"accepted"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var calls atomic.Int64
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.bodies[calls.Add(1)-1])
			}))
			t.Cleanup(server.Close)
			report, err := trial.Sender{
				URL: server.URL, Preset: preset, Secret: "s", Body: []byte(`{}`), Times: len(c.bodies), Client: server.Client(),
			}.Run(t.Context())
			require.NoError(t, err)
			assert.Equal(t, c.results, report.Results)
			text, err := json.Marshal(report)
			require.NoError(t, err)
			assert.Contains(t, string(text), c.first)
		})
	}
}

func TestSendReportsRefusalsAndFailures(t *testing.T) {
	t.Parallel()
	var r receiver
	server := r.serve(t, "stripe", "right")
	_, preset := load(t, "stripe")
	sender := trial.Sender{URL: server.URL, Preset: preset, Secret: "wrong", Body: []byte(`{}`), Client: server.Client()}
	report, err := sender.Run(t.Context())
	require.NoError(t, err)
	assert.Equal(t, trial.SendReport{Sent: 1, Statuses: map[int]int{401: 1}, First: report.First}, report)

	sender.URL = "http://127.0.0.1:1"
	report, err = sender.Run(t.Context())
	require.NoError(t, err)
	assert.Equal(t, map[int]int{0: 1}, report.Statuses)
	assert.NotEmpty(t, report.First.Error)

	sender.Secret = ""
	_, err = sender.Run(t.Context())
	assert.ErrorContains(t, err, "signing for stripe: secret 1 can't be used: it is empty")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	sender.Secret, sender.Times = "s", 1000
	report, err = sender.Run(ctx)
	assert.ErrorIs(t, err, context.Canceled)
	assert.Less(t, report.Sent, 1000)
}
