package app

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/time/rate"

	"sfbridge/bridge/event"
	"sfbridge/bridge/identify"
	"sfbridge/bridge/provider"
	"sfbridge/bridge/receive"
	"sfbridge/bridge/verify"
	"sfbridge/config"
	"sfbridge/mapping"
)

// Source is one mapping file joined with its provider's preset.
type Source struct {
	Mapping    *mapping.File
	Preset     *provider.Preset
	Rules      []verify.Rule // the preset's, with the mapping's changes
	Identifier *identify.Identifier
}

// sources is every configured source. It is not changed after it was made; a
// reload makes another.
type sources struct {
	byName   map[string]*Source
	receiver map[string]*receive.Source
	outgoing *outgoing
}

// remember takes over from the sources before a reload what they have seen.
func (s *sources) remember(before *sources) {
	for name, r := range s.receiver {
		old, same := before.byName[name]
		if same && r.Once != nil && old.Preset.Name == s.byName[name].Preset.Name {
			r.Once = before.receiver[name].Once
		}
	}
}

// LoadSource joins a mapping with its preset. It needs no secret and not even
// the names of any: a mapping can be tried out before it can receive.
func LoadSource(file *mapping.File, catalog *provider.Catalog) (*Source, error) {
	preset, err := catalog.Preset(file.Provider)
	if err != nil {
		return nil, atEach(file, "provider", err)
	}
	id, err := identify.New(identify.Config{
		Source: file.Source, Identity: preset.Identity.With(override(file.Event)),
		Content: preset.Content, Context: file.ContextPaths(),
	})
	if err != nil {
		return nil, atEach(file, "event", err)
	}
	rules, err := preset.RulesWith(ruleOverride(file.Verify))
	if err == nil {
		err = provider.CheckStored(rules, file.ContextPaths())
	}
	if err != nil {
		return nil, atEach(file, "verify", err)
	}
	return &Source{Mapping: file, Preset: preset, Rules: rules, Identifier: id}, nil
}

// check finds what keeps the source from receiving: params and secrets that are
// missing or of no use, and what its preset can't do.
func (s *Source) check() error {
	file, preset := s.Mapping, s.Preset
	var problems []error
	say := func(part, what, do string) { problems = append(problems, at(file, part, what, do)) }
	for _, p := range preset.CheckParams(file.Params, len(file.Secrets) > 0) {
		part := "params." + p.Name
		if p.Missing {
			say("params", part+" "+p.What, p.Do)
			continue
		}
		say(part, p.What, p.Do)
	}
	switch unsigned := s.AcceptsUnsigned(); {
	case unsigned && len(file.Secrets) > 0:
		say("secrets", "nothing of this source is signed, so they would check nothing", "leave them out")
	case len(file.Secrets) == 0 && !unsigned && (preset.Name == "plaid" || !preset.Fetches && !preset.Keeps()):
		say("", "secrets is missing", "give the "+preset.Secrets)
	}
	for _, r := range file.Reconciles() {
		if r.Order == nil && s.Identifier.Versioned() {
			say("reconcile", "the comparison of "+r.Type+" has no order, and events of the source are ordered by a version",
				`write order: {from: "@.PATH", as: integer}, where the listed object holds it`)
		}
	}
	if file.Processor == mapping.ProcessorOrg && !s.json() {
		say("processor", "the Apex package reads JSON, and "+preset.Title+" sends something else", "write processor: bridge")
	}
	return errors.Join(problems...)
}

// at is a problem at a part of a mapping file.
func at(file *mapping.File, part, what, do string) error {
	p := file.Place(part)
	p.What, p.Do = what, do
	return &mapping.Problems{List: []mapping.Problem{p}}
}

// atEach is what stands in an error, one by one, at a part of a mapping file.
func atEach(file *mapping.File, part string, err error) error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return at(file, part, err.Error(), "")
	}
	var problems []error
	for _, one := range joined.Unwrap() {
		problems = append(problems, at(file, part, one.Error(), ""))
	}
	return errors.Join(problems...)
}

// json says whether what is stored of the source is always JSON.
func (s *Source) json() bool {
	c := s.Preset.Content
	return !c.Form && !c.XML && !c.Base64
}

// AcceptsUnsigned says whether deliveries are taken from anybody.
func (s *Source) AcceptsUnsigned() bool {
	return s.Preset.Unsigned() || fmt.Sprint(s.Mapping.Params[provider.AcceptUnsigned]) == "true"
}

// Trust is what the least of the source's deliveries has proved.
func (s *Source) Trust() verify.Trust {
	if s.AcceptsUnsigned() {
		return verify.Unsigned
	}
	return provider.LeastTrust(s.Rules)
}

