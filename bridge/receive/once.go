package receive

import (
	"crypto/sha256"
	"sync"
	"time"

	"sfbridge/mapping/path"
)

// maxTokens bounds the tokens that are remembered.
const maxTokens = 100_000

// Once remembers the tokens of deliveries whose signature does not cover the
// event: a token may come again with the event that it came with, and with no
// other. It is one process's memory; the event's own id is the first guard.
type Once struct {
	token  path.Path
	window time.Duration

	mu   sync.Mutex
	seen map[[sha256.Size]byte]taken
}

type taken struct {
	event string
	until time.Time
}

// NewOnce remembers the text at token for as long as a signature is taken,
// which is twice the tolerance.
func NewOnce(token path.Path, tolerance time.Duration) *Once {
	return &Once{token: token, window: 2 * tolerance, seen: map[[sha256.Size]byte]taken{}}
}

// take says whether the delivery's token may come with this event.
func (o *Once) take(body any, event string, now time.Time) bool {
	v, _ := o.token.In(body)
	text, ok := path.Text(v)
	if !ok {
		return false
	}
	id := sha256.Sum256([]byte(text))
	o.mu.Lock()
	defer o.mu.Unlock()
	if before, ok := o.seen[id]; ok && now.Before(before.until) {
		return before.event == event
	}
	if len(o.seen) >= maxTokens {
		o.forget(now)
	}
	o.seen[id] = taken{event, now.Add(o.window)}
	return true
}

// forget makes room: what is over goes, and if that is nothing, anything.
func (o *Once) forget(now time.Time) {
	for id, t := range o.seen {
		if now.After(t.until) {
			delete(o.seen, id)
		}
	}
	for id := range o.seen {
		if len(o.seen) < maxTokens {
			return
		}
		delete(o.seen, id)
	}
}
