package spool

import (
	"context"
	"maps"
	"slices"
)

// batch is what one call takes.
type batch struct {
	parts  []part
	room   int  // for entries
	bytes  int  // for their weight
	closed bool // the next entry was too heavy
}

func (b *batch) full() bool { return b.closed || b.room <= 0 || b.bytes <= 0 }

// gather takes a batch from the queues that are in no other, those with the most
// entries first. Leases are asked for as far as they are needed: the other queues
// are left to other processes.
func (d *Drain) gather(ctx context.Context) []part {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	b := batch{room: d.size(), bytes: d.cfg.Bytes}
	for open := d.queues(true); len(open) > 0 && !b.full(); {
		n := d.enough(open, b.room)
		held, err := d.cfg.Leases.Acquire(ctx, d.cfg.Owner, leaseNames(open[:n]), leaseTTL)
		if err != nil {
			if ctx.Err() == nil {
				d.cfg.Log.Warn("leases for the spool can't be had", "error", err)
			}
			d.block(open)
			break
		}
		for _, queue := range open[:n] {
			switch {
			case !slices.Contains(held, leaseName(queue)):
				d.block([]string{queue})
			case !b.full():
				d.take(ctx, queue, &b)
			}
		}
		open = open[n:]
	}
	d.begin(b.parts)
	return b.parts
}

// enough is how many of the queues may hold a batch together.
func (d *Drain) enough(queues []string, room int) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	for n, queue := range queues {
		if room -= d.state.Depth[queue]; room <= 0 {
			return n + 1
		}
	}
	return len(queues)
}

// take adds what a queue has to a batch.
func (d *Drain) take(ctx context.Context, queue string, b *batch) {
	entries, err := d.cfg.Engine.Take(ctx, queue, b.room)
	if err != nil && ctx.Err() == nil {
		d.cfg.Log.Warn("the spool can't be read", "queue", queue, "error", err)
	}
	if len(entries) == 0 {
		d.block([]string{queue})
		return
	}
	fit, size := cut(entries, b.bytes, len(b.parts) == 0)
	if len(fit) < len(entries) {
		b.closed = true
	}
	if len(fit) > 0 {
		b.parts = append(b.parts, part{queue, fit})
		b.room, b.bytes = b.room-len(fit), b.bytes-size
	}
}

// cut keeps a part within the bytes that are left; the first entry of a batch
// fits in any case.
func cut(entries []Waiting, bytes int, first bool) (fit []Waiting, size int) {
	for i, e := range entries {
		weight := len(e.Data) + rowWeight
		if size+weight > bytes && (i > 0 || !first) {
			return entries[:i], size
		}
		size += weight
	}
	return entries, size
}

func leaseName(queue string) string { return "spool-" + queue }

func leaseNames(queues []string) []string {
	names := make([]string, len(queues))
	for i, queue := range queues {
		names[i] = leaseName(queue)
	}
	return names
}

// queues lists the queues with entries, the longest first; open leaves out those
// that can't be worked on now.
func (d *Drain) queues(open bool) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	list := slices.Collect(maps.Keys(d.state.Depth))
	if open {
		list = slices.DeleteFunc(list, func(q string) bool { return d.busy[q] || d.blocked[q] })
	}
	slices.SortFunc(list, func(a, b string) int { return d.state.Depth[b] - d.state.Depth[a] })
	return list
}

// block leaves queues alone until the next look.
func (d *Drain) block(queues []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, queue := range queues {
		d.blocked[queue] = true
	}
}
