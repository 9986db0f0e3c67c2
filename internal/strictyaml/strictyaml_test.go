package strictyaml_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/internal/strictyaml"
)

var update = flag.Bool("update", false, "write the golden files anew")

// parse reads text and fails the test on any problem.
func parse(t *testing.T, text string) (*strictyaml.Node, *strictyaml.Report) {
	t.Helper()
	report := strictyaml.NewReport("f.yaml")
	root := strictyaml.Parse([]byte(text), report)
	require.NoError(t, report.Err())
	require.NotNil(t, root)
	return root, report
}

// Each testdata/NAME.yaml is refused with exactly the lines of NAME.err.
func TestRefused(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			report := strictyaml.NewReport(filepath.Base(file))
			strictyaml.Parse(data, report)
			require.Error(t, report.Err())
			golden := strings.TrimSuffix(file, ".yaml") + ".err"
			if *update {
				require.NoError(t, os.WriteFile(golden, []byte(report.Err().Error()+"\n"), 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			assert.Equal(t, string(want), report.Err().Error()+"\n")
		})
	}
}

func TestKeysKeepTheirSpelling(t *testing.T) {
	t.Parallel()
	root, _ := parse(t, "NO: a\n007: b\n1.10: c\ntrue: d\n0x1F: e\n1e3: f\n\"null\": g\n\"~\": h\nyes: {off: i}\n-0: j\n2026-01-01: k\n.inf: l\n")
	var keys []string
	for _, e := range root.Entries {
		keys = append(keys, e.Key)
	}
	assert.Equal(t, []string{"NO", "007", "1.10", "true", "0x1F", "1e3", "null", "~", "yes", "-0", "2026-01-01", ".inf"}, keys)
}

func TestLiterals(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]any{
		"true": true, "false": false, "null": nil, "~": nil,
		"1.10": json.Number("1.10"), "1e3": json.Number("1e3"), "-0": json.Number("-0"),
		"12345678901234567890123": json.Number("12345678901234567890123"),
		"NO":                      "NO", "yes": "yes", "True": "True", "007": "007", "0x1F": "0x1F", "+1": "+1", ".5": ".5",
		"1_000": "1_000", "2026-01-01": "2026-01-01", ".inf": ".inf", "$.a.b": "$.a.b", "charge.*": "charge.*",
		`"true"`: "true", `'1'`: "1", `"null"`: "null", `""`: "", "'it''s'": "it's", `"a\tb"`: "a\tb",
		"|\n  two\n  lines": "two\nlines", ">-\n  one\n  line": "one line",
	} {
		root, report := parse(t, "v: "+text+"\n")
		got, ok := root.Map(report, "v").Get("v").AsLiteral(report)
		require.NoError(t, report.Err(), text)
		assert.True(t, ok)
		if s, is := got.(string); is {
			got = strings.TrimSuffix(s, "\n")
		}
		assert.Equal(t, want, got, text)
	}
}

func TestByteOrderMarkAndCarriageReturns(t *testing.T) {
	t.Parallel()
	root, report := parse(t, "\ufeffa: 1\r\nb: two\r\n")
	m := root.Map(report, "a", "b")
	assert.Equal(t, "1", m.Text("a", ""))
	assert.Equal(t, "two", m.Text("b", ""))
	assert.NoError(t, report.Err())
}

func TestTypedReaders(t *testing.T) {
	t.Parallel()
	root, report := parse(t, strings.Join([]string{
		"text: 007", "flag: true", "word: two", "list: [a, 1]", "int: 12", "ratio: 0.8",
		"span: 5m", "days: 30d", "mixed: 1d12h", "size: 1MiB", "bytes: 65536", "decimal: 2 MB",
	}, "\n"))
	m := root.Map(report, "text", "flag", "word", "list", "int", "ratio", "span", "days", "mixed", "size", "bytes", "decimal", "absent")
	const huge = 1 << 40
	assert.Equal(t, "007", m.Text("text", ""))
	assert.True(t, m.Bool("flag", false))
	assert.Equal(t, "two", m.Enum("word", "one", "two"))
	assert.Equal(t, []string{"a", "1"}, m.Texts("list"))
	assert.Equal(t, 12, m.Int("int", 1, 0, 20))
	assert.InDelta(t, 0.8, m.Number("ratio", 1, 0, 1), 0)
	assert.Equal(t, 5*time.Minute, m.Duration("span", 0, 0, time.Hour))
	assert.Equal(t, 30*24*time.Hour, m.Duration("days", 0, 0, 1000*time.Hour))
	assert.Equal(t, 36*time.Hour, m.Duration("mixed", 0, 0, 1000*time.Hour))
	assert.Equal(t, int64(1<<20), m.Size("size", 0, 0, huge))
	assert.Equal(t, int64(65536), m.Size("bytes", 0, 0, huge))
	assert.Equal(t, int64(2e6), m.Size("decimal", 0, 0, huge))
	assert.Equal(t, "fallback", m.Text("absent", "fallback"))
	assert.Equal(t, "one", m.Enum("absent", "one", "two"))
	assert.Equal(t, 7, m.Int("absent", 7, 0, 9))
	assert.NoError(t, report.Err())
}

