package app

import (
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"

	"golang.org/x/time/rate"

	"sfbridge/bridge/event"
	"sfbridge/bridge/identify"
	"sfbridge/bridge/provider"
	"sfbridge/bridge/receive"
	"sfbridge/bridge/verify"
	"sfbridge/bridge/verify/special"
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
}

// LoadSource joins a mapping with its preset. It needs no secret.
func LoadSource(file *mapping.File, catalog *provider.Catalog) (*Source, error) {
	preset, err := catalog.Preset(file.Provider)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file.Name, err)
	}
	id, err := identify.New(identify.Config{
		Source: file.Source, Identity: preset.Identity.With(override(file.Event)),
		Content: preset.Content, Context: file.ContextPaths(),
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file.Name, err)
	}
	rules, err := preset.RulesWith(ruleOverride(file.Verify))
	if err == nil {
		err = provider.CheckStored(rules, file.ContextPaths())
	}
	if err != nil {
		return nil, fmt.Errorf("%s: verify: %w", file.Name, err)
	}
	return &Source{Mapping: file, Preset: preset, Rules: rules, Identifier: id}, nil
}

// override is what a mapping says about identity.
func override(e mapping.Event) identify.Override {
	o := identify.Override{ID: e.ID, Type: e.Type, Object: e.Object, Volatile: e.Volatile, Split: e.Split}
	if e.Order != nil {
		o.Order = &identify.Order{Paths: e.Order.Paths, As: identify.Unit(e.Order.As)}
	}
	return o
}

// LoadSources reads every mapping file of the settings and reports every
// problem at once.
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
			problems = append(problems, fmt.Errorf("%s: source %q is already defined by %s: one file a source", name, file.Source, other))
			continue
		}
		seen[file.Source] = name
		s, err := LoadSource(file, catalog)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		list = append(list, s)
	}
	return list, errors.Join(problems...)
}

// Verifier compiles the signature rules of the source with its secrets filled
// in.
func (s *Source) Verifier(env config.Env) (*verify.Verifier, error) {
	dir := filepath.Dir(s.Mapping.Name)
	secrets := make([]string, len(s.Mapping.Secrets))
	for i, reference := range s.Mapping.Secrets {
		secret, err := env.Expand(reference, dir)
		if err != nil {
			return nil, fmt.Errorf("%s: secrets[%d]: %w", s.Mapping.Name, i, err)
		}
		secrets[i] = secret
	}
	params := make(map[string]string, len(s.Mapping.Params))
	for name, value := range s.Mapping.Params {
		param, err := env.Expand(fmt.Sprint(value), dir)
		if err != nil {
			return nil, fmt.Errorf("%s: params.%s: %w", s.Mapping.Name, name, err)
		}
		params[name] = param
	}
	v, err := verify.New(verify.Config{Rules: s.Rules, Secrets: secrets, Params: params, Schemes: special.Schemes()})
	if err != nil {
		return nil, fmt.Errorf("%s: secrets: %w", s.Mapping.Name, err)
	}
	return v, nil
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
func (s *Source) receiver(cfg config.Receiver, v receive.Verifier) *receive.Source {
	file := s.Mapping
	r := &receive.Source{
		Name: file.Source, Verifier: v, Identifier: s.Identifier, Judge: judge(file),
		Processor: event.ProcessorKind(file.Processor), RejectConflict: file.OnConflict == mapping.ConflictReject,
		SignsWire: s.Preset.Signs == provider.Wire, MaxBody: cfg.MaxBody, Encodings: file.Limits.Encodings,
	}
	if file.Limits.MaxBody > 0 {
		r.MaxBody = file.Limits.MaxBody
	}
	if limit := firstPositive(file.Limits.Rate, cfg.Rate); limit > 0 {
		r.Limiter = rate.NewLimiter(rate.Limit(limit), max(1, int(limit)))
	}
	if a := s.Preset.Answer; a != nil {
		r.Success = answer(a)
	}
	if len(s.Preset.Handshakes) > 0 {
		r.Handshake = s.handshake
	}
	return r
}

// handshake asks the preset about a rightly signed request.
func (s *Source) handshake(h http.Header, value any) (*receive.Answer, bool) {
	_, a, found := s.Preset.Handshake(provider.Ask{Method: http.MethodPost, Header: h, Value: value, Signed: true})
	if a == nil {
		return nil, found
	}
	return answer(a), found
}

func answer(a *provider.Answer) *receive.Answer {
	return &receive.Answer{Status: a.Status, ContentType: a.ContentType, Body: []byte(a.Body)}
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
