package bench

import (
	"context"

	"sfbridge/bridge/bench/bare"
)

// Names under which the bare server gets what it needs.
const (
	EnvSecret = "STRIPE_SECRET"
	EnvRedis  = "BENCH_REDIS"
)

// BareCommand runs the bare server as a process of its own, by the hidden
// command "bench bare" of the product's executable.
func BareCommand(executable string) Launch {
	return func(ctx context.Context, p Program) (Process, error) {
		c, err := begin(ctx, executable, []string{"bench", "bare"}, p.Env)
		if err != nil {
			return nil, err
		}
		return c, c.listen(ctx)
	}
}

// BareInside runs the bare server in this process.
func BareInside(ctx context.Context, p Program) (Process, error) {
	s, err := bare.Start(ctx, bare.Config{Secret: p.Env[EnvSecret], Redis: p.Env[EnvRedis]})
	if err != nil {
		return nil, err
	}
	return bareInside{s}, nil
}

type bareInside struct{ *bare.Server }

func (bareInside) Usage(context.Context) (Usage, error) { return Usage{}, nil }
func (b bareInside) Stop() error                        { return b.Close() }

// measureBare measures the bare server on the same machine, with the same
// senders and the same Redis.
func (w *world) measureBare(ctx context.Context, redis string) (*Row, error) {
	p, err := w.cfg.Bare(ctx, Program{Env: map[string]string{EnvSecret: secret, EnvRedis: redis}})
	if err != nil {
		return nil, err
	}
	f := fleet{p}
	got, err := w.receive(ctx, "bare Gin + HMAC + one Redis write", f)
	if stopErr := f.stop(); err == nil {
		err = stopErr
	}
	return &got, err
}
