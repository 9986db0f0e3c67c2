package provider_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/identify"
	"sfbridge/bridge/provider"
	"sfbridge/bridge/verify"
	"sfbridge/bridge/verify/special"
	"sfbridge/mapping/path"
)

var update = flag.Bool("update", false, "write docs/providers.md")

const page = "../../docs/providers.md"

// TestThePageOfProvidersIsCurrent compares docs/providers.md with the presets;
// with -update it is written.
func TestThePageOfProvidersIsCurrent(t *testing.T) {
	t.Parallel()
	catalog, err := catalog()
	require.NoError(t, err)
	want := providersPage(t, catalog)
	if *update {
		require.NoError(t, os.WriteFile(page, []byte(want), 0o644))
	}
	got, err := os.ReadFile(page)
	require.NoError(t, err)
	assert.Equal(t, want, string(got), "write it anew: go test ./bridge/provider -run ThePage -update")
}

func providersPage(t *testing.T, c *provider.Catalog) string {
	var b strings.Builder
	b.WriteString(`# Providers

This page is made from the presets (` + "`bridge/provider/presets/`" + `); a test keeps it current.
A source needs no more than the provider's name and its secret:

` + "```yaml\nsource: stripe          # POST /webhooks/stripe\nprovider: stripe\nsecrets: [\"${STRIPE_SECRET}\"]\n```" + `

Any part can be overridden in the mapping (` + "`verify`, `event`" + `). How to add a source step by step is in
[sources.md](sources.md). What is delivered as a form or as XML is stored as it came; mappings address it
as described there.

| provider | name | trust | batches | handshakes |
|---|---|---|---|---|
`)
	for _, name := range c.Names() {
		p := load(t, name)
		batch := ""
		if !p.Identity.Split.IsZero() {
			batch = "`" + p.Identity.Split.String() + "`"
		}
		fmt.Fprintf(&b, "| [%s](#%s) | `%s` | %s | %s | %s |\n", p.Title, name, name, p.Trust, batch, strings.Join(handshakeNames(p), ", "))
	}
	for _, name := range c.Names() {
		section(&b, load(t, name))
	}
	return b.String()
}

func handshakeNames(p *provider.Preset) []string {
	var names []string
	for _, h := range p.Handshakes {
		names = append(names, h.Name)
	}
	return names
}

func section(b *strings.Builder, p *provider.Preset) {
	fmt.Fprintf(b, "\n## %s\n\n%s\n\n", p.Name, p.Title)
	for _, line := range p.About {
		fmt.Fprintf(b, "* %s\n", line)
	}
	if len(p.About) > 0 {
		b.WriteString("\n")
	}
	b.WriteString("| | |\n|---|---|\n")
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(b, "| %s | %s |\n", name, strings.ReplaceAll(value, "|", `\|`))
		}
	}
	row("secret", p.Secrets)
	for _, name := range slices.Sorted(maps.Keys(p.Params)) {
		need := ""
		switch param := p.Params[name]; {
		case param.Need:
			need = " (needed)"
		case param.NeedUnpinned:
			need = " (needed without a secret)"
		}
		row("`params."+name+"`"+need, p.Params[name].About)
	}
	for _, rule := range p.Rules {
		row("signature `"+rule.Name+"`", signature(rule))
	}
	row("trust", string(p.Trust))
	row("event id", identityText(p))
	row("type", types(p.Identity))
	row("object", entities(p.Identity))
	row("order", orders(p.Identity))
	row("left out of the hash", pathList(p.Identity.Volatile))
	row("one event per element of", splitsText(p.Identity))
	row("taken besides JSON", content(p.Content))
	for _, h := range p.Handshakes {
		row("handshake "+h.Name, strings.Join(h.Methods, ", ")+signedText(h))
	}
	row("answer", answerText(p.Answer))
	row("waits for an answer", p.Deadline.String())
	row("may send again for", span(p.Redelivery))
}

