package poll

import (
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"sfbridge/bridge/event"
	"sfbridge/salesforce"
	"sfbridge/salesforce/soql"
)

// A look is the due query of a poller for which nothing has happened for a
// while. Where processes share the queues one of them looks for all: its query
// asks for what is due in the queues of the others too, and they are told what it
// has found and that they need not look themselves.

// maxFound bounds the rows of other queues that a look counts: they are a reason
// to look closer, no more.
const maxFound = 200

// elsewhere lists the queues that a query is to look at for the others; nil
// unless it is a look.
func (r *run) elsewhere(now time.Time) []string {
	if r.cfg.Looked == nil || now.Before(r.schedule.idleAt()) {
		return nil
	}
	return minus(r.cfg.Queues, slices.Concat(r.held, r.leaving))
}

// dueElsewhere asks in which of those queues rows are due.
func (q question) dueElsewhere() *soql.Query {
	there := question{queues: q.elsewhere, now: q.now}
	return soql.Select(event.FieldQueue).From(event.Object).Where(there.dueNow()).Limit(maxFound)
}

// countByQueue counts the rows of a look by queue.
func countByQueue(reply salesforce.Subresponse) (map[string]int, error) {
	if !reply.OK() {
		return nil, fmt.Errorf("looking at other queues: %w",
			&salesforce.Error{Op: salesforce.OpComposite, Status: reply.Status, Fault: reply.Fault()})
	}
	counts := map[string]int{}
	for _, record := range reply.Records {
		counts[record.String(event.FieldQueue)]++
	}
	return counts, nil
}

// Seen tells that another process has looked at what is due in the queues of
// this one too.
func (p *Poller) Seen() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen = p.cfg.Now()
}

// idle is the pause of a poller between looks. Those that share the queues
// differ a little, so that one is first.
func (c Config) idle() time.Duration {
	if c.Looked == nil {
		return c.Idle
	}
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(c.Owner)) // never fails
	const shades = 256
	return c.Idle + c.Idle/8*time.Duration(sum.Sum32()%shades)/shades
}
