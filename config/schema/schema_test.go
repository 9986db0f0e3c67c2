package schema

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/config"
	"sfbridge/internal/strictyaml"
	"sfbridge/mapping"
	"sfbridge/mapping/transform"
)

func format(t *testing.T, file string) Schema {
	t.Helper()
	for _, s := range All() {
		if s.File == file {
			return s
		}
	}
	require.Fail(t, "no such schema", file)
	return Schema{}
}

func compiled(t *testing.T, file string) *jsonschema.Schema {
	t.Helper()
	s, err := jsonschema.NewCompiler().Compile(file)
	require.NoError(t, err)
	return s
}

// tree is a YAML text as an editor sees it.
func tree(t *testing.T, data []byte) any {
	t.Helper()
	report := strictyaml.NewReport("x.yaml")
	root := strictyaml.Parse(data, report)
	require.NoError(t, report.Err())
	return plain(root)
}

func plain(n *strictyaml.Node) any {
	switch n.Kind {
	case strictyaml.Mapping:
		out := map[string]any{}
		for _, e := range n.Entries {
			out[e.Key] = plain(e.Value)
		}
		return out
	case strictyaml.Sequence:
		out := []any{}
		for _, item := range n.Items {
			out = append(out, plain(item))
		}
		return out
	case strictyaml.Scalar:
		return n.Literal()
	}
	return nil
}

func TestSchemasAreCurrent(t *testing.T) {
	t.Parallel()
	for _, s := range All() {
		want, err := s.JSON(".")
		require.NoError(t, err)
		got, err := os.ReadFile(s.File)
		require.NoError(t, err)
		assert.True(t, bytes.Equal(want, got), "%s: run go generate ./config/schema", s.File)
	}
}

// A key that the samples lack is one that this version refuses.
func TestTheSamplesShowEveryKey(t *testing.T) {
	t.Parallel()
	for _, s := range All() {
		w, _, err := s.write(".")
		require.NoError(t, err)
		for _, path := range w.unasked {
			_, err := s.outline("probe.yaml", probe(t, path))
			assert.ErrorContains(t, err, "not available in this version", "%s: %s must be in a sample, for the schema to know it", s.File, path)
		}
	}
}

// probe is a file with a value at one place.
func probe(t *testing.T, path string) []byte {
	t.Helper()
	var value any = "${X}"
	parts := strings.Split(path, ".")
	for _, part := range slices.Backward(parts) {
		key, list := strings.CutSuffix(part, "[]")
		if list {
			value = []any{value}
		}
		value = map[string]any{key: value}
	}
	text, err := json.Marshal(value)
	require.NoError(t, err)
	return text
}

// The schema takes what the loader takes.
func TestEveryFileOfOursFits(t *testing.T) {
	t.Parallel()
	mappings, settings := compiled(t, "mapping.json"), compiled(t, "settings.json")
	seen := 0
	for _, glob := range []string{"../examples/*.yaml", "../../mapping/testdata/conformance/*/mapping.yaml", "samples/*.yaml"} {
		names, err := filepath.Glob(glob)
		require.NoError(t, err)
		require.NotEmpty(t, names, glob)
		for _, name := range names {
			data, err := os.ReadFile(name)
			require.NoError(t, err)
			s := mappings
			if base := filepath.Base(name); base == "bridge.yaml" || strings.HasPrefix(base, "settings") {
				s = settings
				_, err = config.Load(name)
			} else {
				_, err = mapping.Load(name)
			}
			require.NoError(t, err)
			assert.NoError(t, s.Validate(tree(t, data)), name)
			seen++
		}
	}
	assert.Greater(t, seen, 80)
}