func TestReadersReportAndGoOn(t *testing.T) {
	t.Parallel()
	root, report := parse(t, `txet: a
flag: "true"
word: tow
list: "*.yaml"
int: 21
span: 90
size: 3 pounds
empty:
nil: null
map: {$.id}
`)
	m := root.Map(report, "text", "flag", "word", "list", "int", "span", "size", "empty", "nil", "map")
	m.Bool("flag", false)
	m.Enum("word", "one", "two")
	m.Texts("list")
	assert.Equal(t, 3, m.Int("int", 3, 0, 20))
	m.Duration("span", time.Minute, 0, time.Hour)
	m.Size("size", 1<<20, 1, 1<<21)
	m.Text("empty", "")
	m.Text("nil", "")
	m.Text("map", "")
	m.Need("text", "write text: …")
	assert.EqualError(t, report.Err(), strings.Join([]string{
		`f.yaml:1:1: txet: unknown key "txet": did you mean "text"?`,
		`f.yaml:1:1: text is missing: write text: …`,
		`f.yaml:2:7: flag: must be true or false, not "true": write true or false without quotes`,
		`f.yaml:3:7: word: "tow" is not one of one, two: did you mean "two"?`,
		`f.yaml:4:7: list: must be a list, not "*.yaml": write ["*.yaml"]`,
		`f.yaml:5:6: int: "21" is not a whole number from 0 to 20: write for example 3`,
		`f.yaml:6:7: span: "90" is not a time span from 0s to 1h: write for example 1m`,
		`f.yaml:7:7: size: "3 pounds" is not a size from 1 to 2MiB: write for example 1MiB`,
		`f.yaml:8:7: empty: nothing stands behind the key: give a value or leave the key out`,
		`f.yaml:9:6: nil: null is not accepted here: give a value or leave the key out`,
		`f.yaml:10:6: map: must be text, not a map: a template needs quotes: "{$.id}"`,
	}, "\n"))
}

func TestReferences(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]strictyaml.Reference{
		"plain $.x":           nil,
		"${A_1}":              {{Text: "${A_1}", Name: "A_1"}},
		"Bearer ${K}":         {{Text: "${K}", Name: "K"}},
		"${file:/run/s}:${B}": {{Text: "${file:/run/s}", File: "/run/s"}, {Text: "${B}", Name: "B"}},
	} {
		got, err := strictyaml.References(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
	for _, text := range []string{"${}", "${1A}", "${A B}", "${file:}", "${A", "x ${"} {
		_, err := strictyaml.References(text)
		assert.Error(t, err, text)
	}
}

func TestFill(t *testing.T) {
	t.Parallel()
	values := map[string]string{"A": "a ${B}", "N": "7", "BLANK": " \n"}
	lookup := func(ref strictyaml.Reference) (string, error) {
		value, ok := values[ref.Name]
		if !ok {
			return "", assert.AnError
		}
		return value, nil
	}
	root, report := parse(t, "text: \"<${A}>\"\nint: ${N}\nlist: [\"${A}\"]\n")
	root.Fill(report, lookup)
	m := root.Map(report, "text", "int", "list")
	assert.Equal(t, "<a ${B}>", m.Text("text", ""), "a value is never filled in again")
	assert.Equal(t, 7, m.Int("int", 1, 1, 9))
	assert.Equal(t, []string{"a ${B}"}, m.Texts("list"))
	require.NoError(t, report.Err())

	root, report = parse(t, "a: ${BLANK}\nb: ${UNSET}\nc: ${N}\n")
	root.Fill(report, lookup)
	root.Map(report, "a", "b", "c").Int("c", 1, 1, 3)
	assert.EqualError(t, report.Err(), strings.Join([]string{
		`f.yaml:1:4: a: ${BLANK} is empty: give it a value, or leave the key out to switch the setting off`,
		`f.yaml:2:4: b: ${UNSET} ` + assert.AnError.Error() + `: set it, or leave the key out to switch the setting off`,
		`f.yaml:3:4: c: "${N}" is not a whole number from 1 to 3: write for example 1`,
	}, "\n"), "the value itself never shows")
}

func TestSecretsNeverStandInTheFile(t *testing.T) {
	t.Parallel()
	root, report := parse(t, "a: \"${OK}\"\nb: hunter2-canary\nc: \"x${HALF}\"\nd: [hunter2-canary]\n")
	for _, e := range root.Entries {
		text, ok := e.Value.AsSecret(report)
		assert.Equal(t, e.Key == "a", ok)
		assert.Equal(t, e.Key == "a", text == "${OK}")
	}
	require.Error(t, report.Err())
	assert.Len(t, report.List(), 3)
	assert.NotContains(t, report.Err().Error(), "canary")
}

func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/*.yaml")
	require.NoError(f, err)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(data)
	}
	f.Add([]byte("a: {b: [c, \"d\"], ? e : f}\n# g\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		report := strictyaml.NewReport("f.yaml")
		root := strictyaml.Parse(data, report)
		if root == nil {
			assert.Error(t, report.Err(), "no tree without a reason")
		}
	})
}

// TestFilesAreBounded: what would keep the parser busy for minutes is refused
// before it is parsed.
func TestFilesAreBounded(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a: [" + strings.Repeat("x,", 9_990) + "]\n":  "",
		"a: [" + strings.Repeat("x,", 10_001) + "]\n": "more than 10000 keys and items: shorten it",
		strings.Repeat("a:\n", 10_001):                "more than 10000 keys and items: shorten it",
		"a: " + strings.Repeat("x", 512<<10):          "larger than 524288 bytes: split it",
		"a: " + strings.Repeat("[", 100):              "nested deeper than 64: flatten it",
	} {
		report := strictyaml.NewReport("f.yaml")
		strictyaml.Parse([]byte(text), report)
		if want == "" {
			assert.NoError(t, report.Err())
		} else {
			assert.ErrorContains(t, report.Err(), want)
		}
	}
}
