package main

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sfbridge/bridge/app"
	"sfbridge/bridge/provider"
	"sfbridge/bridge/trial"
	"sfbridge/mapping"
)

type sendOptions struct {
	sender   trial.Sender
	secrets  secretFlags
	provider string
	mapping  string
	scheme   string
	body     string
	headers  []string
}

func newSend(env environment) *cobra.Command {
	var o sendOptions
	c := &cobra.Command{
		Use: "send", Short: "Sign and send test deliveries",
		Example: "  bridge send --url http://127.0.0.1:8080/webhooks/stripe --provider stripe --secret-env STRIPE_SECRET --body event.json",
		RunE: func(c *cobra.Command, _ []string) error {
			if err := required(c, "url", "body"); err != nil {
				return err
			}
			return send(c, env, o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.sender.URL, "url", "", "where to send; it is also the URL that is signed")
	f.StringVar(&o.sender.Signed, "signed-url", "", "the address that is signed, where it differs (public_url)")
	f.StringVar(&o.provider, "provider", "", "preset, such as stripe")
	f.StringVar(&o.mapping, "mapping", "", "mapping file instead of --provider: signs as its verify says")
	f.StringVar(&o.scheme, "scheme", "", "one row of the signature table instead of the provider's rule")
	o.secrets.add(f)
	f.StringVar(&o.body, "body", "", "file with the raw body, or - for standard input")
	f.StringArrayVar(&o.headers, "header", nil, "'Name: value' (repeatable)")
	f.IntVar(&o.sender.Times, "times", 1, "how many deliveries")
	f.IntVar(&o.sender.Workers, "parallel", 1, "how many at once")
	return c
}

func send(c *cobra.Command, env environment, o sendOptions) error {
	if o.sender.Times < 1 || o.sender.Workers < 1 {
		return usage("--times and --parallel are at least 1")
	}
	if !strings.HasPrefix(o.sender.URL, "http://") && !strings.HasPrefix(o.sender.URL, "https://") {
		return usage("--url %q: begin with http:// or https://, as in http://127.0.0.1:8080/webhooks/SOURCE", o.sender.URL)
	}
	if err := o.prepare(env); err != nil {
		return err
	}
	human := !wantsJSON(c, env)
	if human {
		o.sender.Each = progress(env, o.sender.Times)
	}
	report, err := o.sender.Run(c.Context())
	if err != nil && c.Context().Err() == nil {
		return usage("%v", err)
	}
	if human {
		showSent(env, report)
	} else if err := printJSON(env.out, report); err != nil {
		return err
	}
	if context.Cause(c.Context()) != nil || report.Accepted < report.Sent {
		return errReported
	}
	return nil
}

func (o *sendOptions) prepare(env environment) error {
	catalog, err := provider.Load()
	if err != nil {
		return err
	}
	if err := o.sign(catalog); err != nil {
		return err
	}
	if err := o.readSecret(env); err != nil {
		return err
	}
	if o.sender.Header, err = parseHeaders(o.headers); err != nil {
		return err
	}
	o.sender.Body, err = readInput(env, o.body)
	return err
}

// readSecret finds the one secret that deliveries are signed with.
func (o *sendOptions) readSecret(env environment) error {
	secrets, err := o.secrets.read(env)
	switch {
	case err != nil:
		return err
	case len(secrets) > 1:
		return usage("bridge send signs with one secret, %d are given", len(secrets))
	case len(secrets) == 1:
		o.sender.Secret = secrets[0]
	}
	if !o.sender.Preset.Unsigned() && o.sender.Secret == "" {
		return usage("bridge send needs %s: %s", secretFlagNames, o.sender.Preset.Secrets)
	}
	return nil
}

// sign finds how deliveries are signed: as a provider does, or as a mapping
// says.
func (o *sendOptions) sign(catalog *provider.Catalog) (err error) {
	switch {
	case (o.provider == "") == (o.mapping == ""):
		return usage("bridge send needs --provider or --mapping")
	case o.mapping != "":
		file, err := mapping.Load(o.mapping)
		if err != nil {
			return err
		}
		source, err := app.LoadSource(file, catalog)
		if err != nil {
			return err
		}
		o.sender.Preset, o.sender.Rule = source.Preset, &source.Rules[0]
	default:
		if o.sender.Preset, err = catalog.Preset(o.provider); err != nil {
			return usage("%v", err)
		}
	}
	if o.scheme != "" {
		rule, err := catalog.Rule(o.scheme)
		if err != nil {
			return usage("%v", err)
		}
		o.sender.Rule = &rule
	}
	return nil
}

// progress tells a person how a long run stands.
func progress(env environment, times int) func(trial.Sent) {
	if times < 100 {
		return nil
	}
	done := 0
	return func(trial.Sent) {
		if done++; done%max(1, times/20) == 0 || done == times {
			fmt.Fprintf(env.err, "\r%d of %d sent", done, times)
			if done == times {
				fmt.Fprintln(env.err)
			}
		}
	}
}

func showSent(env environment, r trial.SendReport) {
	fmt.Fprintf(env.out, "%d sent: %s\n", r.Sent, sentResults(r))
	for _, status := range slices.Sorted(maps.Keys(r.Statuses)) {
		answer := fmt.Sprint(status, " ", http.StatusText(status))
		if status == 0 {
			answer = "no answer"
			if r.First.Error != "" {
				answer += ": " + r.First.Error
			}
		}
		fmt.Fprintf(env.out, "%6d × %s\n", r.Statuses[status], answer)
	}
	if r.First.Answer != "" {
		fmt.Fprintf(env.out, "first answer: %s\n", oneLine(string(r.First.Answer)))
	}
}

// sentResults counts what became of the deliveries: 1 accepted, 1 duplicate.
func sentResults(r trial.SendReport) string {
	var parts []string
	add := func(n int, what string) {
		if n > 0 {
			parts = append(parts, fmt.Sprint(n, " ", what))
		}
	}
	told := 0
	for _, result := range trial.Results() {
		add(r.Results[result], result)
		told += r.Results[result]
	}
	add(r.Accepted-told, "taken")
	add(r.Sent-r.Accepted-r.Statuses[0], "refused")
	add(r.Statuses[0], "without an answer")
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}
