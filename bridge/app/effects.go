package app

import (
	"errors"
	"fmt"
	"path/filepath"

	"sfbridge/bridge/apply/authority"
	"sfbridge/bridge/effect"
	"sfbridge/bridge/event"
	"sfbridge/config"
	"sfbridge/mapping"
)

// outgoing is what the mappings send to others, with references filled in. It
// is kept apart from the mappings, which never hold a secret.
type outgoing struct {
	targets     map[[2]string]effect.Target // source, effect
	credentials map[[2]string]string        // source, as written
}

func newOutgoing() *outgoing {
	return &outgoing{targets: map[[2]string]effect.Target{}, credentials: map[[2]string]string{}}
}

// fill reads what the roles of the process need of a source.
func (o *outgoing) fill(file *mapping.File, opts Options) error {
	var problems []error
	dir := filepath.Dir(file.Name)
	if opts.has(Effects) {
		for _, t := range file.Effects() {
			if t.Kind != mapping.EffectPost {
				continue
			}
			target, err := fillTarget(t, opts.Env, dir)
			if err != nil {
				problems = append(problems, fmt.Errorf("%s: effect %s: %w", file.Name, t.Name, err))
			}
			o.targets[[2]string{file.Source, t.Name}] = target
		}
	}
	if opts.has(Process) {
		for _, a := range file.Authorities() {
			value, err := opts.Env.Expand(a.Auth, dir)
			if err != nil {
				problems = append(problems, fmt.Errorf("%s: authority.auth: %w", file.Name, err))
			}
			o.credentials[[2]string{file.Source, a.Auth}] = value
		}
	}
	if opts.has(Reconcile) {
		for _, r := range file.Reconciles() {
			value, err := opts.Env.Expand(r.Auth, dir)
			if err != nil {
				problems = append(problems, fmt.Errorf("%s: reconcile.auth: %w", file.Name, err))
			}
			o.credentials[[2]string{file.Source, r.Auth}] = value
		}
	}
	return errors.Join(problems...)
}

func fillTarget(t mapping.EffectTarget, env config.Env, dir string) (effect.Target, error) {
	url, err := env.Expand(t.URL, dir)
	if err != nil {
		return effect.Target{}, fmt.Errorf("url: %w", err)
	}
	target := effect.Target{URL: url}
	if t.Secret == "" {
		return target, nil
	}
	secret, err := env.Expand(t.Secret, dir)
	if err == nil {
		target.Key, err = effect.SigningKey(secret)
	}
	if err != nil {
		return effect.Target{}, fmt.Errorf("secret: %w", err)
	}
	return target, nil
}

// EffectTarget says where the posts of an effect go, as the mappings stand now.
func (b *Bridge) EffectTarget(source, name string) (effect.Target, bool) {
	t, known := b.sources.Load().outgoing.targets[[2]string{source, name}]
	return t, known
}

// lookup joins the loader of objects with the identity of events.
type lookup struct {
	*authority.Loader
	b *Bridge
}

// OrderOf is the order value that an event has as its tree reads now.
func (l lookup) OrderOf(source string, in mapping.Input) *int64 {
	s, known := l.b.sources.Load().byName[source]
	if !known {
		return nil
	}
	return s.Identifier.OrderOf(in.Scope)
}

func (b *Bridge) newLookup() lookup {
	return lookup{b: b, Loader: authority.New(authority.Config{
		HTTP: b.guard,
		Credential: func(source, auth string) (string, bool) {
			value, known := b.sources.Load().outgoing.credentials[[2]string{source, auth}]
			return value, known
		},
	})}
}

func (b *Bridge) newEffects() (*effect.Worker, error) {
	p := b.cfg.Poller
	return effect.New(effect.Config{
		Org: b.org, Targets: b, HTTP: b.guard, Leases: b.leases("effects"), Metrics: b.metrics, Log: b.log,
		Owner: owner(), Interval: p.Interval, Idle: 2 * p.Idle, MaxAttempts: p.MaxAttempts,
		Backoff: event.Backoff{Base: p.Backoff.Base, Max: p.Backoff.Max}, DailyBudget: b.cfg.Salesforce.DailyBudget,
		Usage: b.usage, Looked: b.lookedAtEffects, Now: b.now,
	})
}
