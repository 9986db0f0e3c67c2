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
	if err != nil && strings.Contains(err.Error(), "NOGROUP") {
		if err = r.makeGroup(ctx, queue); err == nil {
			list, err = r.take(ctx, queue, limit)
		}
	}
	return list, wrap("reading a stream", err)
}

func (r *Redis) take(ctx context.Context, queue string, limit int) ([]Waiting, error) {
	list, err := r.read(ctx, queue, "0", limit)
	if err != nil || len(list) > 0 {
		return list, err
	}
	held, err := r.claim(ctx, queue, limit)
	if err != nil {
		return nil, err
	}
	if held {
		return r.read(ctx, queue, "0", limit)
	}
	return r.read(ctx, queue, ">", limit)
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

// readSome reads entry by entry until there are enough of them or of their bytes:
// how large the next one is shows only when it has been read. It answers with id
// and data in turn; the data of an entry that is gone from the stream is nil.
var readSome = redis.NewScript(`
local consumer, from, limit, bytes = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local list = {}
while #list < 2 * limit and bytes > 0 do
  local found = redis.call('XREADGROUP', 'GROUP', 'bridge', consumer, 'COUNT', 1, 'STREAMS', KEYS[1], from)
  local e = found and found[1] and found[1][2][1]
  if not e then break end
  local data = e[2] and e[2][2] or false
  list[#list + 1], list[#list + 2] = e[1], data
  if data then bytes = bytes - #data end
  if from ~= '>' then from = e[1] end
end
return list`)

// read reads this consumer's entries from a place on: "0" for those it holds,
// ">" for new ones.
func (r *Redis) read(ctx context.Context, queue, from string, limit int) ([]Waiting, error) {
	for {
		found, err := readSome.Run(ctx, r.cfg.Store.Client, []string{r.waiting(queue)},
			r.cfg.Consumer, from, limit, takeBytes).Slice()
		if err != nil {
			return nil, err
		}
		var list []Waiting
		var gone []string
		for pair := range slices.Chunk(found, 2) {
			id, _ := pair[0].(string)
			if data, ok := pair[1].(string); ok {
				list = append(list, Waiting{ID: id, Data: []byte(data)})
			} else {
				gone = append(gone, id)
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
	claimed, err := c.XClaimJustID(ctx, &redis.XClaimArgs{
		Stream: key, Group: groupName, Consumer: r.cfg.Consumer, MinIdle: idle, Messages: ids,
	}).Result()
	if err != nil {
		return true, err
	}
	return true, r.forget(ctx, queue, r.gone(ctx, queue, ids, claimed))
}

// gone lists the entries that could not be claimed because they are not in the
// stream any more: newer servers drop them. With older ones they are claimed, and
// found without data when they are read.
func (r *Redis) gone(ctx context.Context, queue string, ids, claimed []string) []string {
	var gone []string
	for _, id := range ids {
		if slices.Contains(claimed, id) {
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
