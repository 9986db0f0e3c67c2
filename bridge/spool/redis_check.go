package spool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// NotDurable says why a Redis would lose events that were accepted.
type NotDurable struct{ Problems []string }

func (e *NotDurable) Error() string {
	return "the Redis of store.redis would lose accepted events: " + strings.Join(e.Problems, "; ")
}

// wanted are the settings a server must have. appendfsync is of no matter where
// every write waits for the disks.
var wanted = []struct {
	name, value, why string
	alone            bool // only for a server without replicas
}{
	{"appendonly", "yes", "nothing survives a restart", false},
	{"appendfsync", "always", "the last second is lost in a crash", true},
	{"maxmemory-policy", "noeviction", "events are dropped when memory is full", false},
}

// Check looks whether the servers keep what they are given. The error is a
// *NotDurable when they don't.
func (r *Redis) Check(ctx context.Context) error {
	n := &NotDurable{}
	var mu sync.Mutex // servers of a cluster are asked at once
	err := r.cfg.Store.Masters(ctx, func(ctx context.Context, c redis.UniversalClient) error {
		found, err := r.inspect(ctx, c)
		mu.Lock()
		defer mu.Unlock()
		for _, p := range found {
			if !slices.Contains(n.Problems, p) {
				n.Problems = append(n.Problems, p)
			}
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("looking at the settings of Redis: %w", err)
	}
	if len(n.Problems) > 0 {
		return n
	}
	return nil
}

// inspect gives what is wrong with one server.
func (r *Redis) inspect(ctx context.Context, c redis.UniversalClient) (problems []string, err error) {
	replicated := r.cfg.Store.Replicated
	for _, w := range wanted {
		if w.alone && replicated {
			continue
		}
		value, err := c.ConfigGet(ctx, w.name).Result()
		switch {
		case refused(err) && r.cfg.Durable:
		case refused(err):
			return []string{"its settings can't be read: write store.durable: true if you know that it has appendonly yes, " +
				"appendfsync always and maxmemory-policy noeviction"}, nil
		case err != nil:
			return nil, err
		case value[w.name] != w.value:
			problems = append(problems, fmt.Sprintf("%s is %q, so that %s: set it to %s", w.name, value[w.name], w.why, w.value))
		}
	}
	if !replicated {
		return problems, nil
	}
	err = c.Do(ctx, "WAITAOF", 0, 0, 1).Err()
	if refused(err) {
		return append(problems, "a failover may lose events, because the server has no WAITAOF: use Redis 7.2 or later"), nil
	}
	return problems, err
}

// refused tells an answer of the server from a failure to reach it.
func refused(err error) bool {
	var answer redis.Error
	if !errors.As(err, &answer) || errors.Is(err, redis.Nil) {
		return false
	}
	for _, word := range []string{"LOADING", "READONLY", "CLUSTERDOWN", "MASTERDOWN", "TRYAGAIN", "MOVED", "ASK", "NOAUTH", "WRONGPASS"} {
		if strings.HasPrefix(answer.Error(), word) {
			return false
		}
	}
	return true
}

// How long a look at the servers' settings is good for, and how long it may take.
const (
	proofFor   = time.Minute
	failureFor = time.Second // a server that could not be reached, or is not durable
	checkLimit = 2 * time.Second
)

// proof is what the last look at the servers has found.
type proof struct {
	sync.Mutex
	at  time.Time
	err error
}

// proven says whether the servers were found durable of late, and looks again
// when that is too long ago. One looks, the others wait for it.
func (r *Redis) proven(ctx context.Context) error {
	if r.closed.Load() {
		return ErrClosed
	}
	r.proof.Lock()
	defer r.proof.Unlock()
	limit := proofFor
	if r.proof.err != nil {
		limit = failureFor
	}
	if now := r.cfg.Now(); r.proof.at.IsZero() || now.Sub(r.proof.at) >= limit {
		within, cancel := context.WithTimeout(context.WithoutCancel(ctx), checkLimit)
		defer cancel()
		r.proof.err = r.Check(within)
		r.proof.at = r.cfg.Now()
	}
	return r.proof.err
}
