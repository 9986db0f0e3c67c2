package mapping

import (
	"cmp"
	"slices"
)

// Machine is the allowed steps between the states of a record.
type Machine struct {
	states []string // every state, in the order in which allow first names it
	steps  map[string][]string
	ranked []string       // states in rank order
	rank   map[string]int // state -> place in ranked
}

// step is one line of allow, in file order.
type step struct {
	from string
	to   []string
}

// newMachine compiles the lines of allow.
func newMachine(allow []step) *Machine {
	m := &Machine{steps: map[string][]string{}, rank: map[string]int{}}
	for _, line := range allow {
		m.name(line.from)
		for _, to := range line.to {
			m.name(to)
		}
		m.steps[line.from] = line.to
	}
	m.rankStates()
	return m
}

func (m *Machine) name(state string) {
	if !slices.Contains(m.states, state) {
		m.states = append(m.states, state)
	}
}

// rankStates orders the states: a state stands after every state that leads to
// it and isn't reachable from it (longest such chain), then by the place where
// allow first names it.
func (m *Machine) rankStates() {
	reach := make(map[string]map[string]bool, len(m.states))
	for _, s := range m.states {
		reach[s] = m.reachedFrom(s)
	}
	depths := make(map[string]int, len(m.states))
	var depth func(string) int
	depth = func(s string) int {
		if d, known := depths[s]; known {
			return d
		}
		d := 0
		for _, p := range m.states {
			if reach[p][s] && !reach[s][p] {
				d = max(d, depth(p)+1)
			}
		}
		depths[s] = d
		return d
	}
	m.ranked = slices.Clone(m.states)
	slices.SortStableFunc(m.ranked, func(a, b string) int { return cmp.Compare(depth(a), depth(b)) })
	for i, s := range m.ranked {
		m.rank[s] = i
	}
}

// reachedFrom is every state reachable over one or more steps.
func (m *Machine) reachedFrom(state string) map[string]bool {
	seen := map[string]bool{}
	queue := []string{state}
	for len(queue) > 0 {
		next := queue[0]
		queue = queue[1:]
		for _, to := range m.steps[next] {
			if !seen[to] {
				seen[to] = true
				queue = append(queue, to)
			}
		}
	}
	return seen
}

// Rank is the place of a state in the rank list; -1 for a state that allow
// doesn't name, which is before all.
func (m *Machine) Rank(state string) int {
	if rank, known := m.rank[state]; known {
		return rank
	}
	return -1
}

// Ranks is the rank list: every state, lowest first.
func (m *Machine) Ranks() []string { return slices.Clone(m.ranked) }

// Reachable tells whether the state to can follow from over one or more
// allowed steps, and names the steps of a shortest way: the states after from,
// to being the last. What stands before the last was skipped.
func (m *Machine) Reachable(from, to string) (path []string, ok bool) {
	before := map[string]string{}
	queue := []string{from}
	for len(queue) > 0 {
		state := queue[0]
		queue = queue[1:]
		for _, next := range m.steps[state] {
			if _, seen := before[next]; seen {
				continue
			}
			before[next] = state
			if next == to {
				return wayBack(before, from, to), true
			}
			queue = append(queue, next)
		}
	}
	return nil, false
}

func wayBack(before map[string]string, from, to string) []string {
	way := []string{to}
	for state := before[to]; state != from; state = before[state] {
		way = append(way, state)
	}
	slices.Reverse(way)
	return way
}
