package app

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"sfbridge/bridge/receive"
	"sfbridge/bridge/store"
	"sfbridge/bridge/verify"
	"sfbridge/bridge/verify/special"
	"sfbridge/config"
)

// credentials are the secrets and params of a source, filled in.
type credentials struct {
	secrets []string
	params  map[string]string
}

// credentials fills the references of the mapping.
func (s *Source) credentials(env config.Env) (credentials, error) {
	dir := filepath.Dir(s.Mapping.Name)
	c := credentials{params: make(map[string]string, len(s.Mapping.Params))}
	var problems []error
	fill := func(place, text string) string {
		value, err := env.Expand(text, dir)
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %s: %w", s.Mapping.Name, place, err))
		}
		return value
	}
	for i, reference := range s.Mapping.Secrets {
		c.secrets = append(c.secrets, fill(fmt.Sprintf("secrets[%d]", i), reference))
	}
	for name, value := range s.Mapping.Params {
		list, ok := value.([]any)
		if !ok {
			list = []any{value}
		}
		var texts []string
		for _, v := range list {
			texts = append(texts, fill("params."+name, fmt.Sprint(v)))
		}
		c.params[name] = strings.Join(texts, ",")
	}
	return c, errors.Join(problems...)
}

// Keys gets what deliveries name: certificates, keys, and addresses to call.
type Keys interface {
	verify.Fetcher
	caller
}

// compiler makes the verifiers of sources.
type compiler struct {
	env       config.Env
	publicURL string
	fetcher   Keys
	kept      *store.Secrets
	log       *slog.Logger
	now       func() time.Time
}

// verifier compiles the signature rules of a source with its secrets, and says
// how its handshakes are carried out.
func (c compiler) verifier(s *Source) (receive.Verifier, *greeter, error) {
	creds, err := s.credentials(c.env)
	if err != nil {
		return nil, nil, err
	}
	for i, secret := range creds.secrets {
		if slices.Contains(s.Preset.Refuse, secret) && public(c.publicURL) {
			return nil, nil, fmt.Errorf("%s: secrets[%d] is the one that %s publishes for tests: everybody knows it", s.Mapping.Name, i, s.Preset.Title)
		}
	}
	g := &greeter{source: s, params: creds.params, secrets: creds.secrets, kept: c.kept, caller: c.fetcher, log: c.log, now: c.now}
	if s.AcceptsUnsigned() {
		return anybody{}, g, nil
	}
	build := func(secrets ...string) (*verify.Verifier, error) {
		return verify.New(verify.Config{
			Rules: s.Rules, Secrets: secrets, Params: creds.params, Schemes: special.Schemes(), Fetcher: c.fetcher,
		})
	}
	if len(creds.secrets) == 0 && s.Preset.Keeps() {
		v := &keptVerifier{source: s.Mapping.Source, kept: c.kept, build: build, now: c.now}
		g.brought = v
		return v, g, nil
	}
	v, err := build(creds.secrets...)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: secrets: %w", s.Mapping.Name, err)
	}
	return v, g, nil
}

// public says whether an address is for providers out there.
func public(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || u.Hostname() == "localhost" {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return ip == nil || !ip.IsLoopback()
}

// anybody takes deliveries that nobody has signed.
type anybody struct{}

// Verify accepts the delivery for what it is.
func (anybody) Verify(verify.Request) verify.Result {
	return verify.Result{Valid: true, Reason: verify.OK, Secret: -1, Trust: verify.Unsigned}
}

// keptVerifier verifies with a secret that a handshake brings or has brought.
type keptVerifier struct {
	source string
	kept   *store.Secrets
	build  func(secrets ...string) (*verify.Verifier, error)
	now    func() time.Time

	made atomic.Pointer[verify.Verifier]
	next atomic.Int64 // when the store is looked at again, Unix milliseconds
}

// lookEvery bounds how often a source without a secret looks for one that
// another process was brought.
const lookEvery = time.Second

// Verify accepts nothing before there is a secret.
func (k *keptVerifier) Verify(r verify.Request) verify.Result {
	if v := k.current(); v != nil {
		return v.Verify(r)
	}
	return verify.Result{Reason: verify.NoSecret, Secret: -1}
}

func (k *keptVerifier) current() *verify.Verifier {
	if v := k.made.Load(); v != nil {
		return v
	}
	now, next := k.now().UnixMilli(), k.next.Load()
	if now < next || !k.next.CompareAndSwap(next, now+lookEvery.Milliseconds()) {
		return nil
	}
	secret, found, err := k.kept.Get(k.source)
	if err != nil || !found {
		return nil
	}
	return k.use(secret.Value)
}

// use verifies with the secret from now on.
func (k *keptVerifier) use(secret string) *verify.Verifier {
	v, err := k.build(secret)
	if err != nil {
		return nil
	}
	k.made.Store(v)
	return v
}
