package path_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/mapping/path"
)

func TestDecodeJSON(t *testing.T) {
	t.Parallel()
	num := func(s string) json.Number { return json.Number(s) }
	for in, want := range map[string]any{
		`{}`:                                 map[string]any{},
		`[]`:                                 []any{},
		" \t\r\n[ 1 , 2 ]\n":                 []any{num("1"), num("2")},
		`{"a":{"b":[true,false,null]}}`:      map[string]any{"a": map[string]any{"b": []any{true, false, nil}}},
		`null`:                               nil,
		`"x"`:                                "x",
		`0`:                                  num("0"),
		`-0`:                                 num("-0"),
		`-0.50E+07`:                          num("-0.50E+07"),
		`820982911946154508`:                 num("820982911946154508"),
		`9007199254740993`:                   num("9007199254740993"),
		`1.10`:                               num("1.10"),
		`1e400`:                              num("1e400"),
		`"a\"\\\/\b\f\n\r\tz"`:               "a\"\\/\b\f\n\r\tz",
		`"caf\u00e9 \u2028 <b>&</b> \u00E9"`: "café \u2028 <b>&</b> é",
		`"\ud83e\udd47"`:                     "🥇",
		`"🥇"`:                                "🥇",
		`"\u0000"`:                           "\x00",
		`"\uFFFD"`:                           "\uFFFD",
		`""`:                                 "",
		`{"a":1,"a":{"b":2}}`:                map[string]any{"a": map[string]any{"b": num("2")}},
		`{"\u0061":1,"a":2}`:                 map[string]any{"a": num("2")},
	} {
		t.Run(in, func(t *testing.T) {
			t.Parallel()
			got, err := path.DecodeJSON([]byte(in))
			require.NoError(t, err)
			assert.Equal(t, want, got)
		})
	}
}

