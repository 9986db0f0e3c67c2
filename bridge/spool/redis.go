package spool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"sfbridge/bridge/event"
	"sfbridge/bridge/store"
)

// Names in Redis. A queue has one stream for what waits and one for what was set
// apart; both live on one server of a cluster.
const (
	waitingName = "spool"
	apartName   = "apart"
	groupName   = "bridge"
	dataField   = "d"
	reasonField = "r"
)

// Bounds that are not settings.
const (
	appendLimit  = 3 * time.Second  // for one write
	syncLimit    = 2 * time.Second  // for a replica to have a write on its disk
	redisWriters = 16               // pipelines in parallel
	claimAfter   = 25 * time.Second // shorter than a lease, longer than a batch
)

// pipeBytes bounds one pipeline. Between two writes of its log to the disk Redis
// reads 16 KiB of each connection: what goes beyond waits for the disk once more,
// while short pipelines on several connections share one wait.
const pipeBytes = 14 << 10

// RedisConfig says how to spool into Redis.
type RedisConfig struct {
	Store    *store.Redis
	Consumer string // name of this process in the consumer groups
	// Durable says that a person vouches for a server whose settings can't be
	// read.
	Durable bool
	// ClaimAfter is how long an entry may be in the hands of another process
	// before it is taken over; 25 s. Negative: at once.
	ClaimAfter time.Duration
	Now        func() time.Time // nil: time.Now
}

// Redis is the engine on Redis Streams: a stream a queue, read by one consumer
// group. Entries leave a stream when they are removed or set apart, never by a
// limit of its length.
type Redis struct {
	cfg    RedisConfig
	queues []string
	group  *group
	lost   atomic.Int64

	closed atomic.Bool
	proof  proof
}

// OpenRedis returns the engine. Nothing is sent yet; see Check.
func OpenRedis(cfg RedisConfig) *Redis {
	cfg.ClaimAfter = cmp.Or(cfg.ClaimAfter, claimAfter)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	r := &Redis{cfg: cfg}
	for n := range event.Queues {
		r.queues = append(r.queues, event.QueueName(event.ByBridge, n), event.QueueName(event.ByOrg, n))
	}
	r.group = newGroup(redisWriters, pipeBytes, r.write)
	return r
}

func (r *Redis) waiting(queue string) string { return r.cfg.Store.Key(queue, waitingName) }
func (r *Redis) apart(queue string) string   { return r.cfg.Store.Key(queue, apartName) }

// Append implements Engine.
func (r *Redis) Append(ctx context.Context, entries []Entry) error {
	if len(entries) == 0 {
		return nil
	}
	if err := r.proven(ctx); err != nil {
		return err
	}
	return wrap("spooling to Redis", r.group.append(ctx, entries))
}

// write is one pipeline of the group, or one a server in a cluster.
func (r *Redis) write(ctx context.Context, entries []Entry) error {
	ctx, cancel := context.WithTimeout(ctx, appendLimit)
	defer cancel()
	if r.cfg.Store.Cluster == nil {
		return r.pipe(ctx, r.cfg.Store.Client, entries)
	}
	err := r.writeCluster(ctx, entries)
	if err != nil && moved(err) {
		r.cfg.Store.Cluster.ReloadState(ctx)
		err = r.writeCluster(ctx, entries)
	}
	return err
}

// writeCluster sends each server its entries in a pipeline of its own, because
// the wait for the disks belongs to a connection.
func (r *Redis) writeCluster(ctx context.Context, entries []Entry) error {
	var order []*redis.Client
	parts := map[*redis.Client][]Entry{}
	for _, e := range entries {
		c, err := r.cfg.Store.Cluster.MasterForKey(ctx, r.waiting(e.Queue))
		if err != nil {
			return err
		}
		if parts[c] == nil {
			order = append(order, c)
		}
		parts[c] = append(parts[c], e)
	}
	for _, c := range order {
		if err := r.pipe(ctx, c, parts[c]); err != nil {
			return err
		}
	}
	return nil
}

func (r *Redis) pipe(ctx context.Context, c redis.UniversalClient, entries []Entry) error {
	var synced *redis.Cmd
	_, err := c.Pipelined(ctx, func(p redis.Pipeliner) error {
		for _, e := range entries {
			p.XAdd(ctx, &redis.XAddArgs{Stream: r.waiting(e.Queue), Values: []any{dataField, e.Data}})
		}
		if r.cfg.Store.Replicated {
			synced = p.Do(ctx, "WAITAOF", 1, 1, syncLimit.Milliseconds())
		}
		return nil
	})
	if err != nil || synced == nil {
		return err
	}
	counts, err := synced.Int64Slice()
	if err != nil {
		return err
	}
	if len(counts) != 2 || counts[0] < 1 || counts[1] < 1 {
		return errors.New("no replica had the entry on its disk in time")
	}
	return nil
}

// moved tells the answers of a server that a queue has left.
func moved(err error) bool {
	text := err.Error()
	return strings.HasPrefix(text, "MOVED ") || strings.HasPrefix(text, "ASK ") || strings.HasPrefix(text, "READONLY ")
}

// State implements Engine.
func (r *Redis) State(ctx context.Context) (State, error) {
	s := State{Depth: map[string]int{}, Lost: int(r.lost.Load())}
	depths, aparts := make([]*redis.IntCmd, len(r.queues)), make([]*redis.IntCmd, len(r.queues))
	firsts := make([]*redis.XMessageSliceCmd, len(r.queues))
	_, err := r.cfg.Store.Client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, queue := range r.queues {
			depths[i], aparts[i] = p.XLen(ctx, r.waiting(queue)), p.XLen(ctx, r.apart(queue))
			firsts[i] = p.XRangeN(ctx, r.waiting(queue), "-", "+", 1)
		}
		return nil
	})
	if err != nil {
		return State{}, wrap("looking at the streams", err)
	}
	for i, queue := range r.queues {
		s.Apart += int(aparts[i].Val())
		if n := int(depths[i].Val()); n > 0 {
			s.Depth[queue] = n
		}
		for _, m := range firsts[i].Val() {
			if at, ok := takenIn(m.ID); ok && (s.Oldest.IsZero() || at.Before(s.Oldest)) {
				s.Oldest = at
			}
		}
	}
	return s, nil
}

// takenIn reads the time in a stream id.
func takenIn(id string) (time.Time, bool) {
	var ms, n int64
	if _, err := fmt.Sscanf(id, "%d-%d", &ms, &n); err != nil {
		return time.Time{}, false
	}
	return time.UnixMilli(ms), true
}

// Ready implements Engine: its write expires.
func (r *Redis) Ready(ctx context.Context) error {
	if err := r.proven(ctx); err != nil {
		return err
	}
	key := r.cfg.Store.Key("ready", "probe")
	return wrap("writing to Redis", r.cfg.Store.Client.Set(ctx, key, r.cfg.Consumer, time.Minute).Err())
}

// Close implements Engine. The connections are the store's.
func (r *Redis) Close() error {
	r.closed.Store(true)
	r.group.close()
	return nil
}