func TestExamplesNameTheirSchemaInTheFirstLine(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("../examples/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, names)
	for _, name := range names {
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		file := "mapping.json"
		if filepath.Base(name) == "bridge.yaml" {
			file = "settings.json"
		}
		first, _, _ := strings.Cut(string(data), "\n")
		assert.Equal(t, "# yaml-language-server: $schema=../schema/"+file, first, name)
	}
}

var commentedKey = regexp.MustCompile(`(?m)^( *)# ([a-z_]+: )`)

// The example of settings shows every setting there is: what most leave out
// stands in it as a comment.
func TestTheExampleShowsEverySetting(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../examples/bridge.yaml")
	require.NoError(t, err)
	whole := tree(t, commentedKey.ReplaceAll(data, []byte("$1$2")))
	file, err := os.ReadFile("settings.json")
	require.NoError(t, err)
	var settings propertySchema
	require.NoError(t, json.Unmarshal(file, &settings))
	assert.Greater(t, settings.shownIn(t, "", whole), 40)
}

// propertySchema is what a schema says of an object's members.
type propertySchema struct {
	Properties map[string]propertySchema `json:"properties"`
}

// shownIn wants every property of the schema in a tree, and counts them.
func (s propertySchema) shownIn(t *testing.T, path string, shown any) int {
	t.Helper()
	members, _ := shown.(map[string]any)
	n := len(s.Properties)
	for name, inner := range s.Properties {
		if assert.Contains(t, members, name, "setting %s%s", path, name) {
			n += inner.shownIn(t, path+name+".", members[name])
		}
	}
	return n
}

func TestMistakesAreSeen(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, sample, old, new string }{
		{"mapping.json", "least.yaml", "source: shop", "source: Shop"},
		{"mapping.json", "least.yaml", "source: shop", "sauce: shop"},
		{"mapping.json", "least.yaml", "provider: stripe", "secrets: [plain]\nprovider: stripe"},
		{"mapping.json", "least.yaml", "provider: stripe", "provider: stripe\nprocessor: cloud"},
		{"mapping.json", "least.yaml", "provider: stripe", "provider: stripe\nlimits: {max_body: big}"},
		{"mapping.json", "least.yaml", "provider: stripe", "provider: stripe\nverify: {tolerance: soon}"},
		{"mapping.json", "least.yaml", "provider: stripe", "provider: stripe\ncurrencies: {ISK: 9}"},
		{"mapping.json", "least.yaml", "{value: 1}", "{value: 1, as: money}"},
		{"mapping.json", "least.yaml", "{value: 1}", "{value: [1]}"},
		{"mapping.json", "least.yaml", "{value: 1}", "{from: id}"},
		{"mapping.json", "least.yaml", "{value: 1}", "{value: 1, on: sunday}"},
		{"mapping.json", "least.yaml", "B__c:", "B-c:"},
		{"mapping.json", "least.yaml", "field: Ext__c", "field: [Ext__c]"},
		{"mapping.json", "least.yaml", "field: Ext__c, ", ""},
		{"mapping.json", "least.yaml", "object: Order__c", "object: Order__c\n        order: sometimes"},
		{"mapping.json", "least.yaml", "object: Order__c", "object: Order__c\n        each: $.lines"},
		{"settings.json", "settings.yaml", "lanes: 4", "lanes: 400"},
		{"settings.json", "settings.yaml", "lanes: 4", "lanes: four"},
		{"settings.json", "settings.yaml", "lanes: 4", "lines: 4"},
		{"settings.json", "settings.yaml", "ack: auto", "ack: never"},
		{"settings.json", "settings.yaml", "flow: jwt", "flow: magic"},
		{"settings.json", "settings.yaml", "interval: 2s", "interval: 2"},
		{"settings.json", "settings.yaml", "durable: true", "durable: 1"},
		{"settings.json", "settings.yaml", "mappings: [least.yaml]", ""},
	} {
		data, err := os.ReadFile(filepath.Join("samples", c.sample))
		require.NoError(t, err)
		require.Contains(t, string(data), c.old)
		changed := []byte(strings.Replace(string(data), c.old, c.new, 1))
		assert.Error(t, compiled(t, c.file).Validate(tree(t, changed)), "%s: %s", c.sample, c.new)
		_, err = format(t, c.file).outline(filepath.Join("samples", c.sample), changed)
		assert.Error(t, err, "the loader refuses it too: %s", c.new)
	}
}

func TestReferencesMayStandForAnySetting(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("samples/settings.yaml")
	require.NoError(t, err)
	for _, old := range []string{"batch: 200", "interval: 2s", "ack: auto", "allow_http: false", "max_body: 1MiB", "rate: 0"} {
		key, _, _ := strings.Cut(old, ":")
		changed := []byte(strings.Replace(string(data), old, key+`: "${X}"`, 1))
		assert.NoError(t, compiled(t, "settings.json").Validate(tree(t, changed)), old)
		_, err := config.Outline("samples/settings.yaml", changed)
		assert.NoError(t, err, old)
	}
}

// The words of as are written out here: they must be those of the loader.
func TestEveryKindOfValueIsNamed(t *testing.T) {
	t.Parallel()
	_, err := transform.Compile(transform.Spec{As: "no such kind"})
	require.ErrorContains(t, err, "write one of "+strings.Join(mappingWords()["fields.*.as"].values, ", "))
}

// A word that no place asks for is one that was renamed.
func TestEveryWordHasAPlace(t *testing.T) {
	t.Parallel()
	for _, s := range All() {
		w, _, err := s.write(".")
		require.NoError(t, err)
		for place := range s.words {
			assert.True(t, w.used[place], "%s: nothing is asked at %s", s.File, place)
		}
	}
}
