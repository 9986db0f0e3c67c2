package path_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"sfbridge/mapping/path"
)

func TestExpand(t *testing.T) {
	t.Parallel()
	const event = `{"id":"98765","v":4,"t":true,"e":"","n":null,"o":{},"a":[1],"slash":"a/b","colon":"a:b%","pct":"50%","hash":"a#b!c",
		"sha":"sha256:ab","rec":"reconcile:ch_1:1:2","Sha":"SHA256:ab","sp":" \tx\u00a0","in":"a b","uni":"Größe→x","dot":".","dots":"..","url":"a b/ä?&+.~","nul":"a\u0000","half":"\ud83d"}`
	for _, c := range []struct {
		name, template string
		escaping       path.Escaping
		want           string
		absent         bool
		err            string
	}{
		{name: "literals and kinds", template: "x{$.id}-{$.v}-{$.t}y", want: "x98765-4-truey"},
		{name: "a field is not escaped", template: "{$.slash}/{$.colon}", want: "a/b/a:b%"},
		{name: "a field may have neighbours", template: "{$.id}{$.v}", want: "987654"},
		{name: "a field may have empty parts", template: "{$.e}{$.e}", want: ""},
		{name: "field missing", template: "{$.id} {$.x}", absent: true},
		{name: "field null", template: "{$.id} {$.n}", absent: true},
		{name: "field object", template: "a {$.o}", err: "$.o: is an object and has no text form"},
		{name: "field array", template: "a {$.a}", err: "$.a: is an array and has no text form"},
		{name: "field half character", template: "a {$.half}", err: "$.half: holds half a character (an unpaired surrogate)"},
		{name: "quoted brace in a path", template: "a {$['x}']}", absent: true},

		{name: "key", template: "shop:order:{$.id}:v{$.v}", escaping: path.Key, want: "shop:order:98765:v4"},
		{name: "key escapes what ends a value", template: "{$.slash}/{$.colon}", escaping: path.Key, want: "a%2Fb/a:b%25"},
		{name: "key escapes first characters only", template: "{$.in}: {$.colon}", escaping: path.Key, want: "a b: a%3Ab%25"},
		{name: "key escapes every byte of a character", template: "{$.uni}→{$.v}", escaping: path.Key, want: "Größe%E2%86%92x→4"},
		{name: "key escapes for a last literal too", template: "{$.id}:{$.slash}/", escaping: path.Key, want: "98765:a%2Fb/"},
		{name: "key of one placeholder is as it is", template: "o/{$.colon}/x", escaping: path.Key, want: "o/a:b%/x"},
		{name: "key keeps # and !", template: "{$.hash}", escaping: path.Key, want: "a#b!c"},
		{name: "key keeps sha256:", template: "{$.sha}", escaping: path.Key, want: "sha256:ab"},
		{name: "key may have an empty part", template: "{$.e}/{$.id}", escaping: path.Key, want: "/98765"},
		{name: "key empty", template: "{$.e}", escaping: path.Key, err: "{$.e}: is empty"},
		{name: "key missing", template: "{$.id}:{$.x}", escaping: path.Key, err: "$.x: is missing"},
		{name: "key null", template: "{$.n}:{$.x}", escaping: path.Key, err: "$.n: is null"},
		{name: "key object", template: "{$.o}", escaping: path.Key, err: "$.o: is an object and has no text form"},
		{name: "key with white space at an end", template: "{$.sp}", escaping: path.Key, err: "{$.sp}: has white space at an end"},
		{name: "key with white space inside", template: "{$.in}", escaping: path.Key, want: "a b"},
		{name: "key with NUL", template: "{$.nul}", escaping: path.Key, err: "$.nul: holds the character U+0000"},

		{name: "event id of one placeholder", template: "{$.slash}", escaping: path.EventID, want: "a/b"},
		{name: "event id escapes %", template: "{$.pct}", escaping: path.EventID, want: "50%25"},
		{name: "event id escapes # and !", template: "{$.hash}", escaping: path.EventID, want: "a%23b%21c"},
		{name: "event id escapes a leading sha256:", template: "{$.sha}", escaping: path.EventID, want: "%73ha256:ab"},
		{name: "event id escapes a leading reconcile:", template: "{$.rec}", escaping: path.EventID, want: "%72econcile:ch_1:1:2"},
		{name: "key keeps reconcile:", template: "{$.rec}", escaping: path.Key, want: "reconcile:ch_1:1:2"},
		{name: "only the leading one", template: "x{$.sha}", escaping: path.EventID, want: "xsha256:ab"},
		{name: "and only in lower case", template: "{$.Sha}", escaping: path.EventID, want: "SHA256:ab"},
		{name: "event id escapes white space at the ends", template: "{$.sp}", escaping: path.EventID, want: "%20%09x%C2%A0"},
		{name: "but not inside", template: "{$.sp}:{$.in}", escaping: path.EventID, want: "%20%09x\u00a0:a b"},
		{name: "event id escapes separators once", template: "{$.slash}/{$.colon}", escaping: path.EventID, want: "a%2Fb/a:b%25"},
		{name: "event id empty", template: "{$.e}", escaping: path.EventID, err: "{$.e}: is empty"},
		{name: "event id missing", template: "{$.x}", escaping: path.EventID, err: "$.x: is missing"},
		{name: "event id null", template: "{$.n}", escaping: path.EventID, err: "$.n: is null"},

		{name: "identity missing is no error", template: "{$.x}.{$.id}", escaping: path.Identity, absent: true},
		{name: "identity escapes", template: "{$.id}.{$.dots}", escaping: path.Identity, want: "98765.%2E%2E"},
		{name: "identity keeps ends", template: "{$.sp}", escaping: path.Identity, want: " \tx\u00a0"},

		{name: "url", template: "https://x.example/v1/{$.url}/y?q={$.colon}", escaping: path.URL,
			want: "https://x.example/v1/a%20b%2F%C3%A4%3F%26%2B.~/y?q=a%3Ab%25"},
		{name: "url without placeholder", template: "https://x.example/", escaping: path.URL, want: "https://x.example/"},
		{name: "url missing", template: "https://x.example/{$.x}", escaping: path.URL, absent: true},
		{name: "url dot", template: "https://x.example/{$.dot}", escaping: path.URL, err: "$.dot: is empty, . or .. and can't be part of a URL"},
		{name: "url dots", template: "https://x.example/{$.dots}/", escaping: path.URL, err: "$.dots: is empty, . or .. and can't be part of a URL"},
		{name: "url empty", template: "https://x.example/{$.e}", escaping: path.URL, err: "$.e: is empty, . or .. and can't be part of a URL"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tmpl, err := path.ParseTemplate(c.template, c.escaping)
			require.NoError(t, err)
			assert.Equal(t, c.template, tmpl.String())
			got, present, err := tmpl.Expand(path.Scope{Event: decode(t, event)})
			if c.err != "" {
				var valueErr *path.ValueError
				require.ErrorAs(t, err, &valueErr)
				assert.EqualError(t, err, c.err)
				assert.False(t, present)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.want, got)
			assert.Equal(t, !c.absent, present)
		})
	}
}

