package schema

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// spot is a place in a tree where something can be put.
type spot struct {
	put    func(any)
	remove func()       // nil: can't be removed
	rename func(string) // nil: has no name
}

// spots are all places of a tree.
func spots(tree any) []spot {
	var out []spot
	switch v := tree.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			out = append(out, spot{
				put:    func(x any) { v[key] = x },
				remove: func() { delete(v, key) },
				rename: func(name string) { v[name] = v[key]; delete(v, key) },
			})
			out = append(out, spots(v[key])...)
		}
	case []any:
		for i := range v {
			out = append(out, spot{put: func(x any) { v[i] = x }})
			out = append(out, spots(v[i])...)
		}
	}
	return out
}

var strange = []any{
	nil, true, false, json.Number("0"), json.Number("7"), json.Number("1.50"), "", "$.a", "@.a", "header.X-A", "text", "A__c", "5m", "1MiB",
	"${X}", "gzip", "unix_s", "create", "{$.a}/{$.b}", []any{}, []any{"$.a"}, []any{"text", json.Number("1")}, map[string]any{}, map[string]any{"from": "$.a"},
	map[string]any{"value": json.Number("1")}, map[string]any{"text": "text"},
}

// Whatever is changed in a file: what the loader takes, the schema takes.
func TestTheSchemaRefusesNothingThatTheLoaderTakes(t *testing.T) {
	t.Parallel()
	for _, s := range All() {
		t.Run(s.File, func(t *testing.T) {
			t.Parallel()
			judge := compiled(t, s.File)
			texts := map[string][]byte{}
			for _, name := range s.samples {
				data, err := os.ReadFile(filepath.Join("samples", name))
				require.NoError(t, err)
				texts[name] = data
			}
			taken := 0
			rapid.Check(t, func(rt *rapid.T) {
				name := rapid.SampledFrom(s.samples).Draw(rt, "sample")
				changed := tree(t, texts[name])
				all := spots(changed)
				at := all[rapid.IntRange(0, len(all)-1).Draw(rt, "spot")]
				switch how := rapid.IntRange(0, 9).Draw(rt, "how"); {
				case how == 0 && at.remove != nil:
					at.remove()
				case how == 1 && at.rename != nil:
					at.rename(rapid.SampledFrom([]string{"value", "from", "name", "X__c", "007", "a b"}).Draw(rt, "name"))
				default:
					at.put(rapid.SampledFrom(strange).Draw(rt, "value"))
				}
				text, err := json.Marshal(changed)
				require.NoError(rt, err)
				if _, err := s.outline(filepath.Join("samples", name), text); err != nil {
					return
				}
				taken++
				if err := judge.Validate(tree(t, text)); err != nil {
					rt.Fatalf("the loader takes %s\n%v", text, err)
				}
			})
			require.Positive(t, taken, "no change was taken by the loader")
		})
	}
}
