package fault

import (
	"strings"
	"sync"
)

// Set is the list of planted faults. Its zero value is empty and ready; it is
// safe for concurrent use.
type Set struct {
	mu   sync.Mutex
	list []*planted
}

type planted struct {
	Fault
	seen    int // matching calls that passed
	struck  int
	expired bool
}

// Add plants faults after those already there.
func (s *Set) Add(faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range faults {
		s.list = append(s.list, &planted{Fault: f})
	}
}

// Clear takes all faults away.
func (s *Set) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = nil
}

// Subject is one operation on one object, as a fault may name it. Inside a
// composite a collection or query is a subject of its own beside the composite.
type Subject struct {
	Operation Operation
	Object    string
}

func (p *planted) matches(subjects []Subject) bool {
	if p.expired {
		return false
	}
	for _, s := range subjects {
		if p.Operation != Any && p.Operation != s.Operation {
			continue
		}
		if p.Kind == ExpireSession && (s.Operation == Token || s.Operation == SOAP) {
			continue // a login has no session to lose
		}
		if p.Object == "" || strings.EqualFold(p.Object, s.Object) {
			return true
		}
	}
	return false
}

// strike counts one match and reports whether the fault's turn has come.
func (p *planted) strike() bool {
	if p.seen < p.After {
		p.seen++
		return false
	}
	p.struck++
	p.expired = p.Times > 0 && p.struck >= p.Times
	return true
}

// Call returns the call fault that strikes an exchange with these subjects.
func (s *Set) Call(subjects ...Subject) (Fault, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.list {
		if !p.Kind.Row() && p.matches(subjects) && p.strike() {
			return p.Fault, true
		}
	}
	return Fault{}, false
}

// Rows returns the row faults that strike the rows of one operation:
// keys[i] holds the external ID values of row i. Each row is struck at most
// once. A fault without a key strikes the first row that no other fault has.
func (s *Set) Rows(subjects []Subject, keys [][]string) map[int]Kind {
	s.mu.Lock()
	defer s.mu.Unlock()
	var struck map[int]Kind
	for _, p := range s.list {
		if !p.Kind.Row() || !p.matches(subjects) {
			continue
		}
		for i := range keys {
			if _, taken := struck[i]; taken || p.expired || !p.names(keys[i]) {
				continue
			}
			if p.strike() {
				if struck == nil {
					struck = map[int]Kind{}
				}
				struck[i] = p.Kind
			}
			if p.Key == "" {
				break
			}
		}
	}
	return struck
}

func (p *planted) names(keys []string) bool {
	if p.Key == "" {
		return true
	}
	for _, k := range keys {
		if k == p.Key {
			return true
		}
	}
	return false
}
