package apply

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"sfbridge/bridge/event"
	"sfbridge/mapping"
	"sfbridge/salesforce"
)

func rowsOf(object string, wave, n int) []*row {
	rows := make([]*row, n)
	for i := range rows {
		rows[i] = &row{object: object, keyField: "K__c", wave: wave, id: "x",
			target: newTargetKey(object, "K__c", fmt.Sprintf("%s-%d", object, i))}
	}
	return rows
}

func TestShare(t *testing.T) {
	t.Parallel()
	bound := func(rows []*row) []*row {
		for _, r := range rows {
			r.follows = true
		}
		return rows
	}
	join := func(lists ...[]*row) []*row {
		var all []*row
		for _, l := range lists {
			all = append(all, l...)
		}
		return all
	}
	tests := []struct {
		name            string
		rows            []*row
		locks, outcomes int
		ok              bool
		collections     int
	}{
		{"OneObject", rowsOf("A", 1, 200), 4, 200, true, 1},
		{"FourCollectionsBesideOutcomes", join(rowsOf("A", 1, 9), rowsOf("B", 1, 9), rowsOf("C", 1, 9), rowsOf("D", 1, 9)), 4, 9, true, 4},
		{"SmallFifthGroupRowByRow", join(rowsOf("A", 1, 9), rowsOf("B", 1, 9), rowsOf("C", 1, 9), rowsOf("D", 1, 9), rowsOf("E", 1, 3)), 4, 9, true, 4},
		{"LargeFifthGroup", join(rowsOf("A", 1, 30), rowsOf("B", 1, 30), rowsOf("C", 1, 30), rowsOf("D", 1, 30), rowsOf("E", 1, 30)), 4, 30, false, 0},
		{"RowsBeyondOneCollection", rowsOf("A", 1, 600), 4, 200, true, 1},
		{"RowsBeyondFour", rowsOf("A", 1, 801), 4, 200, false, 0},
		{"OutcomesBeyondOneCollection", join(rowsOf("A", 1, 200), rowsOf("B", 1, 400)), 4, 201, true, 2},
		{"BoundGroupsComeFirst", join(rowsOf("A", 1, 9), rowsOf("B", 1, 9), rowsOf("C", 1, 9), rowsOf("D", 1, 2), bound(rowsOf("E", 2, 1))), 4, 9, true, 4},
		{"TooManyBoundGroups", join(bound(rowsOf("A", 2, 1)), bound(rowsOf("A", 3, 1)), bound(rowsOf("A", 4, 1)), bound(rowsOf("A", 5, 1)), bound(rowsOf("A", 6, 1))), 1, 6, false, 0},
		{"NoRows", nil, 16, 200, true, 0},
		{"LocksLeaveLessRoom", join(rowsOf("A", 1, 9), rowsOf("B", 1, 9), rowsOf("C", 1, 9), rowsOf("D", 1, 9), rowsOf("E", 1, 6)), 16, 9, false, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := census{}
			c.add(tt.rows)
			collections, ok := c.share(extent{locks: tt.locks, outcomes: tt.outcomes})
			assert.Equal(t, tt.ok, ok)
			if ok {
				assert.Len(t, collections, tt.collections)
			}
		})
	}
}

// What share lets through never exceeds what one call takes, loses no row, and
// carries waves out in order.
func TestPacketsHoldTheLimits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var rows []*row
		for g := range rapid.IntRange(0, 9).Draw(t, "groups") {
			object := rapid.SampledFrom([]string{"A", "B", "C"}).Draw(t, "object")
			n := rapid.SampledFrom([]int{1, 2, 5, 40, 199, 200, 201, 420}).Draw(t, "rows")
			rows = append(rows, rowsOf(object, g+1, n)...)
		}
		locks := rapid.IntRange(1, 16).Draw(t, "locks")
		outcomes := rapid.IntRange(1, 400).Draw(t, "outcomes")
		c := census{}
		c.add(rows)
		outbox := rapid.SampledFrom([]int{0, 1, 200, 250}).Draw(t, "outbox")
		collections, ok := c.share(extent{locks, outcomes, outbox})
		if !ok {
			t.Skip("does not fit")
		}
		used, total, wave := calls(outcomes)+calls(outbox), 0, 0
		subrequests := locks + used
		for _, p := range packets(rows, collections) {
			subrequests++
			total += len(p.rows)
			if !p.single {
				used++
			}
			require.LessOrEqual(t, len(p.rows), salesforce.MaxRows)
			require.GreaterOrEqual(t, p.rows[0].wave, wave)
			wave = p.rows[0].wave
			seen := map[targetKey]bool{}
			for _, r := range p.rows {
				require.False(t, seen[r.target], "one key twice in a collection")
				seen[r.target] = true
			}
		}
		require.Len(t, rows, total)
		require.LessOrEqual(t, used, salesforce.MaxCollections)
		require.LessOrEqual(t, subrequests, salesforce.MaxSubrequests)
	})
}

func TestLevels(t *testing.T) {
	t.Parallel()
	rec := func(object string, parents ...string) mapping.Record {
		r := mapping.Record{Object: object}
		for _, p := range parents {
			r.Parents = append(r.Parents, mapping.Ref{Object: p})
		}
		return r
	}
	items := []*item{
		{records: []mapping.Record{rec("Line", "Payment", "Product"), rec("Payment", "Customer")}},
		{records: []mapping.Record{rec("Customer"), rec("Node", "Node")}},
	}
	l := levels(items)
	assert.Less(t, l["customer"], l["payment"])
	assert.Less(t, l["payment"], l["line"])
	assert.Contains(t, l, "node")
	assert.NotContains(t, l, "product", "not written in this batch")

	circle := levels([]*item{{records: []mapping.Record{rec("A", "B"), rec("B", "A")}}})
	assert.Equal(t, map[string]int{"a": 0, "b": 1}, circle)
}

func TestInOrder(t *testing.T) {
	t.Parallel()
	at := func(n int64) *int64 { return &n }
	ev := func(object, id string, order *int64) *item {
		return &item{ev: &event.Event{Source: "s", ObjectID: object, ID: id, Order: order}}
	}
	items := []*item{
		ev("x", "s:3", at(3)), ev("y", "s:9", at(1)), ev("x", "s:2", at(1)), ev("x", "s:1", at(1)), ev("x", "s:0", nil), ev("y", "s:8", at(1)),
	}
	var got []string
	for _, it := range inOrder(items) {
		got = append(got, it.ev.ObjectID+it.ev.ID)
	}
	assert.Equal(t, []string{"xs:0", "ys:8", "xs:1", "xs:2", "xs:3", "ys:9"}, got)
}
