package bench

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/provider"
	"sfbridge/bridge/verify"
)

// TestMain lets the test binary stand for the product's executable.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "serve" {
		standIn(strings.Join(os.Args[2:], " "))
	}
	os.Exit(m.Run())
}

// standIn says where it serves, as the service does, until it is told to end.
func standIn(args string) {
	if os.Getenv("BENCH_REFUSE") != "" {
		fmt.Fprintln(os.Stderr, "bridge: mappings: nothing there")
		os.Exit(1)
	}
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM)
	fmt.Fprintln(os.Stderr, `{"level":"WARN","msg":"something else"}`)
	fmt.Fprintf(os.Stderr, "{\"msg\":\"serving\",\"url\":\"http://%s?%s\"}\n", os.Getenv("BENCH_HOST"), url.QueryEscape(args))
	<-end
	os.Exit(0)
}

func TestRunMeasuresEverything(t *testing.T) {
	t.Parallel()
	var steps []string
	r, err := Run(t.Context(), Config{
		Senders: 8, Latency: 2 * time.Millisecond, Window: 3 * time.Second, WarmUp: 100 * time.Millisecond,
		Workers: 2, Progress: func(s string) { steps = append(steps, s) },
	})
	require.NoError(t, err)
	assert.Len(t, steps, 5)
	for name, got := range map[string]Row{"receive": r.Receive, "business": r.Business, "effects": r.Effects.Row, "baseline": r.Baseline} {
		assert.Positive(t, got.EventsPerSecond, name)
		assert.Positive(t, got.CallsPerEvent, name)
		assert.NotEmpty(t, got.Operations, name)
	}
	assert.Equal(t, map[string]int{"collections_insert": r.Receive.APICalls}, r.Receive.Operations, "receiving only stages")
	assert.Zero(t, r.Lost, "every accepted event is a record")
	assert.Zero(t, r.Effects.Lost, "and has its effect")
	assert.GreaterOrEqual(t, r.Effects.Requests, r.Effects.Events)
	assert.InDelta(t, 3, r.Baseline.CallsPerEvent, 1e-9)
	assert.Greater(t, r.CallsRatio, 1.0)
	assert.Positive(t, r.Receive.P50)
	assert.GreaterOrEqual(t, r.Receive.P99, r.Receive.P50)
	assert.Equal(t, []Row{r.Receive, r.Business, r.Effects.Row, r.Baseline}, r.Table)
	assert.Nil(t, r.Spooled, "only --all")
	assert.Positive(t, r.Memory.Open, "what was staged is the backlog")
	assert.Positive(t, r.StartSeconds)
	assert.Greater(t, r.Conditions.BodyBytes, 1000)
	assert.NotEmpty(t, r.Requirements)
}

func TestRunEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	_, err := Run(ctx, Config{Senders: 2, Latency: time.Millisecond, WarmUp: time.Hour, Progress: func(string) { cancel() }})
	assert.ErrorIs(t, err, context.Canceled)
}

func TestBrokenBridgeIsNoFigure(t *testing.T) {
	t.Parallel()
	_, err := Run(t.Context(), Config{Launch: func(context.Context, Program) (Process, error) {
		return nil, assert.AnError
	}})
	assert.ErrorIs(t, err, assert.AnError)
}

func TestCommandRunsAProcessOfItsOwn(t *testing.T) {
	t.Parallel()
	p, err := Command(os.Args[0])(t.Context(), Program{
		Settings: "bridge.yaml", Roles: []string{"receive", "process"}, Env: map[string]string{"BENCH_HOST": "127.0.0.1:7"},
	})
	require.NoError(t, err)
	assert.Equal(t, "http://127.0.0.1:7?"+url.QueryEscape("--config bridge.yaml --only receive,process"), p.URL())
	used, err := p.Usage(t.Context())
	require.NoError(t, err)
	if _, err := os.Stat("/proc/self/status"); err == nil {
		assert.Positive(t, used.Peak)
	}
	assert.NoError(t, p.Stop())
}

