package verify

import (
	"crypto/ecdsa"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"hash"
	"io"
	"slices"
	"time"
)

// Config says what a source accepts.
type Config struct {
	Rules   []Rule            // alternatives: the first one whose signature a delivery carries decides
	Secrets []string          // all are accepted, so that a secret can be changed without a gap
	Params  map[string]string // what special schemes need besides, such as webhook_id
	Schemes Schemes           // special schemes; nil: the rules use none
}

// Verifier checks the deliveries of one source. It is safe for concurrent use.
type Verifier struct{ checks []*check }

// check is one compiled rule with the keys that fit it.
type check struct {
	rule       Rule
	trust      Trust
	scheme     Scheme
	params     map[string]string
	keys       []key
	parts      []part
	sigHeaders []string
	hash       func() hash.Hash
	decode     func([]byte, string) (int, error)
	match      func(v *check, r *request) (Reason, int)
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
		return nil, &SecretError{Position: -1}
	}
	for i, secret := range cfg.Secrets {
		if err := v.addSecret(i, secret); err != nil {
			return nil, err
		}
	}
	return v, nil
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
var matchers = map[string]func(v *check, r *request) (Reason, int){
	KindHMAC:   (*check).matchSigned,
	KindDigest: (*check).matchSigned,
	KindECDSA:  (*check).matchSigned,
	KindToken:  (*check).matchToken,
	KindBasic:  (*check).matchBasic,
}

func compile(rule Rule, cfg Config) (*check, error) {
	if err := rule.validate(); err != nil {
		return nil, err
	}
	c := &check{
		rule: rule, trust: rule.Trust(cfg.Schemes), params: cfg.Params, sigHeaders: expandNumbered(rule.Sig),
		hash: hashes[rule.Hash], decode: decoders[rule.Enc], match: matchers[rule.Kind],
	}
	if rule.Kind == KindECDSA {
		c.hash, c.decode = sha256.New, decoders["base64"]
	}
	if rule.Signed != "" {
		c.parts, _ = parseTemplate(rule.Signed) // validate has read it
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
	for name, want := range c.rule.Require {
		value, reason := Required(r.Header, name)
		if reason == OK && value != want {
			reason = MalformedHeader
		}
		if reason != OK {
			result.Reason = reason
			return result
		}
	}
	result.Reason, result.Secret = c.match(c, r)
	result.Valid = result.Reason == OK
	return result
}

// matchSigned is the whole way of hmac, digest and ECDSA rules: read the
// signed time, compare every signature with every key, then judge the age.
func (c *check) matchSigned(r *request) (Reason, int) {
	signed, reason := c.gather(r)
	if reason != OK {
		return reason, -1
	}
	position, decoded := -1, false
	expected := c.expected(signed)
	reason = c.signatures(r, func(element string) bool {
		var room [maxSignature]byte
		n, err := c.decode(room[:], element)
		if err != nil {
			return true
		}
		for _, e := range expected {
			if e.wellFormed(n) {
				decoded = true
			}
			if position < 0 && e.equals(room[:n]) {
				position = e.position
			}
		}
		return true
	})
	switch {
	case reason != OK:
		return reason, -1
	case !decoded:
		return MalformedHeader, -1
	case position < 0:
		return BadSignature, -1
	}
	return c.age(r, signed), position
}

// signedText is what goes into the hash, in order; urls holds the spellings of
// {url} to try.
type signedText struct {
	pieces [][]byte // one per template part; nil for {url} and {secret}
	urls   []string
	ts     string
	hasTS  bool
}

// gather collects the pieces of the signed bytes. Signatures are looked for
// first, so that an unsigned delivery is told from one with a bad time.
func (c *check) gather(r *request) (*signedText, Reason) {
	if reason := c.signatures(r, func(string) bool { return false }); reason != OK {
		return nil, reason
	}
	s := &signedText{pieces: make([][]byte, len(c.parts)), urls: []string{""}}
	for i, p := range c.parts {
		reason := OK
		var text string
		switch p.kind {
		case partLiteral:
			text = p.text
		case partBody:
			s.pieces[i] = r.Body
			continue
		case partMethod:
			text = r.Method
		case partURL:
			s.urls = c.rule.URLs(r.URL)
			continue
		case partSecret:
			continue
		case partHeader:
			text, reason = Required(r.Header, p.text)
		case partJSON:
			text, reason = r.member(p.text)
		case partTS:
			text, reason = c.signedTime(r)
			s.ts, s.hasTS = text, true
		}
		if reason != OK {
			return nil, reason
		}
		s.pieces[i] = []byte(text)
	}
	return s, OK
}

// signedTime reads the timestamp's text and refuses what is no time.
func (c *check) signedTime(r *request) (string, Reason) {
	text, reason := c.timestampText(r)
	if reason != OK {
		return "", reason
	}
	if _, ok := tsUnits[c.rule.TS.Unit](text); !ok {
		return "", MalformedTimestamp
	}
	return text, OK
}

// age judges the time of a delivery whose signature is right.
func (c *check) age(r *request, s *signedText) Reason {
	if c.rule.TS == nil {
		return OK
	}
	if !s.hasTS { // it stands in the signed body, which may be read only now
		text, reason := c.signedTime(r)
		if reason != OK {
			return reason
		}
		s.ts = text
	}
	at, _ := tsUnits[c.rule.TS.Unit](s.ts)
	return Age(at, r.Now, c.rule.TS.Window())
}

// expectation is one signature that would be right.
type expectation struct {
	position int
	digest   []byte
	public   *ecdsa.PublicKey // nil: the digest itself is the signature
}

func (e expectation) wellFormed(n int) bool { return e.public != nil || n == len(e.digest) }

func (e expectation) equals(signature []byte) bool {
	if e.public != nil {
		return ecdsa.VerifyASN1(e.public, e.digest, signature)
	}
	return hmac.Equal(e.digest, signature)
}

func (c *check) expected(s *signedText) []expectation {
	list := make([]expectation, 0, len(c.keys)*len(s.urls))
	for _, k := range c.keys {
		for _, url := range s.urls {
			list = append(list, expectation{k.position, c.digest(k, s, url), k.public})
		}
	}
	return list
}

func (c *check) digest(k key, s *signedText, url string) []byte {
	var h hash.Hash
	if c.rule.Kind == KindHMAC {
		h = hmac.New(c.hash, k.bytes)
	} else {
		h = c.hash()
	}
	for i, p := range c.parts {
		switch p.kind {
		case partURL:
			_, _ = io.WriteString(h, url)
		case partSecret:
			_, _ = io.WriteString(h, k.secret)
		default:
			_, _ = h.Write(s.pieces[i])
		}
	}
	return h.Sum(nil)
}

// matchSpecial hands the delivery to a Scheme, with each key in turn.
func (c *check) matchSpecial(r *request) (Reason, int) {
	worst := NoSecret
	for i, k := range c.keys {
		reason := c.scheme.Check(Input{Rule: c.rule, Key: k.special, Params: c.params, Request: r.Request})
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
