package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"sfbridge/salesforce/simorg"
	"sfbridge/salesforce/simorg/fault"
)

type simorgOptions struct {
	cfg      simorg.Config
	metadata []string
	faults   string
	jwtCert  string
}

func newSimorg(env environment) *cobra.Command {
	var o simorgOptions
	c := &cobra.Command{
		Use: "simorg", Short: "Run the simulated org alone",
		Long: "Runs a simulated Salesforce org with the product's objects until it is interrupted. It prints one\n" +
			"JSON line {\"url\",\"access_token\"}; real clients (sf, jsforce) can use it. Everything is in memory.\n\n" +
			"--unsure switches what no source confirms about Salesforce to its other plausible way:\n" + switches(),
		RunE: func(c *cobra.Command, _ []string) error { return serveOrg(c.Context(), env, o) },
	}
	f := c.Flags()
	f.StringVar(&o.cfg.Listen, "listen", "127.0.0.1:8089", "address")
	f.StringArrayVar(&o.metadata, "metadata", nil, "SFDX source folder with more objects (repeatable)")
	f.BoolVar(&o.cfg.Samples, "samples", false, "add the sample objects Customer__c, Payment__c, Payment_Line__c")
	f.DurationVar(&o.cfg.Latency, "latency", 0, "of every call, such as 80ms")
	f.IntVar(&o.cfg.DailyLimit, "daily-limit", 0, "API calls a day (default 5,000,000)")
	f.StringVar(&o.faults, "faults", "", "JSON file with faults to plant at the start (form of POST /_sim/faults)")
	f.StringVar(&o.jwtCert, "jwt-cert", "", "PEM certificate that JWT assertions are checked against")
	f.StringVar(&o.cfg.ClientID, "client-id", "sim", "of client credentials")
	f.StringVar(&o.cfg.ClientSecret, "client-secret", "sim", "of client credentials")
	f.StringSliceVar(&o.cfg.Unsure, "unsure", nil, "switches, see above")
	return c
}

func switches() string {
	var b strings.Builder
	t := newTable(&b)
	for _, s := range simorg.UnsureSwitches() {
		t.row("  "+s.Name, s.Default)
		t.row("", "switched: "+s.With)
	}
	_ = t.flush() // a builder never fails
	return b.String()
}

func serveOrg(ctx context.Context, env environment, o simorgOptions) error {
	for _, dir := range o.metadata {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return usage("--metadata %s: not a folder", dir)
		}
		o.cfg.Metadata = append(o.cfg.Metadata, fs.FS(os.DirFS(dir)))
	}
	if err := o.read(env); err != nil {
		return err
	}
	srv, err := simorg.New(o.cfg)
	if err != nil {
		return err
	}
	err = srv.Start()
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%s is in use: end the process that listens there, or give --listen another port", o.cfg.Listen)
	}
	if err != nil {
		return err
	}
	line := struct {
		URL         string `json:"url"`
		AccessToken string `json:"access_token"`
	}{srv.URL(), srv.AccessToken()}
	if err := printJSON(env.out, line); err != nil {
		return err
	}
	<-ctx.Done()
	return srv.Close()
}

// read reads the files that flags name.
func (o *simorgOptions) read(env environment) error {
	if o.jwtCert != "" {
		pem, err := readInput(env, o.jwtCert)
		if err != nil {
			return fmt.Errorf("--jwt-cert: %w", err)
		}
		o.cfg.JWTCert = pem
	}
	if o.faults == "" {
		return nil
	}
	data, err := readInput(env, o.faults)
	if err != nil {
		return fmt.Errorf("--faults: %w", err)
	}
	if o.cfg.Faults, err = fault.Parse(data); err != nil {
		return usage("--faults %s: %v", o.faults, err)
	}
	return nil
}
