package apply

import (
	"cmp"
	"slices"

	"sfbridge/salesforce"
)

// packet is the rows of one group that travel as one subrequest, or one row
// by itself.
type packet struct {
	rows   []*row
	single bool
}

// census counts the rows of each group, and those that can only travel in a
// collection.
type census map[group]count

type count struct{ rows, bound int }

func (c census) add(rows []*row) {
	for _, r := range rows {
		n := c[r.group()]
		n.rows++
		if r.follows {
			n.bound++
		}
		c[r.group()] = n
	}
}

// share decides which groups travel as collections: those that must, then the
// largest; the rest go row by row. ok is false when a transaction can't hold
// them beside so many lock, outcome and outbox rows.
func (c census) share(beside extent) (collections map[group]bool, ok bool) {
	fixed := calls(beside.outcomes) + calls(beside.outbox)
	free := salesforce.MaxCollections - fixed
	subrequests := beside.locks + fixed
	groups := make([]group, 0, len(c))
	for g := range c {
		groups = append(groups, g)
	}
	slices.SortFunc(groups, func(a, b group) int {
		return cmp.Or(
			-cmp.Compare(min(1, c[a].bound), min(1, c[b].bound)),
			-cmp.Compare(c[a].rows, c[b].rows),
			compareGroups(a, b))
	})
	collections = map[group]bool{}
	for _, g := range groups {
		n := c[g]
		switch cost := calls(n.rows); {
		case cost <= free:
			collections[g] = true
			free -= cost
			subrequests += cost
		case n.bound > 0:
			return nil, false
		default:
			subrequests += n.rows
		}
	}
	return collections, free >= 0 && subrequests <= salesforce.MaxSubrequests
}

// calls is the number of collections that so many rows take.
func calls(rows int) int { return (rows + salesforce.MaxRows - 1) / salesforce.MaxRows }

// packets lays the rows out in the order in which they are carried out.
func packets(rows []*row, collections map[group]bool) []packet {
	byGroup := map[group][]*row{}
	var order []group
	for _, r := range rows {
		g := r.group()
		if byGroup[g] == nil {
			order = append(order, g)
		}
		byGroup[g] = append(byGroup[g], r)
	}
	slices.SortFunc(order, compareGroups)
	var out []packet
	for _, g := range order {
		members := byGroup[g]
		slices.SortStableFunc(members, compareRows)
		if !collections[g] {
			for _, r := range members {
				out = append(out, packet{rows: []*row{r}, single: true})
			}
			continue
		}
		for part := range slices.Chunk(members, salesforce.MaxRows) {
			out = append(out, packet{rows: part})
		}
	}
	return out
}
