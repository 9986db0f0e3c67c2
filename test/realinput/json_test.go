package realinput_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// tree is a decoded payload with what a reader of it needs.
type tree struct {
	t    *testing.T
	root any
}

func decode(t *testing.T, body []byte) tree {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var root any
	require.NoError(t, d.Decode(&root))
	return tree{t, root}
}

// get follows member names; a missing one ends in not present.
func (d tree) get(path string) (value any, present bool) {
	value = d.root
	for name := range strings.SplitSeq(path, ".") {
		object, ok := value.(map[string]any)
		if !ok {
			return nil, false
		}
		if value, present = object[name]; !present {
			return nil, false
		}
	}
	return value, true
}

// text is the text form of a string or number that must be there.
func (d tree) text(path string) string {
	d.t.Helper()
	value, _ := d.get(path)
	switch v := value.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	}
	require.Fail(d.t, "no text", path)
	return ""
}

// rfc3339 is a time as epoch milliseconds; of several paths the first that has
// a value counts.
func (d tree) rfc3339(paths ...string) int64 {
	d.t.Helper()
	for _, path := range paths {
		if text, ok := mustGet(d, path).(string); ok {
			at, err := time.Parse(time.RFC3339, text)
			require.NoError(d.t, err)
			return at.UnixMilli()
		}
	}
	require.Fail(d.t, "no time", "%v", paths)
	return 0
}

func mustGet(d tree, path string) any {
	value, _ := d.get(path)
	return value
}

// reader turns a member into what the record must show.
type reader func(any) any

// fields reads members by path into fields; a missing member names no field,
// and Salesforce keeps no empty text.
func (d tree) fields(paths map[string]string, readers map[string]reader) map[string]any {
	out := map[string]any{}
	for field, path := range paths {
		value, present := d.get(path)
		if !present {
			continue
		}
		if read := readers[field]; read != nil {
			value = read(value)
		}
		if value == "" {
			value = nil
		}
		out[field] = value
	}
	return out
}

// asTime shows a time as Salesforce does.
func asTime(v any) any {
	text, ok := v.(string)
	if !ok {
		return nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return err
	}
	return shown(at)
}

func asUnix(v any) any {
	seconds, err := v.(json.Number).Int64()
	if err != nil {
		return err
	}
	return shown(time.Unix(seconds, 0))
}

func shown(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000+0000") }

func asNumber(v any) any {
	n, err := v.(json.Number).Float64()
	if err != nil {
		return err
	}
	return n
}

func asHundredths(v any) any { return asNumber(v).(float64) / 100 }

// asBool: a box is ticked or not.
func asBool(v any) any { return v == true }

// asWord translates words; one that isn't in the table becomes otherwise.
func asWord(words map[string]string, otherwise string) reader {
	return func(v any) any {
		text, _ := v.(string)
		if word, ok := words[text]; ok {
			return word
		}
		return otherwise
	}
}
