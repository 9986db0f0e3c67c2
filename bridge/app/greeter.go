package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"sfbridge/bridge/provider"
	"sfbridge/bridge/receive"
	"sfbridge/bridge/store"
	"sfbridge/mapping/path"
)

// greeter carries out the handshakes of one source.
type greeter struct {
	source  *Source
	secrets []string
	params  map[string]string
	brought *keptVerifier // set when the secret comes in a handshake
	kept    *store.Secrets
	caller  caller
	log     *slog.Logger
	now     func() time.Time
}

// caller calls addresses that a provider asks to be called.
type caller interface {
	Call(ctx context.Context, address string) error
}

// handshake answers the requests of the provider that carry no event. What the
// provider is told has been done before: a secret is durable, a subscription is
// confirmed.
func (g *greeter) handshake(ctx context.Context, a receive.Ask) (receive.Handshaken, bool, error) {
	ask := provider.Ask{
		Method: a.Method, Query: a.Query, Header: a.Header, Value: a.Value, Body: a.Body,
		Signed: a.Signed, Params: g.params, NoneYet: g.brought != nil && g.brought.current() == nil,
	}
	if ask.Value == nil && len(a.Body) > 0 {
		ask.Value, _ = path.DecodeJSON(a.Body)
	}
	if at := max(a.Secret, 0); at < len(g.secrets) {
		ask.Secret = g.secrets[at]
	}
	reply, found := g.source.Preset.Handshake(ask)
	if !found {
		return receive.Handshaken{}, false, nil
	}
	if err := g.act(ctx, reply); err != nil {
		return receive.Handshaken{}, true, err
	}
	done := receive.Handshaken{Refused: reply.Refused}
	if reply.Answer != nil {
		done.Answer = answer(reply.Answer)
	}
	return done, true, nil
}

// act does what a handshake asks for.
func (g *greeter) act(ctx context.Context, r provider.Reply) error {
	name := g.source.Mapping.Source
	if r.Keep != "" {
		if err := g.kept.Keep(name, r.Keep, g.now()); err != nil {
			return fmt.Errorf("keeping the secret of the handshake: %w", err)
		}
		if g.brought.use(r.Keep) == nil {
			return errors.New("the secret of the handshake can't be used")
		}
		g.log.Warn("the provider sent its secret, which is kept from now on; bridge sources shows it once", "source", name, "handshake", r.Name)
	}
	if r.Confirm == "" {
		return nil
	}
	if err := g.caller.Call(ctx, r.Confirm); err != nil {
		return fmt.Errorf("confirming the subscription: %w", err)
	}
	g.log.Info("subscription confirmed", "source", name)
	return nil
}