func signature(r verify.Rule) string {
	var parts []string
	if len(r.Sig.Headers) > 0 {
		parts = append(parts, "in "+code(strings.Join(r.Sig.Headers, "`, `")))
	}
	switch r.Kind {
	case verify.KindHMAC:
		parts = append(parts, "HMAC-"+strings.ToUpper(r.Hash)+" ("+r.Enc+") over "+code(r.Signed))
	case verify.KindDigest:
		parts = append(parts, strings.ToUpper(r.Hash)+" over "+code(r.Signed))
	case verify.KindECDSA:
		parts = append(parts, "ECDSA P-256 over "+code(r.Signed))
	case verify.KindToken:
		parts = append(parts, "the secret itself")
	case verify.KindBasic:
		parts = append(parts, "HTTP Basic authentication")
	default:
		parts = append(parts, "scheme "+code(r.Kind))
	}
	if r.TS != nil {
		parts = append(parts, fmt.Sprintf("%s old at most, either way", r.TS.Window()))
	}
	parts = append(parts, string(r.Trust(special.Schemes())))
	return strings.Join(parts, "; ")
}

func code(s string) string { return "`" + s + "`" }

func identityText(p *provider.Preset) string {
	i := p.Identity
	list := templateTexts(i.ID)
	for _, t := range templateTexts(i.Hashed) {
		list = append(list, t+" and the hash of the content")
	}
	if i.ByHash {
		list = append(list, "the hash of the content")
	}
	text := strings.Join(list, ", else ")
	if i.PerDelivery {
		text += ", and the receive time: every delivery is an event"
	}
	if slices.Contains(p.Required, "id") {
		return "given by the mapping"
	}
	return text
}

func templateTexts(list []path.Template) []string {
	var texts []string
	for _, t := range list {
		texts = append(texts, code(t.String()))
	}
	return texts
}

func types(i identify.Identity) string {
	var list []string
	for _, k := range i.Kinds {
		list = append(list, code(k.Type.String()))
	}
	return strings.Join(append(list, templateTexts(i.Type)...), ", else ")
}

func entities(i identify.Identity) string {
	var list []string
	for _, e := range i.Entities {
		if text := code(e.Object.String()); !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	return strings.Join(list, ", else ")
}

func orders(i identify.Identity) string {
	var list []string
	add := func(orders []identify.Order) {
		for _, o := range orders {
			if text := pathList(o.Paths) + " as " + string(o.As); !slices.Contains(list, text) {
				list = append(list, text)
			}
		}
	}
	for _, e := range i.Entities {
		add(e.Order)
	}
	add(i.Order)
	return strings.Join(list, "; ")
}

func pathList(list []path.Path) string {
	var texts []string
	for _, p := range list {
		texts = append(texts, code(p.String()))
	}
	return strings.Join(texts, ", ")
}

func splitsText(i identify.Identity) string {
	if i.Split.IsZero() {
		return ""
	}
	texts := []string{code(i.Split.String())}
	for _, s := range i.MoreSplits {
		texts = append(texts, code(s.String()))
	}
	text := strings.Join(texts, " and ")
	if len(i.Spread) > 0 {
		text += ", and of " + pathList(i.Spread) + " in it"
	}
	if i.Single {
		text += "; without it the delivery is one event"
	}
	return text
}

func content(c identify.Content) string {
	var list []string
	if c.FormMember != "" {
		list = append(list, "a form whose field "+code(c.FormMember)+" holds the event")
	}
	if c.Form {
		list = append(list, "a form")
	}
	if c.XML {
		list = append(list, "XML")
	}
	if c.Lines {
		list = append(list, "JSON lines")
	}
	return strings.Join(list, ", ")
}

func signedText(h provider.Handshake) string {
	switch {
	case h.Keeps != nil:
		return "; brings the secret, answered while the source has none"
	case h.Unsigned:
		return "; not signed"
	}
	return "; signed"
}

func answerText(a *provider.Answer) string {
	if a == nil {
		return ""
	}
	text := fmt.Sprint(a.Status)
	switch {
	case a.Empty:
		text += " without a body"
	case a.Body != "":
		text += " " + a.ContentType + " " + code(a.Body)
	}
	if a.BareRefusals {
		text += "; a bad signature gets 401 without a body"
	}
	return text
}

func span(d time.Duration) string {
	if d >= 48*time.Hour && d%(24*time.Hour) == 0 {
		return fmt.Sprintf("%d days", d/(24*time.Hour))
	}
	return strings.TrimSuffix(strings.TrimSuffix(d.String(), "0s"), "0m")
}
