package trial

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"sfbridge/bridge/provider"
	"sfbridge/bridge/verify"
	"sfbridge/bridge/verify/special"
)

// hint says in words that help why a delivery was judged as it was. It tries
// what commonly goes wrong on the way, and never shows a secret or the
// signature that would have been right. "" when there is nothing to say.
func hint(catalog *provider.Catalog, rules []verify.Rule, d Delivery, r verify.Result) string {
	switch r.Reason {
	case verify.OK:
		if r.Secret > 0 {
			return fmt.Sprintf("signed with the previous secret (number %d of %d): keep it until the sender has changed over", r.Secret+1, len(d.Secrets))
		}
		return ""
	case verify.NoSecret:
		return secretHint(rules, d)
	case verify.MissingHeader:
		return missingHint(catalog, rules, d)
	case verify.TooOld, verify.TooNew:
		return ageHint(rules, r)
	case verify.RepeatedHeader:
		return "a header that may come once came several times with different values: something in front adds its own"
	case verify.UntrustedURL:
		return "the certificate is to be taken from a host that doesn't serve the provider's certificates: this delivery is not the provider's"
	case verify.NotJSON:
		return "the signature stands in the body, which is no JSON"
	}
	return signatureHint(rules, d, r)
}

// variant is another way in which the delivery may have been signed.
type variant struct {
	what  string
	apply func(rule *verify.Rule, d *Delivery)
}

// signatureHint looks for what was signed instead.
func signatureHint(rules []verify.Rule, d Delivery, r verify.Result) string {
	if looksLikeAPIKey(d.Secrets) {
		return "this looks like an API key, not a webhook secret"
	}
	for _, v := range variants(d) {
		for _, rule := range rules {
			other := d
			other.Request.Header = d.Request.Header.Clone()
			v.apply(&rule, &other)
			if signatureMatches(rule, other) {
				return v.what
			}
		}
	}
	switch r.Reason {
	case verify.MalformedTimestamp:
		return "the timestamp is not written as this provider writes it"
	case verify.MalformedHeader:
		return "what stands where the signature should be is not one of this scheme: is it the right provider, and has nothing in front changed the headers?"
	}
	return "the secret or the body is another one than was signed with: take the secret of this very endpoint, and the body byte for byte as it came, before anything parses it"
}

// signatureMatches says whether a delivery is rightly signed, whatever its age.
func signatureMatches(rule verify.Rule, d Delivery) bool {
	v, err := verify.New(verify.Config{Rules: []verify.Rule{rule}, Secrets: d.Secrets, Params: d.Params, Schemes: special.Schemes()})
	if err != nil {
		return false
	}
	return slices.Contains([]verify.Reason{verify.OK, verify.TooOld, verify.TooNew}, v.Verify(d.Request).Reason)
}

// maxTried bounds the bodies that are tried in other spellings.
const maxTried = 1 << 20

func variants(d Delivery) []variant {
	list := []variant{
		{"the timestamp is in milliseconds, and this provider's is in seconds: another product of it, or something in front made its own", unit("ms")},
		{"the timestamp is in seconds, and this provider's is in milliseconds", unit("s")},
		{"the secret has white space around it: take it without", func(_ *verify.Rule, d *Delivery) {
			d.Secrets = each(d.Secrets, strings.TrimSpace)
		}},
		{"the signature was made with the secret as text: it is not to be decoded", keyForm("raw")},
		{"the signature was made with the secret decoded from base64", keyForm("whsec")},
		{"the signature was made with the secret decoded from hexadecimal", keyForm("hex")},
	}
	list = append(list, urlVariants(d.Request.URL)...)
	if len(d.Request.Body) <= maxTried {
		list = append(list, bodyVariants(d.Request.Body)...)
	}
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodGet} {
		list = append(list, variant{"the signature is for the method " + method, func(_ *verify.Rule, d *Delivery) { d.Request.Method = method }})
	}
	return list
}

func unit(name string) func(*verify.Rule, *Delivery) {
	return func(rule *verify.Rule, _ *Delivery) {
		if rule.TS != nil {
			ts := *rule.TS
			ts.Unit = name
			rule.TS = &ts
		}
	}
}

