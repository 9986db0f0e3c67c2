package provider

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"sfbridge/bridge/identify"
	"sfbridge/bridge/verify"
	"sfbridge/bridge/verify/special"
	"sfbridge/mapping/path"
)

// SignedBytes says which bytes of a compressed delivery are under the
// signature.
type SignedBytes string

const (
	Wire    SignedBytes = "wire"    // as they were sent, still compressed
	Decoded SignedBytes = "content" // after the content encoding is undone
)

// Preset is what is known of one provider.
type Preset struct {
	Name    string
	Title   string   // the provider's name for people
	About   []string // what an operator should know
	Secrets string   // what the secret is, and where it is found

	Rules         []verify.Rule
	Trust         verify.Trust // what a delivery that passes the rules has proved
	Fetches       bool         // without a secret the key that signs is fetched
	MayBeUnsigned bool         // params.accept_unsigned does without a signature
	Refuse        []string     // secrets that everybody knows
	Params        map[string]Param

	Identity   identify.Identity
	Required   []string // parts of event that the mapping must give: "id", "type"
	Content    identify.Content
	Once       *path.Path // comes with one event only while its signature is fresh
	Signs      SignedBytes
	Answer     *Answer // nil: the bridge's own answers
	Handshakes []Handshake
	Deadline   time.Duration // the provider waits no longer for an answer
	Redelivery time.Duration // after that an event isn't sent again
	Send       SampleHeaders
}

// Answer is a reply in the provider's own terms.
type Answer struct {
	Status      int
	ContentType string
	Body        string
	Headers     map[string]string
	Empty       bool // no body at all; otherwise no Body means the bridge's own, of which only the status is replaced
	// BareRefusals: a bad signature is answered without a body.
	BareRefusals bool
}

// Unsigned says whether the preset's provider signs nothing at all.
func (p *Preset) Unsigned() bool {
	return len(p.Rules) == 1 && p.Rules[0].Kind == special.NothingSigned
}

// Keeps says whether the secret comes in a handshake.
func (p *Preset) Keeps() bool {
	return slices.ContainsFunc(p.Handshakes, func(h Handshake) bool { return h.Keeps != nil })
}

// RuleOverride replaces parts of a preset's signature rule; nil, "", 0 and an
// empty list mean as the preset has it.
type RuleOverride struct {
	Headers         []string
	Prefix          *string
	Hash            string
	Encoding        string
	Signed          string
	TimestampHeader *string // "" for no timestamp
	TimestampUnit   string
	Tolerance       time.Duration
}

// defaultTolerance is the window of a timestamp that a mapping adds.
const defaultTolerance = 300

// RulesWith returns the rules with parts replaced. A mapping that says where
// the signature stands or what it covers describes one scheme, so only the
// first rule of a preset with several is kept then.
func (p *Preset) RulesWith(o RuleOverride) ([]verify.Rule, error) {
	rules := slices.Clone(p.Rules)
	if len(o.Headers) > 0 || o.Signed != "" || o.TimestampHeader != nil {
		rules = rules[:1]
	}
	for i := range rules {
		rules[i] = o.apply(rules[i])
		if err := rules[i].Validate(); err != nil {
			return nil, err
		}
	}
	return rules, nil
}

func (o RuleOverride) apply(rule verify.Rule) verify.Rule {
	if len(o.Headers) > 0 {
		rule.Sig.Headers, rule.Sig.JSON, rule.Sig.Numbered = o.Headers, "", false
	}
	if o.Prefix != nil {
		rule.Sig.Prefix = *o.Prefix
	}
	setText(&rule.Hash, o.Hash)
	setText(&rule.Enc, o.Encoding)
	setText(&rule.Signed, o.Signed)
	return o.applyTime(rule)
}

func (o RuleOverride) applyTime(rule verify.Rule) verify.Rule {
	if o.TimestampHeader != nil {
		rule.TS = nil
		if *o.TimestampHeader != "" {
			rule.TS = &verify.Timestamp{Header: *o.TimestampHeader, Unit: "s", Tolerance: defaultTolerance}
		}
	}
	if rule.TS == nil {
		return rule
	}
	ts := *rule.TS
	setText(&ts.Unit, o.TimestampUnit)
	if o.Tolerance > 0 {
		ts.Tolerance = int(o.Tolerance.Seconds())
	}
	rule.TS = &ts
	return rule
}

func setText(to *string, value string) {
	if value != "" {
		*to = value
	}
}

// LeastTrust is what every delivery that passes one of the rules has proved.
func LeastTrust(rules []verify.Rule) verify.Trust {
	order := []verify.Trust{verify.Unsigned, verify.AuthenticatedCaller, verify.SignedPartial, verify.SignedBody}
	least := len(order) - 1
	for _, rule := range rules {
		least = min(least, slices.Index(order, rule.Trust(special.Schemes())))
	}
	return order[least]
}

// SecretHeaders lists the headers that carry secrets or signatures under the
// rules, numbered ones with {n}: they are never stored or logged.
func SecretHeaders(rules []verify.Rule) []string {
	var names []string
	for _, rule := range rules {
		names = append(names, rule.SecretHeaders()...)
	}
	return names
}

// CheckStored refuses paths of a mapping that would keep a header which carries
// a signature or secret under the rules.
func CheckStored(rules []verify.Rule, paths []path.Path) error {
	var problems []error
	for _, p := range paths {
		for _, name := range SecretHeaders(rules) {
			if strings.EqualFold(name, p.Header()) {
				problems = append(problems, fmt.Errorf("%s carries the signature and is never kept: use another header or a value of the payload", p))
			}
		}
	}
	return errors.Join(problems...)
}
