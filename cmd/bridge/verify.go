package main

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sfbridge/bridge/provider"
	"sfbridge/bridge/trial"
	"sfbridge/bridge/verify"
	"sfbridge/bridge/verify/special"
)

type verifyOptions struct {
	delivery trial.Delivery
	secrets  secretFlags
	params   map[string]string
	url      string
	method   string
	headers  []string
	body     string
	now      int64
	vectors  string
}

func newVerify(env environment) *cobra.Command {
	var o verifyOptions
	c := &cobra.Command{
		Use: "verify", Short: "Judge one delivery offline, as the receiver would",
		Example: "  bridge verify --provider stripe --secret-env STRIPE_SECRET --header 'Stripe-Signature: t=…,v1=…' --body delivery.json",
		RunE: func(c *cobra.Command, _ []string) error {
			if o.vectors != "" {
				return verifyVectors(env, o.vectors)
			}
			if err := required(c, "provider", "body"); err != nil {
				return err
			}
			return verifyOne(c, env, o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.delivery.Provider, "provider", "", "preset, such as stripe")
	f.StringVar(&o.delivery.Scheme, "scheme", "", "one row of the signature table instead of the provider's rules")
	o.secrets.add(f)
	f.StringToStringVar(&o.params, "param", nil, "what a scheme needs besides, such as webhook_id=…")
	f.StringVar(&o.url, "url", "", "the address the provider calls")
	f.StringVar(&o.method, "method", http.MethodPost, "HTTP method")
	f.StringArrayVar(&o.headers, "header", nil, "'Name: value' (repeatable)")
	f.StringVar(&o.body, "body", "", "file with the raw body, or - for standard input")
	f.Int64Var(&o.now, "now", 0, "judge as of this Unix time (default: now)")
	f.StringVar(&o.vectors, "vectors", "", "check a file of recorded vectors instead")
	return c
}

func verifyOne(c *cobra.Command, env environment, o verifyOptions) error {
	secrets, err := o.secrets.read(env)
	switch {
	case err != nil:
		return err
	case len(secrets) == 0:
		return usage("bridge verify needs %s: as the provider shows it", secretFlagNames)
	}
	header, err := parseHeaders(o.headers)
	if err != nil {
		return err
	}
	body, err := readInput(env, o.body)
	if err != nil {
		return err
	}
	catalog, err := provider.Load()
	if err != nil {
		return err
	}
	now := env.now()
	if c.Flags().Changed("now") {
		now = time.Unix(o.now, 0)
	}
	d := o.delivery
	d.Params, d.Secrets = o.params, secrets
	d.Request = verify.Request{Method: o.method, URL: o.url, Header: header, Body: body, Now: now}
	report, err := trial.Check(catalog, d)
	if err != nil {
		return usage("%v", err)
	}
	if wantsJSON(c, env) {
		err = printJSON(env.out, report)
	} else {
		err = showJudgement(env, report)
	}
	if err == nil && !report.Valid {
		return errReported
	}
	return err
}

func showJudgement(env environment, r trial.Report) error {
	if !r.Valid {
		_, err := fmt.Fprintf(env.out, "not valid: %s\n%s\n", strings.ReplaceAll(string(r.Reason), "_", " "), r.Hint)
		return err
	}
	fmt.Fprintln(env.out, "valid")
	if r.Hint != "" {
		fmt.Fprintln(env.out, r.Hint)
	}
	if r.Note != "" {
		fmt.Fprintln(env.out, r.Note)
	}
	if len(r.Events) == 0 {
		return nil
	}
	t := newTable(env.out, "EVENT", "TYPE", "OBJECT", "ORDER")
	for _, e := range r.Events {
		t.row(e.ID, text(e.Type), text(e.Object), number(e.Order))
	}
	return t.flush()
}

func verifyVectors(env environment, name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	table, err := verify.LoadTable()
	if err != nil {
		return err
	}
	report, err := verify.VectorRun{Table: table, Schemes: special.Schemes()}.Run(f)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err := report.Write(env.out); err != nil {
		return err
	}
	if report.Failed > 0 {
		return errReported
	}
	return nil
}

func text(s *string) string {
	if s == nil {
		return "-"
	}
	return *s
}

func number(n *int64) string {
	if n == nil {
		return "-"
	}
	return fmt.Sprint(*n)
}
