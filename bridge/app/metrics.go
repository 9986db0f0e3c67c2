package app

import (
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// Metrics are the numbers of one process, with bounded label sets.
type Metrics struct {
	Registry *prometheus.Registry

	deliveries *prometheus.CounterVec
	secrets    *prometheus.CounterVec
	events     *prometheus.CounterVec
	calls      *prometheus.CounterVec
	effects    *prometheus.CounterVec
	drift      *prometheus.CounterVec
	shed       prometheus.Counter
	stageTime  prometheus.Histogram
	stageRows  prometheus.Histogram
	due        prometheus.Gauge
	oldest     atomic.Pointer[time.Time] // when the oldest due row was received; nil: none is due
	now        func() time.Time
	review     prometheus.Gauge
}

// NewMetrics registers everything the bridge measures, and Go's own runtime
// and process metrics. budget is the share of the org's daily calls in use.
func NewMetrics(budget func() float64) *Metrics {
	m := &Metrics{
		Registry:   prometheus.NewRegistry(),
		deliveries: counter("bridge_deliveries_total", "Deliveries by source and what became of them.", "source", "result"),
		secrets:    counter("bridge_secret_used_total", "Which secret of a source (by position) verified a delivery.", "source", "position"),
		events:     counter("bridge_events_total", "Events moved on, by source and outcome.", "source", "outcome"),
		calls:      counter("bridge_salesforce_calls_total", "Calls to Salesforce by operation and class of the answer.", "operation", "class"),
		drift:      counter("bridge_drift_total", "Differences from the providers' truth, and stuck rows, by source and kind.", "source", "kind"),
		effects:    counter("bridge_effects_total", "Tries of side effects by how they ended.", "result"),
		stageTime: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "bridge_stage_seconds",
			Help: "How long a staging call took.", Buckets: prometheus.ExponentialBuckets(0.01, 2, 11)}),
		stageRows: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "bridge_stage_batch_rows",
			Help: "Rows of a staging call.", Buckets: []float64{1, 2, 5, 10, 20, 50, 100, 150, 200}}),
		shed: prometheus.NewCounter(prometheus.CounterOpts{Name: "bridge_connections_shed_total",
			Help: "Connections closed because too many were open: idle ones, or slow with a request."}),
		due:    gauge("bridge_due_events", "Rows that are due."),
		now:    time.Now,
		review: gauge("bridge_review_events", "Rows that wait for a person."),
	}
	used := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "bridge_salesforce_budget_used",
		Help: "Share of the org's daily API calls in use, as Salesforce last said."}, budget)
	oldest := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "bridge_oldest_due_seconds",
		Help: "Age of the oldest row that is due."}, m.oldestDue)
	m.Registry.MustRegister(m.deliveries, m.secrets, m.events, m.calls, m.effects, m.drift, m.shed, m.stageTime, m.stageRows,
		m.due, oldest, m.review, used,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func counter(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

func gauge(name, help string) prometheus.Gauge {
	return prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
}

// Delivery counts one delivery.
func (m *Metrics) Delivery(source, result string) { m.deliveries.WithLabelValues(source, result).Inc() }

// Secret counts which secret verified a delivery.
func (m *Metrics) Secret(source, position string) { m.secrets.WithLabelValues(source, position).Inc() }

// Staged observes one staging call.
func (m *Metrics) Staged(rows int, took time.Duration) {
	m.stageRows.Observe(float64(rows))
	m.stageTime.Observe(took.Seconds())
}

// Due tells how many rows are due and when the oldest was received; zero: none
// is known.
func (m *Metrics) Due(events int, oldest time.Time) {
	m.due.Set(float64(events))
	if oldest.IsZero() {
		m.oldest.Store(nil)
		return
	}
	m.oldest.Store(&oldest)
}

// oldestDue is the age as of now: it grows while nothing can be asked or done.
func (m *Metrics) oldestDue() float64 {
	oldest := m.oldest.Load()
	if oldest == nil {
		return 0
	}
	return max(0, m.now().Sub(*oldest).Seconds())
}

// Review tells how many rows wait for a person.
func (m *Metrics) Review(events int) { m.review.Set(float64(events)) }

// Event counts one event that was moved on.
func (m *Metrics) Event(source, outcome string) { m.events.WithLabelValues(source, outcome).Inc() }

// Effect counts one try of a side effect.
func (m *Metrics) Effect(result string) { m.effects.WithLabelValues(result).Inc() }

// Drift counts differences that reconciliation found.
func (m *Metrics) Drift(source, kind string, n int) {
	m.drift.WithLabelValues(source, kind).Add(float64(n))
}

// Call counts one call to Salesforce.
func (m *Metrics) Call(operation, class string) { m.calls.WithLabelValues(operation, class).Inc() }
