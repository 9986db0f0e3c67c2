package property

import (
	"errors"
	"maps"
	"sync"
)

// journal remembers over the lives of a worker which rows it worked on.
type journal struct {
	mu      sync.Mutex
	inWork  map[string]bool
	crashes map[string]int
}

func newJournal() *journal { return &journal{inWork: map[string]bool{}, crashes: map[string]int{}} }

// crash makes suspects of the rows in work.
func (j *journal) crash() {
	j.mu.Lock()
	defer j.mu.Unlock()
	for id := range j.inWork {
		j.crashes[id]++
	}
	j.inWork = map[string]bool{}
}

// life is the journal as one life of the process has it: a dead one writes
// nothing any more.
func (j *journal) life(dead <-chan struct{}) *lifeJournal { return &lifeJournal{j, dead} }

type lifeJournal struct {
	*journal
	dead <-chan struct{}
}

func (l *lifeJournal) write(ids []string, fn func(id string)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.dead:
		return errors.New("the process is dead")
	default:
	}
	for _, id := range ids {
		fn(id)
	}
	return nil
}

func (l *lifeJournal) Begin(ids []string) error {
	return l.write(ids, func(id string) { l.inWork[id] = true })
}

func (l *lifeJournal) Done(ids []string) error {
	return l.write(ids, func(id string) {
		delete(l.inWork, id)
		delete(l.crashes, id)
	})
}

func (l *lifeJournal) Crashes(id string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.crashes[id]
}

func (l *lifeJournal) Suspects() map[string]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.crashes)
}
