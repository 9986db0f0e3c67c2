package mapping

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/mapping/path"
)

// conformanceCase is case.json of a folder under testdata/conformance.
type conformanceCase struct {
	Clauses []string `json:"clauses"` // what of the format the case shows
	Engines []string `json:"engines"` // left out: every engine
	Event   struct {
		ID    string `json:"event_id"`
		Type  string `json:"type"`
		Order *int64 `json:"order"`
	} `json:"event"`
	Context json.RawMessage `json:"context"` // as stored with the event
}

// The cases are the law for every engine that maps events. Each folder holds
// mapping.yaml, payload.json (the event's bytes), case.json and want.json: the
// route, the records as sent to a new target (and, where that differs, to one
// that exists), or the field errors.
func TestConformance(t *testing.T) {
	t.Parallel()
	folders, err := filepath.Glob("testdata/conformance/*/case.json")
	require.NoError(t, err)
	require.NotEmpty(t, folders)
	for _, file := range folders {
		dir := filepath.Dir(file)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			c := readCase(t, dir)
			assert.NotEmpty(t, c.Clauses, "a case says what it shows")
			f, err := Load(filepath.Join(dir, "mapping.yaml"))
			require.NoError(t, err)
			golden(t, filepath.Join(dir, "want.json"), outcome(t, f, caseInput(t, dir, c)))
		})
	}
}

func readCase(t *testing.T, dir string) conformanceCase {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "case.json"))
	require.NoError(t, err)
	var c conformanceCase
	require.NoError(t, json.Unmarshal(data, &c))
	return c
}

func caseInput(t *testing.T, dir string, c conformanceCase) Input {
	t.Helper()
	payload, err := os.ReadFile(filepath.Join(dir, "payload.json"))
	require.NoError(t, err)
	event, err := path.DecodeJSON(payload)
	require.NoError(t, err)
	in := Input{EventID: c.Event.ID, Type: c.Event.Type, Order: c.Event.Order, Scope: path.Scope{Event: event}}
	if c.Context != nil {
		in.Scope.Outer, err = path.ParseContext(c.Context)
		require.NoError(t, err)
	}
	return in
}

// outcome is what the engine makes of an event, as want.json shows it.
func outcome(t *testing.T, f *File, in Input) string {
	t.Helper()
	want := map[string]any{"route": nil}
	if r, ok := f.Route(in); ok {
		want["route"] = r.Name
		records, errs := r.Records(in)
		want["records"], want["errors"] = wantRecords(records), wantErrors(errs)
	}
	text, err := path.AppendJSON(nil, want)
	require.NoError(t, err)
	var pretty bytes.Buffer
	require.NoError(t, json.Indent(&pretty, text, "", "  "))
	return pretty.String() + "\n"
}

func wantRecords(records []Record) []any {
	out := []any{}
	for _, r := range records {
		create := r.Action == Upsert
		want := map[string]any{
			"object": r.Object, "action": string(r.Action),
			"key": map[string]any{"field": r.Key.Field, "value": r.Key.Value}, "fields": r.Sent(create),
		}
		if update := r.Sent(false); create && !assert.ObjectsAreEqual(update, r.Sent(true)) {
			want["fields_of_existing"] = update
		}
		out = append(out, want)
	}
	return out
}

func wantErrors(errs []FieldError) []any {
	out := []any{}
	for _, e := range errs {
		want := map[string]any{"object": e.Object, "field": e.Field, "path": e.Path, "reason": e.Reason}
		if e.Value != "" {
			want["value"] = e.Value
		}
		out = append(out, want)
	}
	return out
}
