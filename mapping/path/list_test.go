package path_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/mapping/path"
)

var listCases = []struct {
	name, list, event string
	want              []string // the elements as compact JSON
	err               string
}{
	{name: "flat", list: "$.a[*]", event: `{"a":[1, "x", {"b" : 1}, [2]]}`, want: []string{`1`, `"x"`, `{"b":1}`, `[2]`}},
	{name: "the event itself", list: "$[*]", event: `[1,2]`, want: []string{`1`, `2`}},
	{name: "missing", list: "$.a[*]", event: `{}`},
	{name: "null", list: "$.a[*]", event: `{"a":null}`},
	{name: "empty", list: "$.a[*]", event: `{"a":[ ]}`},
	{name: "parent missing", list: "$.o.a[*]", event: `{"o":3}`},
	{name: "object", list: "$.a[*]", event: `{"a":{"b":1}}`, err: "$.a[*]: is an object, not an array"},
	{name: "text", list: "$.a[*]", event: `{"a":"x"}`, err: "$.a[*]: is text, not an array"},
	{name: "number", list: "$.a[*]", event: `{"a":-0.5}`, err: "$.a[*]: is a number, not an array"},
	{name: "boolean", list: "$.a[*]", event: `{"a":false}`, err: "$.a[*]: is a boolean, not an array"},
	{name: "null element", list: "$.a[*]", event: `{"a":[1,null]}`, err: "$.a[*]: has an element that is null"},
	{name: "nested", list: "$.a[*].b[*]", event: `{"a":[{"b":[1,2]},{"b":[3]}]}`, want: []string{`1`, `2`, `3`}},
	{name: "nested deeper", list: "$.a[*].b.c[0][*]", event: `{"a":[{"b":{"c":[[1,2]]}}]}`, want: []string{`1`, `2`}},
	{name: "array of arrays", list: "$.a[*][*]", event: `{"a":[[1],[],[2,3]]}`, want: []string{`1`, `2`, `3`}},
	{name: "nested missing, null, empty", list: "$.a[*].b[*]", event: `{"a":[{},{"b":null},{"b":[]},{"b":[7]}]}`, want: []string{`7`}},
	{name: "nested not an array", list: "$.a[*].b[*]", event: `{"a":[{"b":[1]},{"b":true}]}`, err: "$.a[*].b[*]: is a boolean, not an array"},
	{name: "nested null element", list: "$.a[*].b[*]", event: `{"a":[{"b":[null]}]}`, err: "$.a[*].b[*]: has an element that is null"},
	{name: "outer null element", list: "$.a[*].b[*]", event: `{"a":[null]}`, err: "$.a[*].b[*]: has an element that is null"},
	{name: "quoted name like a list", list: "$['a[*]'][*]", event: `{"a[*]":[1]}`, want: []string{`1`}},
	{name: "escaped name", list: `$["a"][*]`, event: `{"\u0061":[1],"a":[2]}`, want: []string{`2`}},
	{name: "negative index", list: "$.a[-1][*]", event: `{"a":[[1],[2,"]"]]}`, want: []string{`2`, `"]"`}},
}

func TestElements(t *testing.T) {
	t.Parallel()
	for _, c := range listCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l, err := path.ParseList(c.list)
			require.NoError(t, err)
			assert.Equal(t, c.list, l.String())
			elements, err := l.Elements(path.Scope{Event: decode(t, c.event)})
			if c.err != "" {
				require.EqualError(t, err, c.err)
				return
			}
			require.NoError(t, err)
			var got []string
			for _, e := range elements {
				raw, err := path.AppendJSON(nil, e)
				require.NoError(t, err)
				got = append(got, string(raw))
			}
			assert.Equal(t, c.want, got)
		})
	}
}

func TestRaw_keeps_the_bytes(t *testing.T) {
	t.Parallel()
	const data = `{"x": {"a" : 1.0 , "t":"caf\u00e9 }\\\"]" }, "list":[ 1 , {"k": [ ]}  ,"a,b" ], "x": {"a": 1e2 }}`
	for text, want := range map[string]string{
		"$.x":         `{"a": 1e2 }`,
		"$.x.a":       `1e2`,
		"$.list":      `[ 1 , {"k": [ ]}  ,"a,b" ]`,
		"$.list[1]":   `{"k": [ ]}`,
		"$.list[-1]":  `"a,b"`,
		"$.list[1].k": `[ ]`,
		"$":           data,
		"$.y":         "",
		"$.list[3]":   "",
		"$.list.k":    "",
		"$.x[0]":      "",
		"$.x.t":       "",
	} {
		raw, present := parse(t, text).Raw([]byte(data))
		assert.Equal(t, want, string(raw), text)
		assert.Equal(t, want != "", present, text)
	}
}

func TestElements_of_the_delivery(t *testing.T) {
	t.Parallel()
	l, err := path.ParseList("$$.events[*]")
	require.NoError(t, err)
	got, err := l.Elements(path.Scope{Outer: path.Delivery{Body: decode(t, `{"events":[1]}`)}})
	require.NoError(t, err)
	assert.Len(t, got, 1)
	got, err = path.List{}.Elements(path.Scope{})
	require.NoError(t, err)
	assert.Empty(t, got)
	assert.True(t, path.List{}.IsZero())
	assert.Equal(t, "$$.events", l.Path().String())
	assert.Equal(t, path.RootDelivery, l.Path().Root())
}

func TestParseList_says_what_to_write(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                      "write a path such as",
		"$.a":                   "end it with [*]: $.a[*]",
		"$.a[*].b":              "end it with [*]: $.a[*].b[*]",
		"@.a[*]":                "start at the event",
		"a[*]":                  "doesn't begin with $",
		"header.X-A[*]":         "doesn't begin with $",
		"$.a[*].b[*].c[*]":      "one nested level is the most",
		"$.a.*[*]":              "write it like $.orders[*]",
		"$..a[*]":               "write it like $.orders[*]",
		"$.a[0:1][*]":           "write it like $.orders[*]",
		"$.a[?@.b][*]":          "write it like $.orders[*]",
		"$.a[*][?@.x == '[*]']": "end it with [*]",
		"$.a-b[*]":              "write member names and indexes",
	} {
		l, err := path.ParseList(text)
		var parseErr *path.ParseError
		require.ErrorAs(t, err, &parseErr, text)
		assert.Contains(t, err.Error(), want, text)
		assert.True(t, l.IsZero(), text)
	}
}
