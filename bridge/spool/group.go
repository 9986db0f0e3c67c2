package spool

import (
	"context"
	"sync"

	"sfbridge/internal/failpoint"
)

// group joins concurrent appends: while one write is under way the next ones
// gather, and everybody gets the result of the write that held his entries.
type group struct {
	write func(ctx context.Context, entries []Entry) error
	limit int // bytes of one write

	appends chan appending
	quit    chan struct{}
	once    sync.Once
	work    sync.WaitGroup
}

type appending struct {
	entries []Entry
	done    chan error
}

func (a appending) size() int {
	n := 0
	for _, e := range a.entries {
		n += len(e.Data)
	}
	return n
}

// newGroup returns a running group with as many writers. Several writers don't
// keep the order of appends that run at the same time.
func newGroup(writers, limit int, write func(context.Context, []Entry) error) *group {
	g := &group{write: write, limit: limit, appends: make(chan appending, 1024), quit: make(chan struct{})}
	for range writers {
		g.work.Go(g.run)
	}
	return g
}

// append waits for the write that holds the entries, or for ctx: then the
// entries may still be written.
func (g *group) append(ctx context.Context, entries []Entry) error {
	a := appending{entries: entries, done: make(chan error, 1)}
	select {
	case <-g.quit:
		return ErrClosed
	default:
	}
	select {
	case g.appends <- a:
	case <-g.quit:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-a.done:
		return err
	case <-g.quit:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (g *group) run() {
	for {
		select {
		case <-g.quit:
			return
		case first := <-g.appends:
			g.commit(g.gather(first))
		}
	}
}

// gather takes what has come meanwhile.
func (g *group) gather(first appending) []appending {
	all, size := []appending{first}, first.size()
	for size < g.limit {
		select {
		case a := <-g.appends:
			all, size = append(all, a), size+a.size()
		default:
			return all
		}
	}
	return all
}

func (g *group) commit(all []appending) {
	var entries []Entry
	for _, a := range all {
		entries = append(entries, a.entries...)
	}
	failpoint.Hit(failpoint.SpoolAppending)
	err := g.write(context.Background(), entries)
	failpoint.Hit(failpoint.SpoolAppended)
	for _, a := range all {
		a.done <- err
	}
}

// close stops the writers after the write under way.
func (g *group) close() {
	g.once.Do(func() { close(g.quit) })
	g.work.Wait()
}
