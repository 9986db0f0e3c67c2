package spool

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// moveApart moves an entry if it is still there.
var moveApart = redis.NewScript(`
local e = redis.call('XRANGE', KEYS[1], ARGV[1], ARGV[1])
if #e == 1 then redis.call('XADD', KEYS[2], '*', 'r', ARGV[2], 'd', e[1][2][2]) end
redis.call('XACK', KEYS[1], 'bridge', ARGV[1])
return redis.call('XDEL', KEYS[1], ARGV[1])`)

// moveBack is the reverse.
var moveBack = redis.NewScript(`
local e = redis.call('XRANGE', KEYS[2], ARGV[1], ARGV[1])
if #e == 0 then return 0 end
redis.call('XADD', KEYS[1], '*', 'd', e[1][2][4])
return redis.call('XDEL', KEYS[2], ARGV[1])`)

// SetApart implements Engine.
func (r *Redis) SetApart(ctx context.Context, queue string, entries []Refused) error {
	for _, e := range entries {
		err := moveApart.Run(ctx, r.cfg.Store.Client, []string{r.waiting(queue), r.apart(queue)}, e.ID, e.Reason).Err()
		if err != nil {
			return wrap("setting an entry apart", err)
		}
	}
	return nil
}

// Again implements Engine.
func (r *Redis) Again(ctx context.Context, entries []Apart) (moved int, err error) {
	for _, e := range entries {
		if _, ok := takenIn(e.ID); !ok {
			return moved, ErrApartID
		}
		n, err := moveBack.Run(ctx, r.cfg.Store.Client, []string{r.waiting(e.Queue), r.apart(e.Queue)}, e.ID).Int()
		if err != nil {
			return moved, wrap("putting an entry back", err)
		}
		moved += n
	}
	return moved, nil
}

// apartPart is how many entries are read at once that were set apart: each may
// have some megabytes.
const apartPart = 4

// EachApart implements Engine.
func (r *Redis) EachApart(ctx context.Context, limit int, see func(Apart) error) error {
	for _, queue := range r.queues {
		for from := "-"; limit > 0; {
			found, err := r.cfg.Store.Client.XRangeN(ctx, r.apart(queue), from, "+", int64(min(limit, apartPart))).Result()
			if err != nil {
				return wrap("reading what was set apart", err)
			}
			if len(found) == 0 {
				break
			}
			for _, m := range found {
				data, _ := m.Values[dataField].(string)
				reason, _ := m.Values[reasonField].(string)
				if err := see(Apart{Queue: queue, Refused: Refused{Reason: reason, Waiting: Waiting{ID: m.ID, Data: []byte(data)}}}); err != nil {
					return err
				}
				from = "(" + m.ID
			}
			limit -= len(found)
		}
	}
	return nil
}
