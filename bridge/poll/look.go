package poll

import (
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
// has found and that they need not look themselves. A word of that can be lost or
// false, so each looks itself from time to time all the same.

// elsewhere lists the queues that a query is to look at for the others; nil
// unless it is a look.
func (r *run) elsewhere(now time.Time) []string {
	if r.cfg.Looked == nil || now.Before(r.schedule.idleAt()) {
		return nil
	}
	return minus(r.cfg.Queues, slices.Concat(r.held, r.leaving))
}

// foundRows names the number of rows in the answer of a look.
const foundRows = "found"

// dueElsewhere asks how many rows are due in each of those queues. It counts, so
// that rows which stay due in one queue never hide those of another.
func (q question) dueElsewhere() *soql.Query {
	there := question{queues: q.elsewhere, now: q.now}
	return soql.Select(event.FieldQueue, "COUNT(Id) "+foundRows).From(event.Object).
		Where(there.dueNow()).GroupBy(event.FieldQueue)
}

// foundElsewhere reads what a look has found by queue. It is nil when the look failed:
// then the others look for themselves, and what was asked along with it stands.
func foundElsewhere(reply salesforce.Subresponse) map[string]int {
	if !reply.OK() {
		return nil
	}
	counts := map[string]int{}
	for _, record := range reply.Records {
		n, _ := record.Int(foundRows)
		counts[record.String(event.FieldQueue)] = int(n)
	}
	return counts
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
