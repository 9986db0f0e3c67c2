package mapping

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestRanks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		allow []step
		want  []string
	}{
		"payment":                {[]step{{"Pending", []string{"Succeeded", "Failed"}}, {"Succeeded", []string{"Refunded"}}}, []string{"Pending", "Succeeded", "Failed", "Refunded"}},
		"longest way counts":     {[]step{{"A", []string{"C", "B"}}, {"B", []string{"C"}}}, []string{"A", "B", "C"}},
		"circle by first naming": {[]step{{"B", []string{"A"}}, {"A", []string{"B"}}}, []string{"B", "A"}},
		"circle then exit":       {[]step{{"Out", nil}, {"A", []string{"B"}}, {"B", []string{"A", "Out"}}}, []string{"A", "B", "Out"}},
		"apart":                  {[]step{{"X", []string{"Y"}}, {"A", []string{"B"}}}, []string{"X", "A", "Y", "B"}},
		"to itself":              {[]step{{"A", []string{"A", "B"}}}, []string{"A", "B"}},
	} {
		m := newMachine(c.allow)
		assert.Equal(t, c.want, m.Ranks(), name)
		for i, state := range c.want {
			assert.Equal(t, i, m.Rank(state), name)
		}
		assert.Equal(t, -1, m.Rank("Elsewhere"), name)
	}
}

func TestReachable(t *testing.T) {
	t.Parallel()
	m := newMachine([]step{{"Pending", []string{"Succeeded", "Failed"}}, {"Failed", []string{"Pending"}}, {"Succeeded", []string{"Refunded"}}})
	for _, c := range []struct {
		from, to string
		way      []string
	}{
		{"Pending", "Succeeded", []string{"Succeeded"}},
		{"Pending", "Refunded", []string{"Succeeded", "Refunded"}},
		{"Failed", "Refunded", []string{"Pending", "Succeeded", "Refunded"}},
		{"Pending", "Pending", []string{"Failed", "Pending"}},
		{"Refunded", "Pending", nil},
		{"Succeeded", "Succeeded", nil},
		{"Elsewhere", "Pending", nil},
		{"Pending", "Elsewhere", nil},
	} {
		way, ok := m.Reachable(c.from, c.to)
		assert.Equal(t, c.way != nil, ok, "%s to %s", c.from, c.to)
		assert.Equal(t, c.way, way, "%s to %s", c.from, c.to)
	}
}

func machines() *rapid.Generator[[]step] {
	return rapid.Custom(func(t *rapid.T) []step {
		states := []string{"A", "B", "C", "D", "E", "F"}
		var allow []step
		for _, from := range rapid.Permutation(states).Draw(t, "order") {
			if rapid.Bool().Draw(t, "named") {
				allow = append(allow, step{from, rapid.SliceOfNDistinct(rapid.SampledFrom(states), 0, 3, rapid.ID[string]).Draw(t, "to")})
			}
		}
		return allow
	})
}

// A step that can't be undone always rises in rank, and Reachable agrees with
// the closure of the steps.
func TestMachineProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		allow := machines().Draw(t, "allow")
		m := newMachine(allow)
		reach := closure(allow)
		for _, a := range m.Ranks() {
			for _, b := range m.Ranks() {
				way, ok := m.Reachable(a, b)
				require.Equal(t, reach[[2]string{a, b}], ok, "%s to %s", a, b)
				if reach[[2]string{a, b}] && !reach[[2]string{b, a}] {
					require.Less(t, m.Rank(a), m.Rank(b))
				}
				at := a
				for _, next := range way {
					require.True(t, slices.Contains(m.steps[at], next))
					at = next
				}
			}
		}
	})
}

// closure is the textbook transitive closure.
func closure(allow []step) map[[2]string]bool {
	reach := map[[2]string]bool{}
	states := map[string]bool{}
	for _, line := range allow {
		states[line.from] = true
		for _, to := range line.to {
			states[to] = true
			reach[[2]string{line.from, to}] = true
		}
	}
	for k := range states {
		for i := range states {
			for j := range states {
				if reach[[2]string{i, k}] && reach[[2]string{k, j}] {
					reach[[2]string{i, j}] = true
				}
			}
		}
	}
	return reach
}
