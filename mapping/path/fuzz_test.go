package path_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/mapping/path"
)

func FuzzParse(f *testing.F) {
	for _, s := range []string{"$.data.object.id", "$$.account", "@['a b']", "header.X-Shopify-Topic", "$.a[-1]", "$..x", "{$.id}", `$["\u00e9"]`, "$[9007199254740992]", "$.a.0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := path.Parse(text)
		if err != nil {
			var parseErr *path.ParseError
			require.ErrorAs(t, err, &parseErr)
			assert.NotEmpty(t, parseErr.Fix)
			assert.True(t, p.IsZero())
			return
		}
		assert.Equal(t, text, p.String())
		p.Get(path.Scope{Event: map[string]any{"a": []any{nil}}})
		again, err := path.Parse(p.ContextKey())
		require.NoError(t, err)
		assert.Equal(t, p.ContextKey(), again.ContextKey())
	})
}

func FuzzParseList(f *testing.F) {
	for _, c := range listCases {
		f.Add(c.list, c.event)
	}
	f.Fuzz(func(t *testing.T, list, event string) {
		l, err := path.ParseList(list)
		if err != nil {
			return
		}
		v, err := path.DecodeJSON([]byte(event))
		if err != nil {
			return
		}
		elements, err := l.Elements(path.Scope{Event: v, Outer: path.Delivery{Body: v}})
		if err != nil {
			assert.Empty(t, elements)
		}
		for _, e := range elements {
			assert.NotNil(t, e)
		}
	})
}

// FuzzRaw holds the bytes of a value to the decoded value.
func FuzzRaw(f *testing.F) {
	for _, c := range listCases {
		f.Add("$.a", c.event)
		f.Add("$.a[-1]", "\xEF\xBB\xBF \n"+c.event+" ")
	}
	f.Add("$.x.t", `{"x": {"a" : 1.0 , "t":"caf\u00e9 }\\\"]" }, "list":[ 1 , {"k": [ ]}  ,"a,b" ], "\u0078": {"t": 1e2 }}`)
	f.Fuzz(func(t *testing.T, text, event string) {
		p, err := path.Parse(text)
		if err != nil {
			return
		}
		v, err := path.DecodeJSON([]byte(event))
		if err != nil {
			return
		}
		want, wantPresent := p.In(v)
		raw, present := p.Raw([]byte(event))
		if p.Root() == path.RootHeader {
			return
		}
		require.Equal(t, wantPresent, present)
		if !present {
			return
		}
		got, err := path.DecodeJSON(raw)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	})
}

func FuzzParseTemplate(f *testing.F) {
	for _, s := range []string{"shop:order:{$.id}:v{$.version}", "{header.X-Shopify-Topic}/{header.X-Shopify-Webhook-Id}", "{$['}']}", "{{$.a}}", "a%{$.b}"} {
		f.Add(s, "value")
	}
	f.Fuzz(func(t *testing.T, text, value string) {
		for _, escaping := range []path.Escaping{path.Field, path.Identity, path.Key, path.EventID, path.URL} {
			tmpl, err := path.ParseTemplate(text, escaping)
			if err != nil {
				continue
			}
			got, present, err := tmpl.Expand(path.Scope{Event: map[string]any{"id": value}, Element: value})
			if err != nil {
				assert.False(t, present)
			}
			if utf8.ValidString(text) {
				assert.True(t, utf8.ValidString(got))
			}
		}
	})
}

func FuzzDecodeJSON(f *testing.F) {
	for _, s := range []string{`{"id":"evt_demo_A1",  "note":"caf\u00e9 \u2028 <b>&</b> 12.50","amt":1.0,"path":"a\/b"}` + "\n",
		`{"id":"ev-77","title":"Gold tier 🥇","qty":2}`, `{"id":"e2","n":"\ud83d"}`, "\xEF\xBB\xBF{}", `[1e5,-0.0,{"a":{},"a":[]}]`, `"\udd47\ud83e"`, "[[[["} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := path.DecodeJSON(data)
		body := bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF"))
		valid := json.Valid(body) && utf8.Valid(body)
		if err != nil {
			var jsonErr *path.JSONError
			require.ErrorAs(t, err, &jsonErr)
			assert.LessOrEqual(t, jsonErr.Offset, len(data))
			if jsonErr.Err != path.ErrTooDeep {
				assert.False(t, valid, "refused what is JSON")
			}
			return
		}
		require.True(t, valid, "accepted what isn't JSON")
		compact, err := path.AppendJSON(nil, got)
		require.NoError(t, err)
		again, err := path.DecodeJSON(compact)
		require.NoError(t, err)
		assert.Equal(t, got, again)

		d := json.NewDecoder(bytes.NewReader(compact))
		d.UseNumber()
		var want any
		require.NoError(t, d.Decode(&want))
		d = json.NewDecoder(bytes.NewReader(body))
		d.UseNumber()
		var std any
		require.NoError(t, d.Decode(&std))
		assert.Equal(t, std, want, "the same value as encoding/json reads")
	})
}

func FuzzParseContext(f *testing.F) {
	f.Add([]byte(`{"$$.account":"a","header.x-topic":"one, two"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		outer, err := path.ParseContext(data)
		if err == nil {
			outer.Get(path.Path{})
		}
	})
}
