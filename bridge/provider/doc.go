// Package provider holds the presets: what the bridge knows of each provider,
// so that a source needs no more than its name and a secret.
//
//	catalog, err := provider.Load()
//	preset, err := catalog.Preset("stripe")
//	rules, err := preset.RulesWith(provider.RuleOverride{Tolerance: time.Hour})
//	identity := preset.Identity.With(override)
//
// A preset joins the signature rules (rows of verify's table), the identity of
// events, the forms of content, the answer that the provider wants, and the
// handshakes: requests that are answered at once and never become events. All
// of it is data, one file a provider in presets, checked when it is loaded;
// presets/README.md says what its members mean.
package provider
