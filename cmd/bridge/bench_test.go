package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/bench"
)

func TestBenchRefusesWhatItCannotMeasure(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"--events", "0"}, {"--senders", "0"}, {"--senders", "10001"}, {"--latency", "0s"}, {"--latency", "11s"}, {"--seconds", "0"},
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
	assert.Regexp(t, `rate +3457 +events/s +at least 3000 +met`, out.String())
	assert.Regexp(t, `calls +0\.0257 +calls/event +at most 0\.025 +NOT MET`, out.String())
}
