package verify

import (
	"crypto/sha256"
	"crypto/subtle"
	"crypto/x509"
	"hash"
	"maps"
	"slices"
	"time"
)

// Config says what a source accepts.
type Config struct {
	Rules   []Rule            // alternatives: the first one whose signature a delivery carries decides
	Secrets []string          // all are accepted, so that a secret can be changed without a gap
	Params  map[string]string // what special schemes need besides, such as webhook_id
	Schemes Schemes           // special schemes; nil: the rules use none
	Fetcher Fetcher           // for schemes whose certificate or key a delivery names; nil: secrets only
	Roots   *x509.CertPool    // of fetched certificates; nil: the system's
}

// Verifier checks the deliveries of one source. It is safe for concurrent use.
type Verifier struct{ checks []*check }

// check is one compiled rule with the keys that fit it.
type check struct {
	rule       Rule
	trust      Trust
	scheme     Scheme
	params     map[string]string
	fetcher    Fetcher
	roots      *x509.CertPool
	keys       []key
	parts      []part
	sigHeaders []string
	require    []string // names of rule.Require, sorted
	hash       func() hash.Hash
	decode     func([]byte, string) (int, error)
	match      func(c *check, r *request) (Reason, int)
}

// New compiles the rules and the secrets. A secret that fits none of the rules,
// or no secret at all, is a *SecretError, so that a service doesn't start with
// a source that can never be verified.
func New(cfg Config) (*Verifier, error) {
	v := &Verifier{}
	for _, rule := range cfg.Rules {
		c, err := compile(rule, cfg)
		if err != nil {
			return nil, err
		}
		v.checks = append(v.checks, c)
	}
	if len(v.checks) == 0 {
		return nil, &RuleError{Rule: "(none)", Problem: "no rule is named"}
	}
	if len(cfg.Secrets) == 0 {
		return v, v.withoutSecrets(cfg)
	}
	for i, secret := range cfg.Secrets {
		if err := v.addSecret(i, secret); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// withoutSecrets lets every rule pass that can fetch what it needs.
func (v *Verifier) withoutSecrets(cfg Config) error {
	fits := false
	for _, c := range v.checks {
		if c.scheme.Fetched == nil || cfg.Fetcher == nil {
			continue
		}
		made, err := c.scheme.Fetched(cfg.Params)
		if err != nil {
			return &SecretError{Position: -1, Problem: err.Error()}
		}
		c.keys, fits = []key{{position: -1, special: made}}, true
	}
	if !fits {
		return &SecretError{Position: -1}
	}
	return nil
}

// addSecret gives the secret to every rule it fits.
func (v *Verifier) addSecret(position int, secret string) error {
	var first error
	fits := false
	for _, c := range v.checks {
		k, err := c.prepare(position, secret)
		if err != nil {
			if first == nil {
				first = err
			}
			continue
		}
		fits = true
		c.keys = append(c.keys, k)
	}
	if fits {
		return nil
	}
	return first
}

// matchers are the engine's own kinds.
var matchers = map[string]func(c *check, r *request) (Reason, int){
	KindHMAC:   (*check).matchSigned,
	KindDigest: (*check).matchSigned,
	KindECDSA:  (*check).matchSigned,
	KindToken:  (*check).matchToken,
	KindBasic:  (*check).matchBasic,
}

func compile(rule Rule, cfg Config) (*check, error) {
	if err := rule.Validate(); err != nil {
		return nil, err
	}
	c := &check{
		rule: rule, trust: rule.Trust(cfg.Schemes), params: cfg.Params,
		fetcher: cfg.Fetcher, roots: cfg.Roots, sigHeaders: expandNumbered(rule.Sig),
		require: slices.Sorted(maps.Keys(rule.Require)),
		hash:    hashes[rule.Hash], decode: decoders[rule.Enc], match: matchers[rule.Kind],
	}
	if rule.Kind == KindECDSA {
		c.hash, c.decode = sha256.New, decoders["base64"]
	}
	if rule.Signed != "" {
		c.parts, _ = parseTemplate(rule.Signed) // Validate has read it
	}
	if c.match == nil {
		scheme, ok := cfg.Schemes[rule.Kind]
		if !ok {
			return nil, rule.problem("kind %q is unknown", rule.Kind)
		}
		c.scheme, c.match = scheme, (*check).matchSpecial
	}
	return c, nil
}

// request is a delivery under judgement.
type request struct{ Request }

// Verify judges one delivery. Of several rules the first one that finds its
// signature decides, so that a delivery can't choose a weaker one beside it.
func (v *Verifier) Verify(req Request) Result {
	r := &request{req}
	var missing Result
	for i, c := range v.checks {
		result := c.verify(r)
		if result.Reason != MissingHeader {
			return result
		}
		if i == 0 {
			missing = result
		}
	}
	return missing
}

func (c *check) verify(r *request) Result {
	result := Result{Rule: c.rule.Name, Secret: -1, Trust: c.trust}
	if len(c.keys) == 0 {
		// A secret that fits another rule only: as if this signature had not come.
		result.Reason = MissingHeader
		return result
	}
	for _, name := range c.require {
		value, reason := Required(r.Header, name)
		if reason == OK && value != c.rule.Require[name] {
			reason = MalformedHeader
		}
		if reason != OK {
			result.Reason = reason
			return result
		}
	}
	reason, position := c.match(c, r)
	if result.Reason, result.Valid = reason, reason == OK; result.Valid {
		result.Secret = position
	}
	return result
}

// matchSpecial hands the delivery to a Scheme, with each key in turn.
func (c *check) matchSpecial(r *request) (Reason, int) {
	worst := NoSecret
	for i, k := range c.keys {
		reason := c.scheme.Check(Input{Rule: c.rule, Key: k.special, Params: c.params, Request: r.Request, Fetcher: c.fetcher, Roots: c.roots})
		if reason == OK {
			return OK, k.position
		}
		if i == 0 {
			worst = reason
		}
	}
	return worst, -1
}

// Trust is what deliveries that pass have proved; with several rules the least.
func (v *Verifier) Trust() Trust {
	order := []Trust{Unsigned, AuthenticatedCaller, SignedPartial, SignedBody}
	least := len(order) - 1
	for _, c := range v.checks {
		least = min(least, slices.Index(order, c.trust))
	}
	return order[least]
}

// Tolerance is the widest window of the rules; zero when none limits the age.
func (v *Verifier) Tolerance() time.Duration {
	var widest time.Duration
	for _, c := range v.checks {
		if c.rule.TS != nil {
			widest = max(widest, c.rule.TS.Window())
		}
	}
	return widest
}

// sameText compares two texts in a time that tells nothing about either.
func sameText(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}
