package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set when a release is built: -ldflags "-X main.version=v1.2.3".
var version = ""

type versionReport struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	Go      string `json:"go"`
}

func newVersion(env environment) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version",
		RunE: func(c *cobra.Command, _ []string) error {
			r := readVersion()
			if wantsJSON(c, env) {
				return printJSON(env.out, r)
			}
			_, err := fmt.Fprintf(env.out, "bridge %s (%s)\n", r.Version, r.Go)
			return err
		},
	}
}

func readVersion() versionReport {
	r := versionReport{Version: version, Go: runtime.Version()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return r
	}
	if r.Version == "" {
		r.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			r.Commit = s.Value
		}
	}
	return r
}
