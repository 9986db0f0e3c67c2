package apply

import (
	"sync"
	"time"
)

// pauses remembers the routes that rest because the org refuses what their
// mapping names.
type pauses struct {
	now    func() time.Time
	length time.Duration

	mu     sync.Mutex
	routes map[routeName]time.Time
}

type routeName struct{ source, route string }

func newPauses(cfg Config) *pauses {
	return &pauses{now: cfg.Now, length: cfg.RoutePause, routes: map[routeName]time.Time{}}
}

func (p *pauses) until(source, route string) (time.Time, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	name := routeName{source, route}
	end, paused := p.routes[name]
	if paused && !p.now().Before(end) {
		delete(p.routes, name)
		return time.Time{}, false
	}
	return end, paused
}

func (p *pauses) begin(source, route string) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	end := p.now().Add(p.length)
	p.routes[routeName{source, route}] = end
	return end
}

// traits are what an org was found to be like.
type traits struct {
	mu           sync.Mutex
	noReferences bool
}

// references says whether an outcome row may refer to the id of a record that
// a collection of the same transaction creates.
func (t *traits) references() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.noReferences
}

func (t *traits) withoutReferences() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.noReferences = true
}
