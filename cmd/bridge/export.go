package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"sfbridge/bridge/export"
	"sfbridge/bridge/provider"
	"sfbridge/mapping"
)

type exportOptions struct {
	mappings []string
	config   string
	out      string
}

func newExport(env environment) *cobra.Command {
	var o exportOptions
	c := &cobra.Command{
		Use: "export", Short: "Write a mapping as custom metadata for the Apex package",
		Long: "Writes the compiled mapping as a record of Inbound_Mapping__mdt in source format. What the Apex package\n" +
			"can't run is refused by name. The same mapping gives the same bytes. Without --out the record itself\n" +
			"goes to the standard output, also when that is a file; --json gives it as JSON.",
		Example: "  bridge export --mapping mappings/stripe.yaml --out force-app/main/default/customMetadata\n" +
			"  bridge export --config bridge.yaml --out force-app/main/default/customMetadata",
		RunE: func(c *cobra.Command, _ []string) error {
			switch {
			case (o.config == "") == (len(o.mappings) == 0):
				return usage("bridge export needs --mapping or --config, one of them")
			case o.out == "" && (o.config != "" || len(o.mappings) > 1):
				return usage("bridge export needs --out for more than one mapping: the folder of the records")
			}
			return runExport(c, env, o)
		},
	}
	f := c.Flags()
	f.StringArrayVar(&o.mappings, "mapping", nil, "mapping file (repeatable)")
	f.StringVar(&o.config, "config", "", "settings file (bridge.yaml), for its mappings with processor: org")
	f.StringVar(&o.out, "out", "", "folder to write the records to (customMetadata); empty: the standard output")
	return c
}

// exported is a record as --json shows it.
type exported struct {
	Source    string `json:"source"`
	Version   string `json:"mapping_version"`
	Name      string `json:"developer_name"`
	File      string `json:"file"`
	Processor string `json:"processor"`
	Metadata  string `json:"metadata,omitempty"` // the record, when it was not written to a file
}

func runExport(c *cobra.Command, env environment, o exportOptions) error {
	files, err := loadMappings(o.config, o.mappings)
	if err != nil {
		return err
	}
	records, done, err := exportAll(files, o.config != "")
	if err != nil {
		return err
	}
	for _, d := range done {
		if d.Processor != string(mapping.ProcessorOrg) {
			fmt.Fprintf(env.err, "bridge: %s has processor: %s, so the bridge applies its events and not the org: write processor: org\n", d.Source, d.Processor)
		}
	}
	asked, _ := c.Flags().GetBool("json")
	if o.out == "" && !asked {
		_, err := env.out.Write(records[0].XML)
		return err
	}
	for i, r := range records {
		if o.out == "" {
			done[i].Metadata = string(r.XML)
			continue
		}
		done[i].File = filepath.Join(o.out, r.File)
		if err := writeRecord(done[i].File, r.XML); err != nil {
			return err
		}
	}
	return showExport(c, env, done)
}

// exportAll makes the records of all mappings, or of none: of those of the org
// only where the settings name others too.
func exportAll(files []*mapping.File, orgOnly bool) ([]*export.Record, []exported, error) {
	catalog, err := provider.Load()
	if err != nil {
		return nil, nil, err
	}
	var records []*export.Record
	done := []exported{}
	seen := map[string]string{}
	for _, f := range files {
		if orgOnly && f.Processor != mapping.ProcessorOrg {
			continue
		}
		preset, err := catalog.Preset(f.Provider)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", f.Name, err)
		}
		r, err := export.New(export.Config{Mapping: f, Sends: otherThanJSON(preset)})
		if err != nil {
			return nil, nil, err
		}
		if first, double := seen[r.Source]; double {
			return nil, nil, fmt.Errorf("%s: source %q is already that of %s: one file a source", f.Name, r.Source, first)
		}
		seen[r.Source] = f.Name
		records = append(records, r)
		done = append(done, exported{Source: r.Source, Version: r.Version, Name: r.Name, File: r.File, Processor: string(f.Processor)})
	}
	return records, done, nil
}

// otherThanJSON names what a provider sends that is no JSON.
func otherThanJSON(p *provider.Preset) string {
	switch c := p.Content; {
	case c.Form:
		return "forms"
	case c.XML:
		return "XML"
	case c.Base64:
		return "Base64 text"
	}
	return ""
}

func writeRecord(file string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, data, 0o644)
}

func showExport(c *cobra.Command, env environment, done []exported) error {
	if wantsJSON(c, env) {
		return printJSON(env.out, map[string]any{"records": done})
	}
	t := newTable(env.out, "SOURCE", "MAPPING", "FILE")
	for _, d := range done {
		t.row(d.Source, d.Version, d.File)
	}
	return t.flush()
}
