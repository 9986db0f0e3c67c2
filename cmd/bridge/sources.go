package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sfbridge/bridge/app"
	"sfbridge/bridge/operate"
	"sfbridge/bridge/provider"
	"sfbridge/bridge/store"
	"sfbridge/config"
)

type sourcesOptions struct {
	config  string
	source  string
	forget  string
	offline bool
}

func newSources(env environment) *cobra.Command {
	var o sourcesOptions
	c := &cobra.Command{
		Use: "sources", Short: "List the configured sources: preset, address, open handshakes, last delivery",
		Long: "Lists the configured sources with the address to give to the provider, the handshakes that\n" +
			"would be answered now, and the last delivery. A secret that a provider sent in a handshake is\n" +
			"shown once, by the first listing after it came.",
		Example: "  bridge sources --config bridge.yaml\n  bridge sources --config bridge.yaml --forget asana",
		RunE: func(c *cobra.Command, _ []string) error {
			if err := required(c, "config"); err != nil {
				return err
			}
			return listSources(c, env, o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.config, "config", "", "settings file (bridge.yaml)")
	f.StringVar(&o.source, "source", "", "this source only")
	f.StringVar(&o.forget, "forget", "", "drop the secret that this source was sent, so that it can be set up again")
	f.BoolVar(&o.offline, "offline", false, "don't ask the org for the last deliveries")
	return c
}

// listedSource is a source with what only the store and the org know.
type listedSource struct {
	app.SourceInfo
	// NewSecret came in a handshake and is shown this once.
	NewSecret string     `json:"new_secret,omitempty"`
	Last      *delivered `json:"last_delivery"`
}

type delivered struct {
	At      time.Time `json:"at"`
	EventID string    `json:"event_id"`
	Status  string    `json:"status"`
}

func listSources(c *cobra.Command, env environment, o sourcesOptions) error {
	cfg, sources, err := configuredSources(o.config)
	if err != nil {
		return err
	}
	kept := store.OpenSecrets(cfg.Store.Dir)
	known := func(name string) bool {
		return slices.ContainsFunc(sources, func(s *app.Source) bool { return s.Mapping.Source == name })
	}
	for _, name := range []string{o.source, o.forget} {
		if name != "" && !known(name) {
			return usage("no source %q is configured", name)
		}
	}
	if o.forget != "" {
		if err := forget(env, kept, o.forget, sources); err != nil {
			return err
		}
	}
	list := []listedSource{}
	for _, s := range sources {
		if o.source != "" && s.Mapping.Source != o.source {
			continue
		}
		listed := listedSource{}
		if listed.SourceInfo, err = s.Info(cfg, kept); err != nil {
			return err
		}
		if listed.NewSecret, _, err = kept.Show(s.Mapping.Source); err != nil {
			return err
		}
		list = append(list, listed)
	}
	if !o.offline {
		lastDeliveries(c.Context(), env, o.config, list)
	}
	if wantsJSON(c, env) {
		return printJSON(env.out, map[string]any{"sources": list})
	}
	return showSources(env, list)
}

// forget drops what a source was sent in a handshake. A source that keeps no
// secret has nothing that could be forgotten: saying so would mislead whoever
// wants to take a secret out of use.
func forget(env environment, kept *store.Secrets, name string, sources []*app.Source) error {
	if _, found, err := kept.Get(name); err == nil && !found {
		for _, s := range sources {
			if s.Mapping.Source == name && len(s.Mapping.Secrets) > 0 {
				return usage("%s has its secret from its mapping; only a secret from a handshake can be forgotten", name)
			}
		}
		return usage("%s keeps no secret: there is nothing to forget", name)
	}
	// A kept secret that can't be read is forgotten too: it has no other end.
	if err := kept.Forget(name); err != nil {
		return err
	}
	fmt.Fprintf(env.err, "forgotten; send SIGHUP to bridge serve, then set %s up at the provider again\n", name)
	return nil
}

func configuredSources(file string) (*config.Config, []*app.Source, error) {
	cfg, err := config.Load(file)
	if err != nil {
		return nil, nil, err
	}
	catalog, err := provider.Load()
	if err != nil {
		return nil, nil, err
	}
	sources, err := app.LoadSources(cfg.Mappings, catalog)
	return cfg, sources, err
}

// lastDeliveries asks the org. That it can't be asked is told and no failure:
// the rest of the list is still of use.
func lastDeliveries(ctx context.Context, env environment, file string, list []listedSource) {
	d, err := desk(file, env)
	for i := range list {
		if err != nil {
			break
		}
		events, problem := d.List(ctx, operate.Filter{Source: list[i].Source, Limit: 1})
		if err = problem; err == nil && len(events) > 0 {
			e := events[0]
			list[i].Last = &delivered{At: e.ReceivedAt, EventID: e.ID, Status: string(e.Status)}
		}
	}
	if err != nil {
		fmt.Fprintln(env.err, "warning: the last deliveries are not known:", err)
	}
}

func showSources(env environment, list []listedSource) error {
	t := newTable(env.out, "SOURCE", "PROVIDER", "ADDRESS FOR THE PROVIDER", "TRUST", "SECRET", "OPEN HANDSHAKES", "LAST DELIVERY")
	for _, s := range list {
		last := "-"
		if s.Last != nil {
			last = s.Last.At.Format(time.RFC3339) + " " + s.Last.EventID
		}
		t.row(s.Source, s.Provider, s.URL, s.Trust, s.Secret, strings.Join(s.Handshakes, ", "), last)
	}
	if err := t.flush(); err != nil {
		return err
	}
	for _, s := range list {
		if s.NewSecret != "" {
			fmt.Fprintf(env.out, "\n%s was sent this secret, which is kept and not shown again:\n  %s\n", s.Source, oneLine(s.NewSecret))
		}
	}
	return nil
}
