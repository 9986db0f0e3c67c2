package operate_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/event"
	"sfbridge/bridge/operate"
	"sfbridge/salesforce"
)

func TestDiff(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, from, to, want string }{
		{"equal", `{"a":1}`, ` {"a":1}`, `[]`},
		{"changed", `{"a":{"b":1}}`, `{"a":{"b":"1"}}`, `[{"path":"$.a.b","kind":"changed","from":1,"to":"1"}]`},
		{"digits count", `{"a":1.10}`, `{"a":1.1}`, `[{"path":"$.a","kind":"changed","from":1.10,"to":1.1}]`},
		{"null is not missing", `{"a":null}`, `{}`, `[{"path":"$.a","kind":"removed","from":null,"to":null}]`},
		{"odd names", `{}`, `{"a-b":{}}`, `[{"path":"$[\"a-b\"]","kind":"added","from":null,"to":{}}]`},
		{"lists", `[1,[2]]`, `[1,[3],4]`, `[{"path":"$[1][0]","kind":"changed","from":2,"to":3},{"path":"$[2]","kind":"added","from":null,"to":4}]`},
		{"another kind", `{"a":[1]}`, `{"a":{"b":1}}`, `[{"path":"$.a","kind":"changed","from":[1],"to":{"b":1}}]`},
		{"a scalar for a list", `{"a":1}`, `{"a":[1]}`, `[{"path":"$.a","kind":"changed","from":1,"to":[1]}]`},
		{"no JSON", `a=1`, `{"a":1}`, `[{"path":"$","kind":"changed","from":"a=1","to":"{\"a\":1}"}]`},
		{"no JSON, equal", `a=1`, `a=1`, `[]`},
		{"two values", `{} {}`, `{}`, `[{"path":"$","kind":"changed","from":"{} {}","to":"{}"}]`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			changes, cut := operate.Diff([]byte(tt.from), []byte(tt.to))
			assert.Zero(t, cut)
			got, err := json.Marshal(changes)
			require.NoError(t, err)
			assert.Equal(t, tt.want, string(got))
		})
	}
}

func TestDiffIsBounded(t *testing.T) {
	t.Parallel()
	from, to := map[string]int{}, map[string]int{}
	for i := range 500 {
		from[fmt.Sprint("a", i)], to[fmt.Sprint("b", i)] = i, i
	}
	a, _ := json.Marshal(from)
	b, _ := json.Marshal(to)
	changes, cut := operate.Diff(a, b)
	assert.Len(t, changes, 200)
	assert.Equal(t, 800, cut, "500 are gone, 500 are new")
	_, cut = operate.Diff([]byte("["+strings.Repeat("1,", 299)+"1]"), []byte("["+strings.Repeat("2,", 299)+"2]"))
	assert.Equal(t, 100, cut)
}

func TestShowConflict(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	original, conflict := ev(1, as(event.Completed)), conflictOf(1)
	b.stage(nil, original)
	conflict.ConflictOf = original.RowID
	b.stage(map[string]any{event.FieldPayload: `{"a":2}`}, conflict)
	story, err := b.Show(t.Context(), conflict.ID)
	require.NoError(t, err)
	assert.Equal(t, "shop:1", story.Original.ID)
	assert.Equal(t, []operate.Change{{Path: "$.a", Kind: "changed", From: json.Number("1"), To: json.Number("2")}}, story.Changes)

	_, err = b.client.Update(t.Context(), salesforce.Row{Object: event.Object, ID: original.RowID,
		Fields: map[string]any{event.FieldPayload: nil, event.FieldEncoding: nil}})
	require.NoError(t, err)
	story, err = b.Show(t.Context(), conflict.ID)
	require.NoError(t, err)
	assert.Nil(t, story.Changes)
	assert.True(t, story.Original.Cleared())
}

// A person who decides on one conflict has to know of the others, and what
// became of them.
func TestShowTellsOfTheOtherConflicts(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	original, accepted, waits := ev(1, as(event.Completed)), conflictOf(1), conflictOf(1)
	b.stage(nil, original)
	accepted.ID, accepted.Status, accepted.Outcome = "shop:1#conflict:a", event.Completed, event.Updated
	waits.ID = "shop:1#conflict:b"
	accepted.ConflictOf, waits.ConflictOf = original.RowID, original.RowID
	b.stage(nil, accepted, waits, ev(2, nil))
	for id, others := range map[string][]string{
		"shop:1":            {"shop:1#conflict:a", "shop:1#conflict:b"},
		"shop:1#conflict:a": {"shop:1#conflict:b"},
		"shop:1#conflict:b": {"shop:1#conflict:a"},
		"shop:2":            nil,
	} {
		story, err := b.Show(t.Context(), id)
		require.NoError(t, err)
		var got []string
		for _, c := range story.Conflicts {
			got = append(got, c.ID)
		}
		assert.Equal(t, others, got, id)
	}
	story, err := b.Show(t.Context(), waits.ID)
	require.NoError(t, err)
	assert.Equal(t, event.Completed, story.Conflicts[0].Status)
}

func TestGroups(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	unmatched := func(e *event.Event) { e.ErrorCode = event.CodeUnmatched }
	b.stage(nil, ev(1, nil), ev(2, nil), ev(3, unmatched), ev(4, as(event.Completed)))
	review := operate.Filter{Status: []event.Status{event.Review}}
	groups, err := b.Groups(t.Context(), review)
	require.NoError(t, err)
	require.Len(t, groups, 2)
	first := ev(1, nil).ReceivedAt
	last := ev(2, nil).ReceivedAt
	assert.Equal(t, operate.Group{Status: event.Review, Source: "shop", Type: "charge.updated", Code: event.CodeField,
		Events: 2, Oldest: &first, Newest: &last}, groups[0])
	assert.Equal(t, event.CodeUnmatched, groups[1].Code)
	byID, err := b.Groups(t.Context(), operate.Filter{IDs: []string{"shop:4"}})
	require.NoError(t, err)
	require.Len(t, byID, 1)
	assert.Equal(t, event.Completed, byID[0].Status)
	_, err = b.Groups(t.Context(), operate.Filter{Limit: -1})
	assert.Error(t, err)
}
