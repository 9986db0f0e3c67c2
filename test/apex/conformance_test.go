package apexgates_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/mapping"
	"sfbridge/test/harness"
)

var update = flag.Bool("update", false, "write the generated files anew")

// conformance is one case in the form in which the Apex tests read it: the
// mapping compiled, the payload as text, the wanted outcome as a value.
type conformance struct {
	Name    string          `json:"name"`
	Event   json.RawMessage `json:"event"`
	Context json.RawMessage `json:"context"`
	Mapping string          `json:"mapping"`
	Payload string          `json:"payload"`
	Want    json.RawMessage `json:"want"`
}

// The cases that the bridge's mapping must pass are the data of an Apex test,
// all but those that name other engines.
func TestConformanceCasesReachApex(t *testing.T) {
	t.Parallel()
	root := harness.Root(t)
	files, err := filepath.Glob(filepath.Join(root, "mapping/testdata/conformance/*/case.json"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	var lines [][]byte
	for _, file := range files {
		if line := caseLine(t, filepath.Dir(file)); line != nil {
			lines = append(lines, line)
		}
	}
	want := "[\n" + string(bytes.Join(lines, []byte(",\n"))) + "\n]\n"
	file := filepath.Join(root, "apex/tests/main/default/staticresources/BridgeConformance.json")
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(want), 0o600))
	}
	got, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.True(t, want == string(got), "the cases have changed; write the data anew: go test ./test/apex -run Conformance -update")
	assert.Less(t, len(got), 5_000_000, "a static resource holds at most 5 MB")
}

func caseLine(t *testing.T, dir string) []byte {
	t.Helper()
	read := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		return data
	}
	var c struct {
		Engines []string        `json:"engines"`
		Event   json.RawMessage `json:"event"`
		Context json.RawMessage `json:"context"`
	}
	require.NoError(t, json.Unmarshal(read("case.json"), &c))
	if len(c.Engines) > 0 && !slices.Contains(c.Engines, "apex") {
		return nil
	}
	file, err := mapping.Load(filepath.Join(dir, "mapping.yaml"))
	require.NoError(t, err)
	line := conformance{
		Name: filepath.Base(dir), Event: c.Event, Context: c.Context,
		Mapping: string(file.Canonical()), Payload: string(read("payload.json")), Want: read("want.json"),
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	require.NoError(t, encoder.Encode(line))
	return bytes.TrimSpace(out.Bytes())
}