func TestDecodeJSON_refuses(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 1002) + strings.Repeat("]", 1002)
	for in, want := range map[string]struct {
		err    error
		offset int
	}{
		``:                           {path.ErrEmpty, 0},
		"  \n":                       {path.ErrEmpty, 3},
		"\xEF\xBB\xBF":               {path.ErrEmpty, 3},
		"\xEF\xBB\xBF\xEF\xBB\xBF{}": {path.ErrSyntax, 3},
		`{"id":"a"}{"id":"b"}`:       {path.ErrTrailing, 10},
		`1 2`:                        {path.ErrTrailing, 2},
		"1\x00":                      {path.ErrTrailing, 1},
		`{"a":1`:                     {path.ErrSyntax, 6},
		`{"a"}`:                      {path.ErrSyntax, 4},
		`{a:1}`:                      {path.ErrSyntax, 1},
		`{"a":1,}`:                   {path.ErrSyntax, 7},
		`[1,]`:                       {path.ErrSyntax, 3},
		`[1 2]`:                      {path.ErrSyntax, 3},
		`[`:                          {path.ErrSyntax, 1},
		`]`:                          {path.ErrSyntax, 0},
		`01`:                         {path.ErrSyntax, 0},
		`+1`:                         {path.ErrSyntax, 0},
		`.5`:                         {path.ErrSyntax, 0},
		`1.`:                         {path.ErrSyntax, 0},
		`1e`:                         {path.ErrSyntax, 0},
		`-`:                          {path.ErrSyntax, 0},
		`NaN`:                        {path.ErrSyntax, 0},
		`tru`:                        {path.ErrSyntax, 0},
		`nulls`:                      {path.ErrTrailing, 4},
		`"`:                          {path.ErrSyntax, 1},
		`"a`:                         {path.ErrSyntax, 2},
		"\"a\nb\"":                   {path.ErrSyntax, 2},
		"\"\\n\tb\"":                 {path.ErrSyntax, 3},
		`"\x"`:                       {path.ErrSyntax, 1},
		`"\u12"`:                     {path.ErrSyntax, 1},
		`"\u12g4"`:                   {path.ErrSyntax, 1},
		`"\`:                         {path.ErrSyntax, 1},
		`'a'`:                        {path.ErrSyntax, 0},
		"{\"name\":\"Jos\xe9\"}":     {path.ErrNotUTF8, 12},
		"\"\xed\xa0\xbd\"":           {path.ErrNotUTF8, 1},
		"\xff":                       {path.ErrNotUTF8, 0},
		deep:                         {path.ErrTooDeep, 1001},
	} {
		t.Run(in[:min(len(in), 30)], func(t *testing.T) {
			t.Parallel()
			v, err := path.DecodeJSON([]byte(in))
			require.ErrorIs(t, err, want.err)
			var jsonErr *path.JSONError
			require.ErrorAs(t, err, &jsonErr)
			assert.Equal(t, want.offset, jsonErr.Offset)
			assert.Nil(t, v)
		})
	}
}

func TestDecodeJSON_depth_limit_is_exact(t *testing.T) {
	t.Parallel()
	_, err := path.DecodeJSON([]byte(strings.Repeat("[", 1000) + strings.Repeat("]", 1000)))
	require.NoError(t, err)
}

// A13: bytes that aren't UTF-8, NUL, half surrogates, a byte order mark.
func TestA13_bytes_are_never_silently_altered(t *testing.T) {
	t.Parallel()
	t.Run("latin1 is refused", func(t *testing.T) {
		t.Parallel()
		_, err := path.DecodeJSON([]byte("{\"id\":\"ev-88\",\"name\":\"Jos\xE9\"}"))
		require.ErrorIs(t, err, path.ErrNotUTF8)
		assert.NotContains(t, err.Error(), "ev-88")
	})
	t.Run("NUL is decoded", func(t *testing.T) {
		t.Parallel()
		assert.Equal(t, map[string]any{"id": "e1", "n": "x\x00y"}, decode(t, `{"id":"e1","n":"x\u0000y"}`))
	})
	t.Run("half surrogates are kept and told apart", func(t *testing.T) {
		t.Parallel()
		for _, in := range []string{`"\ud83d"`, `"a\ud83d"`, `"\udd47\ud83e"`, `"\ud83e\ud83e"`, `"\ud83ex"`, `"\ud83e\n"`} {
			s, ok := decode(t, in).(string)
			require.True(t, ok)
			assert.False(t, utf8.ValidString(s), in)
			out, err := path.AppendJSON(nil, s)
			require.NoError(t, err)
			assert.Equal(t, in, string(out))
		}
	})
	t.Run("one byte order mark is dropped", func(t *testing.T) {
		t.Parallel()
		assert.Equal(t, map[string]any{}, decode(t, "\xEF\xBB\xBF{}"))
	})
}

func TestC01_integers_keep_their_digits(t *testing.T) {
	t.Parallel()
	event := decode(t, `{"order":{"id":820982911946154508,"parent":9007199254740993}}`)
	tmpl, err := path.ParseTemplate("shop:order:{$.order.id}:v1", path.EventID)
	require.NoError(t, err)
	id, present, err := tmpl.Expand(path.Scope{Event: event})
	require.NoError(t, err)
	assert.True(t, present)
	assert.Equal(t, "shop:order:820982911946154508:v1", id)
	raw, err := path.AppendJSON(nil, event)
	require.NoError(t, err)
	assert.Equal(t, `{"order":{"id":820982911946154508,"parent":9007199254740993}}`, string(raw))
}

func TestAppendJSON(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{ "b" : 1.0, "a" : [ ], "B":{ } }`:              `{"B":{},"a":[],"b":1.0}`,
		`{"\uFB33":1,"\ud83d\ude00":2,"z":3,"\u20ac":4}`: `{"z":3,"€":4,"` + "\uFB33" + `":1,"😀":2}`,
		`"<b>&</b>\u2028\/"`:                             `"<b>&</b>` + "\u2028" + `/"`,
		`"\u0001\u001f\u007f\b\f\n\r\t\"\\"`:             `"\u0001\u001f` + "\x7f" + `\b\f\n\r\t\"\\"`,
		`[true,false,null,-0,1E5]`:                       `[true,false,null,-0,1E5]`,
	} {
		got, err := path.AppendJSON([]byte("x"), decode(t, in))
		require.NoError(t, err)
		assert.Equal(t, "x"+want, string(got))
	}
	for _, v := range []any{1, 1.5, json.Number("01"), json.Number(""), "\xff", "\xed\xa0", []any{1}, map[string]any{"a": 1},
		map[string]any{"\xff": nil}} {
		_, err := path.AppendJSON(nil, v)
		assert.Error(t, err, "%v", v)
	}
}

func BenchmarkDecodeJSON(b *testing.B) {
	data := []byte(`{"id":"evt_1","created":1767225600,"livemode":true,"data":{"object":{"id":"ch_1","amount":5000,"currency":"usd",` +
		`"description":"Two \"large\" boxes","metadata":{"a":"b","c":"d"},"lines":[` +
		strings.TrimSuffix(strings.Repeat(`{"id":"li_1","qty":3,"amount":12.50,"name":"Article with a longer name"},`, 20), ",") + `]}}}`)
	b.Run("own", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := path.DecodeJSON(data); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("encoding/json", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			d := json.NewDecoder(bytes.NewReader(data))
			d.UseNumber()
			var v any
			if err := d.Decode(&v); err != nil {
				b.Fatal(err)
			}
		}
	})
}
