package app

import (
	"context"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"sfbridge/bridge/console"
	"sfbridge/bridge/store"
)

// adminRoutes is the operators' side: metrics, the health of the receiver, and,
// where a token is set, the admin API and the page that uses it.
func (b *Bridge) adminRoutes(health http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /healthz", health)
	mux.Handle("GET /readyz", health)
	metrics := promhttp.HandlerFor(b.metrics.Registry, promhttp.HandlerOpts{})
	if host, _, err := net.SplitHostPort(b.admin.Addr().String()); err != nil || !net.ParseIP(host).IsLoopback() {
		metrics = b.withToken(metrics)
	}
	mux.Handle("GET /metrics", metrics)
	if b.console != nil {
		mux.Handle("/admin/v1/", b.console)
		page := console.NewPage()
		mux.Handle("/console", page)
		mux.Handle("/console/", page)
		mux.Handle("GET /{$}", http.RedirectHandler("/console", http.StatusFound))
	}
	return mux
}

// newConsole makes the admin API; nil where no token is set.
func (b *Bridge) newConsole() (http.Handler, error) {
	if !b.cfg.Admin.Token.IsSet() {
		return nil, nil
	}
	desk, err := b.Desk()
	if err != nil {
		return nil, err
	}
	return console.NewHandler(console.Config{
		Desk: desk, Token: b.cfg.Admin.Token.Value(), Log: b.log,
		Stats:   func(context.Context) (any, error) { return b.metrics.Snapshot() },
		Drift:   func(context.Context) (any, error) { return b.drift(), nil },
		Sources: func(context.Context) (any, error) { return b.inventory() },
		Spool:   b.spoolDesk(),
	})
}

// inventory describes the sources as they stand now, by name.
func (b *Bridge) inventory() ([]SourceInfo, error) {
	sources := b.sources.Load().byName
	kept := store.OpenSecrets(b.cfg.Store.Dir)
	list := []SourceInfo{}
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		info, err := sources[name].Info(b.cfg, kept)
		if err != nil {
			return nil, err
		}
		list = append(list, info)
	}
	return list, nil
}

// Sample is one value of a metric that has labels.
type Sample struct {
	Labels map[string]string `json:"labels"`
	Value  float64           `json:"value"`
}

// Snapshot gives the bridge's own metrics by name: a number, a list of Samples
// where there are labels, and of a distribution how many and how much together.
func (m *Metrics) Snapshot() (map[string]any, error) {
	families, err := m.Registry.Gather()
	if err != nil {
		return nil, err
	}
	all := map[string]any{}
	for _, family := range families {
		name := family.GetName()
		if !strings.HasPrefix(name, "bridge_") {
			continue
		}
		samples := []Sample{}
		for _, metric := range family.GetMetric() {
			if h := metric.GetHistogram(); h != nil {
				all[name+"_count"], all[name+"_sum"] = h.GetSampleCount(), h.GetSampleSum()
				continue
			}
			// A metric is a counter or a gauge; the other one is zero.
			value := metric.GetCounter().GetValue() + metric.GetGauge().GetValue()
			labels := map[string]string{}
			for _, l := range metric.GetLabel() {
				labels[l.GetName()] = l.GetValue()
			}
			if len(labels) == 0 {
				all[name] = value
				continue
			}
			samples = append(samples, Sample{Labels: labels, Value: value})
		}
		if len(samples) > 0 {
			all[name] = samples
		}
	}
	return all, nil
}
