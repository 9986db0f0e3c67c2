package soak

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sfbridge/test/harness"
)

// Settings say what to run.
type Settings struct {
	Duration time.Duration
	Every    time.Duration // between samples
	Rate     float64       // deliveries a second
	Faults   float64       // share of the org's calls that fail
	Latency  time.Duration // of the org
	Receiver string        // section of the settings; empty: as it comes
}

// mix are the faults, planted one after the other. A limit of the whole day is
// not among them: it stops the work for as long as it lasts.
func mix() []harness.Fault {
	return []harness.Fault{
		{"operation": "collections_insert", "fault": "unavailable"},
		{"operation": "composite", "fault": "lock_row"},
		{"operation": "composite", "fault": "drop_after"},
		{"operation": "collections_insert", "fault": "drop_before"},
		{"operation": "composite", "fault": "html_503"},
		{"operation": "collections_insert", "fault": "drop_after"},
		{"operation": "composite", "fault": "truncated"},
		{"operation": "collections_insert", "fault": "html_200"},
		{"operation": "composite", "fault": "malformed"},
		{"operation": "collections_insert", "fault": "slow", "delay": "3s"},
		{"operation": "composite", "fault": "concurrent_limit"},
		{"operation": "*", "fault": "expire_session"},
		{"operation": "composite", "fault": "drop_before"},
		{"operation": "query", "fault": "unavailable"},
	}
}

// run is a soak under way.
type run struct {
	Settings
	org     *harness.Org
	bridge  *harness.Bridge
	traffic *traffic
	begun   time.Time
	planted int
	calls   int // of the samples before
	faults  int // likewise
}

// Run soaks a service and reports. It fails the test only where it could not
// measure.
func Run(t testing.TB, s Settings) Report {
	t.Helper()
	org := harness.StartOrg(t, "--samples", "--latency", s.Latency.String(), "--daily-limit", "1000000000")
	b := harness.StartBridge(t, harness.Config{
		Org: org, Mappings: map[string]string{"stripe.yaml": mapping}, Env: map[string]string{"STRIPE_SECRET": secret},
		Receiver: cmp.Or(s.Receiver, "{ack: auto}"), Poller: "{lanes: 4}", // else as it comes
	})
	r := &run{Settings: s, org: org, bridge: b, traffic: &traffic{bridge: b, rate: s.Rate}, begun: time.Now()}
	report := Report{Conditions: s.conditions()}
	var wg sync.WaitGroup
	sending, stop := context.WithTimeout(t.Context(), s.Duration)
	defer stop()
	wg.Go(func() { r.traffic.run(sending) })
	plant := time.NewTicker(time.Second)
	defer plant.Stop()
	sample := time.NewTicker(s.Every)
	defer sample.Stop()
	for sending.Err() == nil {
		select {
		case <-plant.C:
			r.plant(t)
		case <-sample.C:
			report.Samples = append(report.Samples, r.sample(t))
			t.Logf("%+v", report.Samples[len(report.Samples)-1])
		case <-sending.Done():
		}
	}
	wg.Wait()
	org.ClearFaults(t)
	report.Samples = append(report.Samples, r.sample(t))
	r.finish(t, &report)
	return report
}

func (s Settings) conditions() string {
	return fmt.Sprintf("%s at %.0f deliveries a second, %.1f %% of the org's calls failing, org latency %s; service, senders and simulated org on %d CPUs.",
		s.Duration, s.Rate, 100*s.Faults, s.Latency, runtime.GOMAXPROCS(0))
}

// plant keeps the share of planted faults.
func (r *run) plant(t testing.TB) {
	t.Helper()
	want := int(r.Faults * float64(r.org.Stats(t).APICalls.Total))
	kinds := mix()
	for ; r.planted < want; r.planted++ {
		fault := kinds[r.planted%len(kinds)]
		fault["times"] = 1
		r.org.Plant(t, fault)
	}
}

func (r *run) sample(t testing.TB) Sample {
	t.Helper()
	s := Sample{At: time.Since(r.begun)}
	r.traffic.since(&s)
	total := r.org.Stats(t).APICalls.Total
	s.Calls, r.calls = total-r.calls, total
	s.Faults, r.faults = r.planted-r.faults, r.planted
	metrics := r.bridge.Metrics(t)
	s.RSS = gauge(t, metrics, "process_resident_memory_bytes") / (1 << 20)
	s.Heap = gauge(t, metrics, "go_memstats_heap_inuse_bytes") / (1 << 20)
	s.Goroutines = gauge(t, metrics, "go_goroutines")
	s.Files = gauge(t, metrics, "process_open_fds")
	return s
}

func gauge(t testing.TB, metrics, name string) float64 {
	t.Helper()
	for line := range strings.Lines(metrics) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			n, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			require.NoError(t, err)
			return n
		}
	}
	require.Fail(t, "no metric "+name)
	return 0
}

// finish waits until all is done and counts.
func (r *run) finish(t testing.TB, report *Report) {
	t.Helper()
	for _, s := range report.Samples {
		report.Accepted += s.Accepted
	}
	r.org.Eventually(t, "the spool is not empty", func(context.Context) (bool, error) {
		return gauge(t, r.bridge.Metrics(t), "bridge_spool_depth") == 0, nil
	})
	r.org.Settle(t)
	stats := r.org.Stats(t)
	report.Records = stats.Rows["Payment__c"]
	report.Open = stats.Rows["Inbound_Event__c"] - r.org.Count(t, "SELECT COUNT() FROM Inbound_Event__c WHERE Status__c = 'Completed'")
	if report.Open > 0 {
		t.Log(r.org.Query(t, "SELECT Event_Id__c, Status__c, Error_Code__c, Error__c, History__c FROM Inbound_Event__c WHERE Status__c != 'Completed' LIMIT 5"))
	}
}
