package rest

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"sfbridge/salesforce/simorg/jsonin"
)

func TestDoublesAreWrittenAsThePlatformDoes(t *testing.T) {
	t.Parallel()
	for f, want := range map[float64]string{
		0: "0.0", 1: "1.0", -12.5: "-12.5", 100: "100.0", 0.001: "0.001", 9999999: "9999999.0",
		1e7: "1.0E7", 12345678: "1.2345678E7", 1796034265123: "1.796034265123E12", -1e7: "-1.0E7",
		0.0001: "1.0E-4", 1.5e-10: "1.5E-10", 1e100: "1.0E100",
	} {
		assert.Equal(t, want, string(appendDouble(nil, f)))
	}
}

func TestStringsAreJSON(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.String().Draw(rt, "text")
		var back string
		require.NoError(rt, json.Unmarshal(appendString(nil, text), &back))
		require.Equal(rt, text, back)
	})
}

func TestReferences(t *testing.T) {
	t.Parallel()
	before := []answered{
		{ref: "one", reply: reply{status: 201, body: []byte(`{"id":"a01","success":true}`)}},
		{ref: "list", reply: reply{status: 200, body: []byte(`[{"id":"x"},{"id":"y"}]`)}},
		{ref: "q", reply: reply{status: 200, body: []byte(`{"records":[{"Id":"r0","P":{"N":7}}]}`)}},
		{ref: "bad", reply: reply{status: 400, body: []byte(`[{"message":"m"}]`)}},
		{ref: "empty", reply: reply{status: 204}},
	}
	for expression, want := range map[string]string{
		"one.id": "a01", "one.Id": "a01", "list[1].id": "y", "q.records[0].Id": "r0", "q.records[0].P.N": "7", "one.success": "true",
	} {
		got, ok := lookUp(expression, before)
		assert.True(t, ok, expression)
		assert.Equal(t, want, got, expression)
	}
	for _, expression := range []string{"none.id", "one.none", "one", "list[2].id", "list[x].id", "bad[0].message", "q.records", "on.id", "empty.id", ""} {
		_, ok := lookUp(expression, before)
		assert.False(t, ok, expression)
	}
	body, err := jsonin.Parse([]byte(`{"a":"x@{one.id}y@{list[0].id}","b":["@{q.records[0].Id}"],"c":1}`))
	require.NoError(t, err)
	n, refusal := resolve(node{url: "/s/@{one.id}", body: &body}, before)
	require.Nil(t, refusal)
	assert.Equal(t, "/s/a01", n.url)
	assert.Equal(t, "xa01yx", n.body.StringAt("a"))
	assert.Equal(t, "r0", n.body.Get("b").Items[0].Text)
	assert.Equal(t, "x@{one.id}y@{list[0].id}", body.StringAt("a"), "the request stays as it came")
}
