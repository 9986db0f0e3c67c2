package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/bench"
)

func TestBenchRefusesWhatItCannotMeasure(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"--events", "0"}, {"--senders", "0"}, {"--senders", "10001"}, {"--latency", "0s"}, {"--latency", "11s"}, {"--seconds", "0"},
		{"--backlog", "0"}, {"--backlog", "1000001"},
	} {
		r := bridge(t, nil, "", append([]string{"bench"}, args...)...)
		assert.Equal(t, exitUsage, r.code, "%v", args)
		assert.Contains(t, r.err, args[0]+" ")
	}
}

func TestBenchShowsRequirementsBesideFigures(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.NoError(t, showBench(environment{out: &out}, bench.Report{Requirements: []bench.Requirement{
		{Name: "rate", Figure: 3456.7, Unit: "events/s", Bound: 3000, Met: true},
		{Name: "calls", Figure: 0.02567, Unit: "calls/event", AtMost: true, Bound: 0.025},
	}}))
	assert.Regexp(t, `rate +3,457 +events/s +at least 3000 +met`, out.String())
	assert.Regexp(t, `calls +0\.0257 +calls/event +at most 0\.025 +NOT MET`, out.String())
}

func TestBenchPutsItsFiguresIntoAPage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	page := filepath.Join(dir, "performance.md")
	require.NoError(t, os.WriteFile(page, []byte("<!-- bench:table -->\n<!-- /bench:table -->\n<!-- bench:curves -->\n<!-- /bench:curves -->\n"), 0o600))
	o := benchOptions{pages: []string{page}, curves: filepath.Join(dir, "performance")}
	require.NoError(t, o.publish(bench.Report{
		Table:  []bench.Row{{Name: "receive"}},
		Curves: &bench.Curves{Curves: []bench.Curve{{Name: "lanes", Title: "Calls", Points: []bench.Point{{X: 1, Staged: 1}}}}},
	}))
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	assert.Contains(t, string(text), "| receive |")
	assert.Contains(t, string(text), "(performance/lanes.svg)")
	picture, err := os.ReadFile(filepath.Join(dir, "performance", "lanes.svg"))
	require.NoError(t, err)
	assert.Contains(t, string(picture), "<svg")

	require.NoError(t, os.WriteFile(page, []byte("nothing"), 0o600))
	assert.ErrorContains(t, benchOptions{pages: []string{page}}.publish(bench.Report{}), page)
	assert.NoError(t, benchOptions{}.publish(bench.Report{}), "nothing was asked for")
}

// The bench's own exit code says whether it could measure; --check also whether
// it is enough.
func TestBenchCheckFailsWhatIsNotMet(t *testing.T) {
	t.Parallel()
	missed := bench.Report{Requirements: []bench.Requirement{{Name: "rate", Figure: 1, Unit: "events/s", Bound: 2}}}
	met := bench.Report{Requirements: []bench.Requirement{{Name: "rate", Figure: 2, Bound: 2, Met: true}}}
	assert.NoError(t, benchOptions{}.verdict(missed))
	assert.NoError(t, benchOptions{check: true}.verdict(met))
	err := benchOptions{check: true}.verdict(missed)
	assert.EqualError(t, err, "not met: rate: 1 events/s (at least 2)")
	assert.Equal(t, exitFailed, exitCode(err))
}

func TestBareServerNeedsRedis(t *testing.T) {
	t.Parallel()
	r := bridge(t, map[string]string{"BENCH_REDIS": "nowhere"}, "", "bench", "bare")
	assert.Equal(t, exitFailed, r.code)
	assert.Contains(t, r.err, "the URL of Redis")
}