func TestCommandTellsWhyTheBridgeEnded(t *testing.T) {
	t.Parallel()
	_, err := Command(os.Args[0])(t.Context(), Program{Env: map[string]string{"BENCH_REFUSE": "1"}})
	assert.ErrorContains(t, err, "mappings: nothing there")
}

// What the bench sends is what Stripe's own rule accepts.
func TestDeliveriesAreRightlySigned(t *testing.T) {
	t.Parallel()
	catalog, err := provider.Load()
	require.NoError(t, err)
	preset, err := catalog.Preset("stripe")
	require.NoError(t, err)
	v, err := verify.New(verify.Config{Rules: preset.Rules[:1], Secrets: []string{secret}})
	require.NoError(t, err)
	now := time.Unix(created, 0)
	d := delivery{n: 7, host: "127.0.0.1:1", at: now}
	_, head, _ := strings.Cut(string(d.request()), "Stripe-Signature: ")
	signature, _, _ := strings.Cut(head, "\r\n")
	result := v.Verify(verify.Request{
		Method: http.MethodPost, Header: http.Header{"Stripe-Signature": {signature}}, Body: d.body(), Now: now,
	})
	assert.True(t, result.Valid, "%v", result.Reason)
}

func TestLatency(t *testing.T) {
	t.Parallel()
	var waits []time.Duration
	for n := range 100 {
		waits = append(waits, time.Duration(n+1)*time.Millisecond)
	}
	slices.Reverse(waits)
	assert.Equal(t, Latency{P50: 50, P99: 99, Max: 100}, latency(waits))
	assert.Equal(t, Latency{}, latency(nil))
}

func TestRequirements(t *testing.T) {
	t.Parallel()
	good := func() Report {
		return Report{
			Receive:    Row{Throughput: Throughput{EventsPerSecond: 3000, CallsPerEvent: 0.01}, Latency: Latency{P99: 400}},
			Business:   Row{Throughput: Throughput{EventsPerSecond: 1500, CallsPerEvent: 0.025}},
			Effects:    &Effects{Row: Row{Throughput: Throughput{CallsPerEvent: 0.04}}},
			CallsRatio: 20, ThroughputRatio: 10,
			Spooled: &Spooled{Redis: &Outage{Receive: Row{Throughput: Throughput{EventsPerSecond: 8000}}}},
			Memory:  Memory{Receive: 128, Backlog: 128, Business: 128, Spooled: 128}, StartSeconds: 1,
		}
	}
	cfg := Config{}.withDefaults()
	met := good()
	met.Requirements = requirements(cfg, met)
	assert.True(t, met.OK())
	for name, spoil := range map[string]func(*Report){
		"rate":       func(r *Report) { r.Receive.EventsPerSecond = 2999 },
		"p99":        func(r *Report) { r.Receive.P99 = 401 },
		"calls":      func(r *Report) { r.Receive.CallsPerEvent = 0.011 },
		"business":   func(r *Report) { r.Business.EventsPerSecond = 1499 },
		"budget":     func(r *Report) { r.Business.CallsPerEvent = 0.0251 },
		"lost":       func(r *Report) { r.Lost = 1 },
		"effects":    func(r *Report) { r.Effects.CallsPerEvent = 0.0401 },
		"undone":     func(r *Report) { r.Effects.Lost = 1 },
		"ratio":      func(r *Report) { r.CallsRatio = 19 },
		"throughput": func(r *Report) { r.ThroughputRatio = 9 },
		"memory":     func(r *Report) { r.Memory.Backlog = 129 },
		"spooled":    func(r *Report) { r.Spooled.Redis.Receive.EventsPerSecond = 7999 },
		"spool":      func(r *Report) { r.Memory.Spooled = 129 },
		"start":      func(r *Report) { r.StartSeconds = 1.1 },
	} {
		r := good()
		spoil(&r)
		r.Requirements = requirements(cfg, r)
		missed := slices.DeleteFunc(slices.Clone(r.Requirements), func(q Requirement) bool { return q.Met })
		assert.Len(t, missed, 1, name)
		assert.False(t, r.OK(), name)
		assert.Contains(t, r.Missed(), missed[0].Name, name)
	}
	assert.False(t, Report{}.OK(), "nothing measured is nothing met")
}