// B11: an id that is missing, null or empty never becomes a key; 0 is one.
func TestB11_events_without_an_id(t *testing.T) {
	t.Parallel()
	one, err := path.ParsePathOrTemplate("$.id", path.EventID)
	require.NoError(t, err)
	for _, event := range []string{`{"type":"unsubscribe"}`, `{"id":null}`, `{"id":""}`, `{"id":{}}`, `{"id":[]}`} {
		id, present, err := one.Expand(path.Scope{Event: decode(t, event)})
		require.Error(t, err, event)
		assert.Empty(t, id, event)
		assert.False(t, present, event)
	}
	id, _, err := one.Expand(path.Scope{Event: decode(t, `{"id":0}`)})
	require.NoError(t, err)
	assert.Equal(t, "0", id)

	derived, err := path.ParsePathOrTemplate("{$.type}:{$.email}:{$.ts}", path.EventID)
	require.NoError(t, err)
	first, _, err := derived.Expand(path.Scope{Event: decode(t, `{"type":"unsubscribe","email":"p@example.test","ts":1767225600}`)})
	require.NoError(t, err)
	assert.Equal(t, "unsubscribe:p@example.test:1767225600", first)
	second, _, err := derived.Expand(path.Scope{Event: decode(t, `{"type":"unsubscribe","email":"p@example.test","ts":1767225601}`)})
	require.NoError(t, err)
	assert.NotEqual(t, first, second)
}

func TestParsePathOrTemplate(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"$.id":                            "1",
		"$['{x}']":                        "2",
		"{$.id}":                          "1",
		"a:{$.id}/{header.X-Topic}":       "a:1/orders%2Fpaid",
		"header.X-Topic":                  "orders/paid",
		"{header.X-Topic}/{header.X-Who}": "orders%2Fpaid/me",
	} {
		tmpl, err := path.ParsePathOrTemplate(text, path.Key)
		require.NoError(t, err, text)
		got, present, err := tmpl.Expand(path.Scope{Event: decode(t, `{"id":1,"{x}":2}`),
			Outer: path.Delivery{Header: map[string][]string{"X-Topic": {"orders/paid"}, "X-Who": {"me"}}}})
		require.NoError(t, err, text)
		assert.True(t, present)
		assert.Equal(t, want, got)
	}
	_, err := path.ParsePathOrTemplate("id", path.Key)
	assert.ErrorContains(t, err, "write $.id")
	assert.True(t, path.Template{}.IsZero())
	_, present, err := path.Template{}.Expand(path.Scope{})
	require.NoError(t, err)
	assert.False(t, present)
}

