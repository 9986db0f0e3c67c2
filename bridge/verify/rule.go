package verify

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Kinds that the engine itself understands; any other kind names a Scheme.
const (
	KindHMAC   = "hmac"                  // keyed hash over Signed
	KindDigest = "digest"                // plain hash over Signed, which holds {secret}
	KindECDSA  = "ecdsa-p256-sha256-der" // public key, SHA-256 over Signed
	KindToken  = "token"                 // a header equal to the secret
	KindBasic  = "basic"                 // HTTP Basic credentials equal to the secret
)

// Rule is one row of the table: how a sender signs its deliveries.
type Rule struct {
	Name string `json:"-"` // the row's name

	Kind   string     `json:"kind"`
	Hash   string     `json:"hash,omitempty"`   // sha1, sha256, sha512
	Enc    string     `json:"enc,omitempty"`    // hex, base64: how a received digest is written
	Key    string     `json:"key,omitempty"`    // raw, hex, whsec, spki-base64: how the secret's text becomes a key
	Sig    Signature  `json:"sig,omitzero"`     // where signatures stand
	Signed string     `json:"signed,omitempty"` // template of the signed bytes, see Placeholders
	TS     *Timestamp `json:"ts,omitempty"`     // nil: nothing limits the age

	Require  map[string]string `json:"require,omitempty"`   // headers that must have exactly this value
	URLForms []string          `json:"url_forms,omitempty"` // spellings of the URL that are tried; none: as it is

	MaxAgeSeconds *int `json:"max_age_s,omitempty"` // window of schemes that carry their own time; nil: none
}

// Signature says where the signatures of a delivery stand.
type Signature struct {
	Headers []string `json:"headers,omitempty"` // the first ones present are used; {n} counts 1 to 100 when Numbered
	JSON    string   `json:"json,omitempty"`    // or a member of the body, as "a.b"
	Prefix  string   `json:"prefix,omitempty"`  // what each element begins with; others are passed over
	// PublicPrefix begins the elements that are Ed25519 signatures, for secrets
	// that are public keys ("whpk_…").
	PublicPrefix string `json:"public_prefix,omitempty"`

	Split    string `json:"split,omitempty"`    // what separates the elements of one value
	Skip     int    `json:"skip,omitempty"`     // leading elements that are no signatures
	Numbered bool   `json:"numbered,omitempty"` // one header per key
	Multi    bool   `json:"multi,omitempty"`    // the header may be repeated with different values
}

// Timestamp says where the signed time of a delivery stands and how old it may be.
type Timestamp struct {
	Header    string `json:"header,omitempty"`
	JSON      string `json:"json,omitempty"`   // or a member of the body
	Split     string `json:"split,omitempty"`  // separator of the header's elements, with Prefix or Index
	Prefix    string `json:"prefix,omitempty"` // the element that begins so
	Index     *int   `json:"index,omitempty"`  // or the element at this place
	Unit      string `json:"unit"`             // s, ms, rfc3339
	Tolerance int    `json:"tolerance_s"`      // seconds, before and after now
}

// Window is the tolerance as a duration.
func (t *Timestamp) Window() time.Duration { return time.Duration(t.Tolerance) * time.Second }

// Trust is how much of a delivery the rule's signature covers.
type Trust string

// The values are those of Trust__c.
const (
	SignedBody          Trust = "SignedBody"
	SignedPartial       Trust = "SignedPartial"
	AuthenticatedCaller Trust = "AuthenticatedCaller"
	Unsigned            Trust = "Unsigned"
)

// Trust says what a delivery that passes the rule has proved.
func (r Rule) Trust(schemes Schemes) Trust {
	switch r.Kind {
	case KindHMAC, KindDigest, KindECDSA:
		if strings.Contains(r.Signed, "{body}") {
			return SignedBody
		}
		return SignedPartial
	case KindToken, KindBasic:
		return AuthenticatedCaller
	}
	if s, ok := schemes[r.Kind]; ok {
		return s.Trust
	}
	return Unsigned
}

// Table is the rules by name.
type Table map[string]Rule

//go:embed rules.json
var rulesJSON []byte

// LoadTable reads the table that ships with the product.
func LoadTable() (Table, error) { return ParseTable(rulesJSON) }

// ParseTable reads a table; an unknown member or a row that makes no sense is
// an error. Kinds are not looked up here: New does, against its registry.
func ParseTable(data []byte) (Table, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	var t Table
	if err := d.Decode(&t); err != nil {
		return nil, fmt.Errorf("reading the table of signature rules: %w", err)
	}
	for name, rule := range t {
		rule.Name = name
		if err := rule.Validate(); err != nil {
			return nil, err
		}
		t[name] = rule
	}
	return t, nil
}
