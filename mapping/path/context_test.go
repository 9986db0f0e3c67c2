package path_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/mapping/path"
)

func paths(t *testing.T, texts ...string) []path.Path {
	t.Helper()
	out := make([]path.Path, len(texts))
	for i, text := range texts {
		out[i] = parse(t, text)
	}
	return out
}

func TestContext_holds_exactly_what_the_mapping_names(t *testing.T) {
	t.Parallel()
	live := path.Delivery{
		Body:   decode(t, `{"account":"a<1>","big":820982911946154508,"gone":null,"more":{"z":1,"a":[1.0]},"secret":"s"}`),
		Header: map[string][]string{"X-Topic": {"one", "two"}, "Authorization": {"Bearer x"}, "X-Other": {"no"}, "X-Latin": {"Jos\xe9"}},
	}
	named := paths(t, "header.X-TOPIC", "header.x-topic", "$$.account", "$$.big", "$$.gone", "$$.missing", "header.X-Missing", "$$['more']",
		"header.X-Latin", "$.id", "@.id")
	data, err := path.BuildContext(named, live)
	require.NoError(t, err)
	assert.Equal(t, `{"$$.account":"a<1>","$$.big":820982911946154508,"$$.gone":null,"$$['more']":{"a":[1.0],"z":1},`+
		`"header.x-latin":"Jos`+"\uFFFD"+`","header.x-topic":"one, two"}`, string(data))

	outer, err := path.ParseContext(data)
	require.NoError(t, err)
	for _, p := range named {
		want, wantPresent := live.Get(p)
		got, present := outer.Get(p)
		assert.Equal(t, want, got, p.String())
		assert.Equal(t, wantPresent, present, p.String())
	}
	for _, p := range paths(t, "$$.secret", "header.X-Other") {
		_, present := outer.Get(p)
		assert.False(t, present, p.String())
	}
}

func TestParseContext(t *testing.T) {
	t.Parallel()
	outer, err := path.ParseContext(nil)
	require.NoError(t, err)
	_, present := outer.Get(parse(t, "header.X-A"))
	assert.False(t, present)
	for _, data := range []string{`[]`, `{`, `null`, `"x"`} {
		_, err := path.ParseContext([]byte(data))
		assert.Error(t, err, data)
	}
	data, err := path.BuildContext(nil, path.Delivery{})
	require.NoError(t, err)
	assert.Equal(t, `{}`, string(data))
}

func TestContextual(t *testing.T) {
	t.Parallel()
	var got []string
	for _, p := range path.Contextual(paths(t, "$.id", "header.X-B", "header.x-b", "$$.a", "@.b", "$$.a", "header.X-A")) {
		got = append(got, p.ContextKey())
	}
	assert.Equal(t, []string{"$$.a", "header.x-a", "header.x-b"}, got)
}
