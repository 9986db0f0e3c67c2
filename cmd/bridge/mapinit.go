package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"sfbridge/bridge/app"
	"sfbridge/bridge/propose"
	"sfbridge/bridge/provider"
	"sfbridge/config"
	"sfbridge/mapping"
	"sfbridge/mapping/path"
)

type mapInitOptions struct {
	provider string
	object   string
	payloads mapOptions // payloads and headers
	org      bool
	config   string
	out      string
}

func newMapInit(env environment) *cobra.Command {
	var o mapInitOptions
	c := &cobra.Command{
		Use: "init", Short: "Propose a first mapping from sample payloads, and the org's describe with --org",
		Long: "Proposes a first mapping. Places where a person must decide are marked \"decide:\".\n" +
			"The mapping itself goes to the standard output, also when that is a file; --json gives it as JSON.",
		Example: "  bridge map init --provider stripe --object Payment__c --payload charge.json --out mappings/stripe.yaml\n" +
			"  bridge map init --provider stripe --object Payment__c --payload charge.json --org --config bridge.yaml",
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := required(c, "provider", "object", "payload"); err != nil {
				return err
			}
			if o.org != (o.config != "") {
				return usage("bridge map init --org needs --config, which names the org, and the reverse")
			}
			return mapInit(c, env, o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.provider, "provider", "", "the provider, generic for any sender with an HMAC signature")
	f.StringVar(&o.object, "object", "", "API name of the object to write")
	f.StringArrayVar(&o.payloads.payloads, "payload", nil, "file with a delivery's body, or - for standard input (repeatable)")
	f.StringArrayVar(&o.payloads.headers, "header", nil, "'Name: value' of the delivery (repeatable)")
	f.BoolVar(&o.org, "org", false, "fit the fields of the org (needs its credentials)")
	f.StringVar(&o.config, "config", "", "settings file (bridge.yaml), for --org")
	f.StringVar(&o.out, "out", "", "file to write; one that exists is left alone")
	return c
}

func mapInit(c *cobra.Command, env environment, o mapInitOptions) error {
	catalog, err := provider.Load()
	if err != nil {
		return err
	}
	preset, err := catalog.Preset(o.provider)
	if err != nil {
		return usage("%v", err)
	}
	inputs, err := readPayloads(env, o.payloads)
	if err != nil {
		return err
	}
	first, err := path.DecodeJSON(inputs[0].delivery.Body)
	if err != nil && len(preset.Required) > 0 {
		return fmt.Errorf("%s: %w", inputs[0].name, err)
	}
	cfg := propose.Config{Head: propose.Head(o.provider, preset.Required, first), Vendor: o.provider, Object: o.object}
	if cfg.Samples, err = samples(cfg.Head, catalog, inputs); err != nil {
		return err
	}
	if o.org {
		if cfg.Org, err = describer(env, o.config); err != nil {
			return err
		}
	}
	draft, err := propose.Draft(c.Context(), cfg)
	if err != nil {
		return err
	}
	return deliverDraft(c, env, o.out, draft)
}

// samples identifies the events of the payloads as the service would.
func samples(head string, catalog *provider.Catalog, inputs []mapInput) ([]propose.Sample, error) {
	file, err := mapping.Parse("draft.yaml", []byte(head+"routes: [{name: none, ignore: true}]\n"))
	if err != nil {
		return nil, err
	}
	source, err := app.LoadSource(file, catalog)
	if err != nil {
		return nil, err
	}
	var out []propose.Sample
	for _, in := range inputs {
		doc, err := source.Identifier.Read(in.delivery)
		if err != nil {
			return nil, unread(in, err)
		}
		found, err := doc.Events()
		if err != nil {
			return nil, unread(in, err)
		}
		for _, f := range found {
			out = append(out, propose.Sample{Type: f.Event.Type, ObjectID: f.Event.ObjectID, Ordered: f.Event.Order != nil, Value: f.Value})
		}
	}
	return out, nil
}

// describer logs in to the org of the settings.
func describer(env environment, file string) (propose.Org, error) {
	cfg, err := config.LoadOrg(file)
	if err != nil {
		return nil, err
	}
	if cfg, err = cfg.Fill(env.env, "salesforce"); err != nil {
		return nil, err
	}
	login, err := app.Connect(cfg, env.env, nil)
	if err != nil {
		return nil, err
	}
	return login.Client, nil
}

// deliverDraft writes the draft where it was asked for and counts what is left
// to decide.
func deliverDraft(c *cobra.Command, env environment, file string, draft propose.Proposal) error {
	if file != "" {
		if err := writeNew(file, draft.Text); err != nil {
			return err
		}
	}
	if asked, _ := c.Flags().GetBool("json"); asked {
		return printJSON(env.out, map[string]any{"mapping": draft.Text, "decisions": draft.Decisions})
	}
	if file == "" {
		if _, err := io.WriteString(env.out, draft.Text); err != nil {
			return err
		}
	}
	fmt.Fprintf(env.err, "%d places to decide; try the mapping with: bridge map --mapping FILE --payload FILE\n", len(draft.Decisions))
	return nil
}

// writeNew writes a file that doesn't exist yet.
func writeNew(name, text string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("%s exists and is left alone: name another file with --out", name)
	}
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, text)
	return errors.Join(err, f.Close())
}