func TestTemplatePaths(t *testing.T) {
	t.Parallel()
	tmpl, err := path.ParseTemplate("a{$.id}/{@.x}/{header.X-A}", path.Key)
	require.NoError(t, err)
	var got []string
	for _, p := range tmpl.Paths() {
		got = append(got, p.String())
	}
	assert.Equal(t, []string{"$.id", "@.x", "header.X-A"}, got)
	assert.Len(t, path.TemplateOf(parse(t, "$.a"), path.Field).Paths(), 1)
}

func TestParseTemplate_says_what_to_write(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text     string
		escaping path.Escaping
		want     string
	}{
		{"", path.Field, "put the path in braces"},
		{"Stripe", path.Field, "fixed text goes into value"},
		{"", path.URL, "write text with paths in braces"},
		{"$.id", path.Field, "put the path in braces"},
		{"$.a/{$.b}", path.Field, "put every path in braces"},
		{"header.X-A:{$.b}", path.Key, "put every path in braces"},
		{"a{$.id", path.Field, "brace without its other half"},
		{"a}{$.id}", path.Field, "brace without its other half"},
		{"{{$.id}}", path.Field, "write single ones"},
		{"{}", path.Field, "write a path such as $.data.id"},
		{"{id}", path.Key, "write $.id"},
		{"{$.a[*]}", path.Key, "may select several values"},
		{"{$.a}{$.b}", path.Key, "put a literal between them"},
		{"{$.a}{$.b}", path.EventID, "put a literal between them"},
		{"{$.a}{$.b}", path.Identity, "put a literal between them"},
		{"{$.a}%{$.b}", path.Key, "use another separator"},
		{"{$.a}#{$.b}", path.EventID, "use another separator"},
		{"{$.a}/b!", path.EventID, "use another separator"},
		{"{$.a} {$.b}", path.EventID, "use a visible separator"},
		{" {$.a}", path.EventID, "has white space at an end"},
		{" {$.a}", path.Key, "has white space at an end"},
		{"{$.a}/\u00a0", path.Key, "has white space at an end"},
		{"{$.a}:x ", path.EventID, "has white space at an end"},
		{"sha256:{$.a}", path.EventID, "use another prefix"},
		{"reconcile:{$.a}", path.EventID, "use another prefix"},
	} {
		_, err := path.ParseTemplate(c.text, c.escaping)
		var parseErr *path.ParseError
		require.ErrorAs(t, err, &parseErr, c.text)
		assert.Contains(t, err.Error(), c.want)
	}
	_, err := path.ParseTemplate("{$.a}%", path.Key)
	assert.NoError(t, err, "with one placeholder nothing is escaped")
}

// Two different tuples of values never give the same key, whatever the values
// and the literals between them are.
func TestKeysNeverMeet(t *testing.T) {
	t.Parallel()
	for name, escaping := range map[string]path.Escaping{"Key": path.Key, "EventID": path.EventID, "Identity": path.Identity} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				piece := rapid.StringMatching(`[ab:/ %25#!sha\t→]{0,4}`)
				value := rapid.OneOf(piece, rapid.SampledFrom([]string{"sha256:", "sha256", "reconcile:", "%72econcile:", "%3A", "%2525", ":", " ", ""}))
				n := rapid.IntRange(1, 3).Draw(t, "placeholders")
				var text strings.Builder
				text.WriteString(rapid.OneOf(rapid.Just(""), piece).Draw(t, "prefix"))
				for i := range n {
					text.WriteString("{$[" + string(rune('0'+i)) + "]}")
					text.WriteString(piece.Draw(t, "literal"))
				}
				tmpl, err := path.ParseTemplate(text.String(), escaping)
				if err != nil {
					t.Skip("not a template for keys")
				}
				tuple := rapid.SliceOfN(value, n, n)
				a, b := tuple.Draw(t, "a"), tuple.Draw(t, "b")
				keyA, okA := expand(tmpl, a)
				keyB, okB := expand(tmpl, b)
				if okA && okB && keyA == keyB && !assert.ObjectsAreEqual(a, b) {
					t.Fatalf("%q: %q and %q both give %q", text.String(), a, b, keyA)
				}
			})
		})
	}
}

func expand(tmpl path.Template, values []string) (string, bool) {
	event := make([]any, len(values))
	for i, v := range values {
		event[i] = v
	}
	s, present, err := tmpl.Expand(path.Scope{Event: event})
	return s, present && err == nil
}

func TestEventIDsStayClear(t *testing.T) {
	t.Parallel()
	tmpl, err := path.ParseTemplate("{$[0]}:{$[1]}", path.EventID)
	require.NoError(t, err)
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"sha256", "sha256:", "reconcile", "reconcile:", "#conflict:", " "}))
		id, ok := expand(tmpl, []string{value.Draw(t, "a"), value.Draw(t, "b")})
		if !ok {
			t.Skip("NUL")
		}
		if strings.ContainsAny(id, "#!") || strings.HasPrefix(id, "sha256:") || strings.HasPrefix(id, "reconcile:") || strings.TrimSpace(id) != id {
			t.Fatalf("%q", id)
		}
	})
}
