package spool

import (
	"context"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"
)

// Take implements Engine: first what this consumer holds already, then what
// others have held for too long, then what is new. Entries without data are
// counted as lost and acknowledged.
func (r *Redis) Take(ctx context.Context, queue string, limit int) ([]Waiting, error) {
	list, err := r.take(ctx, queue, limit)
	if err != nil && strings.HasPrefix(err.Error(), "NOGROUP") {
		if err = r.makeGroup(ctx, queue); err == nil {
			list, err = r.take(ctx, queue, limit)
		}
	}
	return list, wrap("reading a stream", err)
}

func (r *Redis) take(ctx context.Context, queue string, limit int) ([]Waiting, error) {
	list, err := r.readBounded(ctx, queue, "0", limit)
	if err != nil || len(list) > 0 {
		return list, err
	}
	held, err := r.claim(ctx, queue, limit)
	if err != nil {
		return nil, err
	}
	if held {
		return r.readBounded(ctx, queue, "0", limit)
	}
	return r.readBounded(ctx, queue, ">", limit)
}

// firstRead is how many entries are read before it is known how large they are.
const firstRead = 4

// readBounded reads a few entries, and then as many as their size leaves room
// for.
func (r *Redis) readBounded(ctx context.Context, queue, from string, limit int) ([]Waiting, error) {
	var list []Waiting
	size := 0
	for count := min(limit, firstRead); ; {
		part, err := r.read(ctx, queue, from, count)
		if err != nil {
			return nil, err
		}
		for _, w := range part {
			size += len(w.Data)
		}
		list = append(list, part...)
		if len(part) < count || len(list) == limit || size >= takeBytes {
			return list, nil
		}
		if from != ">" {
			from = part[count-1].ID
		}
		count = min(limit-len(list), 1+(takeBytes-size)/(1+size/len(list)))
	}
}

// makeGroup makes the group from the start of the stream, so that a group that
// is gone skips nothing: what comes twice is known by its event id.
func (r *Redis) makeGroup(ctx context.Context, queue string) error {
	err := r.cfg.Store.Client.XGroupCreateMkStream(ctx, r.waiting(queue), groupName, "0").Err()
	if err != nil && strings.HasPrefix(err.Error(), "BUSYGROUP") {
		return nil // another process was faster
	}
	return err
}

// read reads this consumer's entries from a place on: "0" for those it holds,
// ">" for new ones.
func (r *Redis) read(ctx context.Context, queue, from string, limit int) ([]Waiting, error) {
	for {
		streams, err := r.cfg.Store.Client.XReadGroup(ctx, &redis.XReadGroupArgs{
			Group: groupName, Consumer: r.cfg.Consumer, Streams: []string{r.waiting(queue), from},
			Count: int64(limit), Block: -1,
		}).Result()
		if err == redis.Nil {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		var list []Waiting
		var gone []string
		for _, s := range streams {
			for _, m := range s.Messages {
				data, ok := m.Values[dataField].(string)
				if !ok {
					gone = append(gone, m.ID)
					continue
				}
				list = append(list, Waiting{ID: m.ID, Data: []byte(data)})
			}
		}
		if err := r.forget(ctx, queue, gone); err != nil {
			return nil, err
		}
		if len(list) > 0 || len(gone) == 0 {
			return list, nil
		}
	}
}

// forget acknowledges entries whose data is gone.
func (r *Redis) forget(ctx context.Context, queue string, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	if err := r.cfg.Store.Client.XAck(ctx, r.waiting(queue), groupName, ids...).Err(); err != nil {
		return err
	}
	r.lost.Add(int64(len(ids)))
	return nil
}

// claim takes over the oldest entries that other consumers have held for too
// long. held says that others hold entries: nothing newer may be read.
func (r *Redis) claim(ctx context.Context, queue string, limit int) (held bool, err error) {
	c, key := r.cfg.Store.Client, r.waiting(queue)
	pending, err := c.XPending(ctx, key, groupName).Result()
	if err != nil || pending.Count == 0 {
		return false, err
	}
	oldest, err := c.XPendingExt(ctx, &redis.XPendingExtArgs{
		Stream: key, Group: groupName, Start: "-", End: "+", Count: int64(limit),
	}).Result()
	if err != nil {
		return true, err
	}
	idle := max(0, r.cfg.ClaimAfter)
	var ids []string
	for _, p := range oldest {
		if p.Idle < idle {
			break // what came after it waits too
		}
		ids = append(ids, p.ID)
	}
	if len(ids) == 0 {
		return true, nil
	}
	claimed, err := c.XClaim(ctx, &redis.XClaimArgs{
		Stream: key, Group: groupName, Consumer: r.cfg.Consumer, MinIdle: idle, Messages: ids,
	}).Result()
	if err != nil {
		return true, err
	}
	return true, r.forget(ctx, queue, r.gone(ctx, queue, ids, claimed))
}

// gone lists the entries that could not be claimed because they are not in the
// stream any more. Older servers keep them pending, newer ones drop them.
func (r *Redis) gone(ctx context.Context, queue string, ids []string, claimed []redis.XMessage) []string {
	var gone []string
	for _, id := range ids {
		if slices.ContainsFunc(claimed, func(m redis.XMessage) bool { return m.ID == id && m.Values != nil }) {
			continue
		}
		found, err := r.cfg.Store.Client.XRangeN(ctx, r.waiting(queue), id, id, 1).Result()
		if err == nil && len(found) == 0 {
			gone = append(gone, id)
		}
	}
	return gone
}

// Done implements Engine: acknowledged and removed at once.
func (r *Redis) Done(ctx context.Context, queue string, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	_, err := r.cfg.Store.Client.TxPipelined(ctx, func(p redis.Pipeliner) error {
		p.XAck(ctx, r.waiting(queue), groupName, ids...)
		p.XDel(ctx, r.waiting(queue), ids...)
		return nil
	})
	return wrap("removing from a stream", err)
}

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

// Apart implements Engine.
func (r *Redis) Apart(ctx context.Context, limit int) ([]Apart, error) {
	var list []Apart
	for _, queue := range r.queues {
		if len(list) >= limit {
			break
		}
		found, err := r.cfg.Store.Client.XRangeN(ctx, r.apart(queue), "-", "+", int64(limit-len(list))).Result()
		if err != nil {
			return nil, wrap("reading what was set apart", err)
		}
		for _, m := range found {
			data, _ := m.Values[dataField].(string)
			reason, _ := m.Values[reasonField].(string)
			list = append(list, Apart{Queue: queue, Refused: Refused{Reason: reason, Waiting: Waiting{ID: m.ID, Data: []byte(data)}}})
		}
	}
	return list, nil
}
