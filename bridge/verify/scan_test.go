package verify

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// decoded is lookUp by encoding/json, which decodes everything.
func decoded(text []byte, name string) (found []byte, valid bool) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(text, &object); err != nil {
		syntax := (*json.SyntaxError)(nil)
		return nil, !errors.As(err, &syntax)
	}
	return object[name], true
}

var scanned = []string{
	`{"ts":1}`, ` { "a" : [1,{"ts":2}] , "ts" : "x" , "b":{} } `, `{"ts":1,"ts":2}`, `{"\u0074s":3}`, `{"t\u0073":{"ts":4}}`,
	`{"ts":null}`, `{"ts":true,"b":false}`, `{"TS":1}`, `{"ts ":1}`, `{}`, `[]`, `null`, `"ts"`, `12`, `-0`, `01`, `-`, `1.`, `1e`, `1e+`, `1E-2`,
	`.5`, `+1`, `{"ts":1`, `{"ts":1}}`, `{"ts":1,}`, `{,}`, `{"ts"}`, `{"ts":}`, `{ts:1}`, `[1,]`, `[1 2]`, `{"ts":"a\x"}`, `{"ts":"\u12g4"}`,
	`{"ts":"\ud83d"}`, "{\"ts\":\"\x01\"}", "{\"ts\":\"\xff\"}", "{\"t\xffs\":1}", "\xEF\xBB\xBF{}", `tru`, `nul`, `truex`, ``, ` `, `{"ts":1} x`, `"`, `"\`,
	strings.Repeat("[", 10_001), strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000), strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001),
	`{"a":` + strings.Repeat("[", 9_999) + strings.Repeat("]", 9_999) + `,"ts":5}`,
	`{"a":` + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000) + `,"ts":5}`,
}

func same(t *testing.T, text []byte) {
	t.Helper()
	want, wantValid := decoded(text, "ts")
	got, valid := lookUp(text, "ts")
	assert.Equal(t, wantValid, valid, "%.60q", text)
	assert.Equal(t, string(want), string(got), "%.60q", text)
}

// A member is found where decoding everything would find it, and refused where
// that would refuse.
func TestLookUpIsAsStrictAsDecoding(t *testing.T) {
	t.Parallel()
	for _, text := range scanned {
		same(t, []byte(text))
	}
}

func FuzzLookUp(f *testing.F) {
	for _, text := range scanned {
		f.Add([]byte(text))
	}
	f.Fuzz(same)
}