// override is what a mapping says about identity.
func override(e mapping.Event) identify.Override {
	o := identify.Override{ID: e.ID, Type: e.Type, Object: e.Object, Volatile: e.Volatile, Split: e.Split}
	if e.Order != nil {
		o.Order = &identify.Order{Paths: e.Order.Paths, As: identify.Unit(e.Order.As)}
	}
	return o
}

// LoadSources reads every mapping file of the settings, for a service that
// receives, and reports every problem at once.
func LoadSources(files []string, catalog *provider.Catalog) ([]*Source, error) {
	var list []*Source
	var problems []error
	seen := map[string]string{}
	for _, name := range files {
		file, err := mapping.Load(name)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		if other, taken := seen[file.Source]; taken {
			problems = append(problems, at(file, "source", fmt.Sprintf("%q is already defined by %s", file.Source, other), "keep one file a source"))
			continue
		}
		seen[file.Source] = name
		s, err := LoadSource(file, catalog)
		if err == nil {
			err = s.check()
		}
		if err != nil {
			problems = append(problems, err)
			continue
		}
		list = append(list, s)
	}
	return list, errors.Join(problems...)
}

func ruleOverride(v mapping.Verify) provider.RuleOverride {
	return provider.RuleOverride{
		Headers: v.Headers, Prefix: v.Prefix, Hash: v.Hash, Encoding: v.Encoding, Signed: v.Signed,
		TimestampHeader: v.TimestampHeader, TimestampUnit: v.TimestampUnit, Tolerance: v.Tolerance,
	}
}

// Input is an identified event as the mapping sees it.
func Input(found identify.Identified) mapping.Input {
	return mapping.Input{EventID: found.Event.ID, Type: found.Event.Type, Order: found.Event.Order, Scope: found.Scope}
}

// judge is what the mapping says of an event at receipt.
func judge(file *mapping.File) func(identify.Identified) receive.Verdict {
	return func(found identify.Identified) receive.Verdict {
		route, ok := file.Route(Input(found))
		switch {
		case !ok:
			return receive.Verdict{Ignore: file.Unmatched == mapping.UnmatchedIgnore}
		case route.Ignore:
			return receive.Verdict{Ignore: true}
		}
		if faults := route.CheckSchema(found.Value); len(faults) > 0 {
			return receive.Verdict{Review: &identify.Review{
				Code: event.CodeSchema, Reason: "the payload fails the schema of route " + route.Name + ": " + strings.Join(faults, "; "),
			}}
		}
		return receive.Verdict{}
	}
}

// receiver compiles the source for the receiver.
func (s *Source) receiver(cfg config.Receiver, v receive.Verifier, h *greeter) *receive.Source {
	file := s.Mapping
	r := &receive.Source{
		Name: file.Source, Verifier: v, Identifier: s.Identifier, Judge: judge(file),
		Processor: event.ProcessorKind(file.Processor), RejectConflict: file.OnConflict == mapping.ConflictReject,
		SignsWire: s.Preset.Signs == provider.Wire, MaxBody: cfg.MaxBody, Encodings: file.Limits.Encodings,
		Deadline: s.Preset.Deadline,
	}
	if file.Limits.MaxBody > 0 {
		r.MaxBody = file.Limits.MaxBody
	}
	if limit := firstPositive(file.Limits.Rate, cfg.Rate); limit > 0 {
		r.Limiter = rate.NewLimiter(rate.Limit(limit), max(1, int(limit)))
	}
	if a := s.Preset.Answer; a != nil {
		r.Success, r.BareRefusals = answer(a), a.BareRefusals
	}
	if len(s.Preset.Handshakes) > 0 {
		r.Methods, r.Handshake = s.Preset.Methods(), h.handshake
	}
	if s.Preset.Once != nil {
		r.Once = receive.NewOnce(*s.Preset.Once, s.tolerance())
	}
	return r
}

// tolerance is the widest window of the source's rules.
func (s *Source) tolerance() time.Duration {
	var widest time.Duration
	for _, rule := range s.Rules {
		if rule.TS != nil {
			widest = max(widest, rule.TS.Window())
		}
	}
	return widest
}

func answer(a *provider.Answer) *receive.Answer {
	return &receive.Answer{
		Status: a.Status, ContentType: a.ContentType, Body: []byte(a.Body), Headers: a.Headers, Empty: a.Empty,
	}
}

func firstPositive(values ...float64) float64 {
	for _, v := range values {
		if v > 0 {
			return v
		}
	}
	return 0
}

// Mapping gives the mapping of a source, for the applier.
func (s *sources) Mapping(source string) (*mapping.File, bool) {
	if found, ok := s.byName[source]; ok {
		return found.Mapping, true
	}
	return nil, false
}