func keyForm(form string) func(*verify.Rule, *Delivery) {
	return func(rule *verify.Rule, _ *Delivery) {
		if rule.Kind == verify.KindHMAC {
			rule.Key = form
		}
	}
}

func each(list []string, change func(string) string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = change(s)
	}
	return out
}

// urlVariants are other spellings of the address, for schemes that sign it.
func urlVariants(address string) []variant {
	bare, query, _ := strings.Cut(address, "?")
	spellings := map[string]string{}
	if rest, ok := strings.CutPrefix(address, "https://"); ok {
		spellings["http://"+rest] = "with http:// instead of https://"
	}
	if rest, ok := strings.CutPrefix(address, "http://"); ok {
		spellings["https://"+rest] = "with https:// instead of http://"
	}
	spellings[bare] = "without its query"
	other := strings.TrimSuffix(bare, "/")
	if other == bare {
		other += "/"
	}
	if query != "" {
		other += "?" + query
	}
	spellings[other] = "with or without the slash at its end"
	var list []variant
	for spelled, what := range spellings {
		list = append(list, variant{"the signature is for the address " + what + ": give it as the provider calls it (public_url)",
			func(_ *verify.Rule, d *Delivery) { d.Request.URL = spelled }})
	}
	return list
}

// apiKeys are how providers' API keys begin, which people paste for secrets.
var apiKeys = regexp.MustCompile(`^((sk|rk|pk)_(live|test)_|shp(at|ca|pa)_|gh[pousr]_|github_pat_|glpat-|xox[abprs]-|xapp-|SG\.|key-[0-9a-f]{32}$|pat-|pat[A-Za-z0-9]{14}\.|EAA[A-Za-z0-9]{20}|(AC|SK)[0-9a-f]{32}$|rzp_(test|live)_|(live|test)_[A-Za-z0-9]{30}|Bearer |sq0(atp|csp)-|lin_api_|ntn_|pdl_(live|sdbx)_apikey_)`)

func looksLikeAPIKey(secrets []string) bool {
	return slices.ContainsFunc(secrets, apiKeys.MatchString)
}

// secretHint says what is wrong with the secrets.
func secretHint(rules []verify.Rule, d Delivery) string {
	if looksLikeAPIKey(d.Secrets) {
		return "this looks like an API key, not a webhook secret"
	}
	_, err := verify.New(verify.Config{Rules: rules, Secrets: d.Secrets, Params: d.Params, Schemes: special.Schemes()})
	var secret *verify.SecretError
	if errors.As(err, &secret) {
		return secret.Error()
	}
	if len(rules) == 1 && rules[0].Kind == special.NothingSigned {
		return "this provider signs nothing: anybody could have sent it, so fetch the object it names"
	}
	return "there is nothing to verify with"
}

// missingHint says what should have come, and whose signature came instead.
func missingHint(catalog *provider.Catalog, rules []verify.Rule, d Delivery) string {
	var wanted []string
	for _, rule := range rules {
		wanted = append(wanted, strings.ReplaceAll(strings.Join(rule.Sig.Headers, " or "), "{n}", "1"))
	}
	text := "no signature came"
	if wanted = slices.DeleteFunc(wanted, func(s string) bool { return s == "" }); len(wanted) > 0 {
		text = "no signature came: it stands in the header " + strings.Join(wanted, " or ")
	}
	for _, name := range catalog.Names() {
		preset, err := catalog.Preset(name)
		if err != nil || name == d.Provider || name == "generic" {
			continue
		}
		for _, rule := range preset.Rules {
			if slices.ContainsFunc(rule.Sig.Headers, func(h string) bool {
				return !strings.EqualFold(h, "Authorization") && d.Request.Header.Get(h) != ""
			}) {
				return text + "; what came looks like a delivery of " + name
			}
		}
	}
	return text
}

// ageHint says how old a rightly signed delivery may be.
func ageHint(rules []verify.Rule, r verify.Result) string {
	if r.Reason == verify.TooNew {
		return "rightly signed, but from the future: is the clock of this machine right?"
	}
	window := "allowed"
	for _, rule := range rules {
		if rule.Name == r.Rule && rule.TS != nil {
			window = rule.TS.Window().String()
		}
	}
	return "rightly signed, but longer ago than " + window + ": judge a stored delivery at its own time with --now"
}
