package soak

import (
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/test/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// number reads a setting of the run.
func number(t *testing.T, name string, otherwise float64) float64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseFloat(text, 64)
	require.NoError(t, err, name)
	return n
}

// TestSoak is the long run, which `make soak` asks for.
func TestSoak(t *testing.T) {
	text := os.Getenv("SOAK_DURATION")
	if text == "" {
		t.Skip("a long run is made by: make soak")
	}
	duration, err := time.ParseDuration(text)
	require.NoError(t, err, "SOAK_DURATION")
	report := Run(t, Settings{
		Duration: duration, Every: duration / 40, Latency: 100 * time.Millisecond,
		Rate: number(t, "SOAK_RATE", 1000), Faults: number(t, "SOAK_FAULTS", 0.01), Receiver: os.Getenv("SOAK_RECEIVER"),
	})
	loaded := report.Samples[:len(report.Samples)-1] // the last one was taken when the senders had gone
	report.Trends, err = Judge(loaded, Flat())
	require.NoError(t, err)
	t.Log("\n" + report.Text())
	if page := os.Getenv("SOAK_PAGE"); page != "" {
		require.NoError(t, WritePage(page, report.Text()))
	}
	assert.Empty(t, report.Failures())
}

// TestAShortRun shows that a run counts right: it says nothing of trends.
func TestAShortRun(t *testing.T) {
	t.Parallel()
	report := Run(t, Settings{Duration: 5 * time.Second, Every: time.Second, Rate: 40, Faults: 0.05, Latency: 5 * time.Millisecond})
	assert.Empty(t, report.Failures())
	assert.Positive(t, report.Accepted)
	last := report.Samples[len(report.Samples)-1]
	assert.Positive(t, last.RSS)
	assert.Positive(t, last.Files)
	assert.Positive(t, last.Goroutines)
}

// samples are forty samples of a figure that grows by so much an hour, with
// noise and a peak now and then, over ten minutes.
func samples(perHour float64) []Sample {
	list := make([]Sample, 40)
	for i := range list {
		at := time.Duration(i) * 15 * time.Second
		value := 100 + perHour*at.Hours() + 3*math.Sin(float64(7*i))
		if i%11 == 0 {
			value += 60
		}
		list[i] = Sample{At: at, Accepted: warmEvents / 5, RSS: value, Goroutines: value, Files: value, P50: value}
	}
	return list
}

func TestALeakIsNoticed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		perHour float64
		flat    bool
	}{
		{"flat", 0, true},
		{"it gets less", -300, true},
		{"grows by a little", 20, true},
		{"doubles within an hour", 200, false},
		{"grows fast", 2000, false},
	} {
		trends, err := Judge(samples(c.perHour), Flat())
		require.NoError(t, err)
		assert.Equal(t, c.flat, trends[0].Flat(), "%s: %+.1f of %.1f", c.name, trends[0].Growth, trends[0].Allowed)
		assert.InDelta(t, c.perHour, trends[0].PerHour, 20, c.name)
		failures := Report{Trends: trends[:1]}.Failures()
		assert.Equal(t, c.flat, len(failures) == 0, failures)
	}
}

func TestEveryFigureIsJudged(t *testing.T) {
	t.Parallel()
	trends, err := Judge(samples(3000), Flat())
	require.NoError(t, err)
	report := Report{Trends: trends, Accepted: 5, Records: 4}
	assert.Len(t, report.Failures(), len(Flat())+1)
	assert.Contains(t, report.Text(), "**failed**")
}

func TestTooFewSamplesSayNothing(t *testing.T) {
	t.Parallel()
	_, err := Judge(samples(0)[:11], Flat())
	assert.ErrorContains(t, err, "run longer")
	slow := samples(0)
	for i := range slow {
		slow[i].Accepted = warmEvents/31 + 1
	}
	_, err = Judge(slow, Flat())
	assert.ErrorContains(t, err, "9 samples after", "the memory of confirmed keys is filled until then")
}

func TestThePageKeepsWhatIsAroundTheMarkers(t *testing.T) {
	t.Parallel()
	page := filepath.Join(t.TempDir(), "page.md")
	read := func() string {
		data, err := os.ReadFile(page)
		require.NoError(t, err)
		return string(data)
	}
	require.NoError(t, WritePage(page, "one\n"))
	assert.Equal(t, begin+"one\n"+end, read())
	require.NoError(t, os.WriteFile(page, []byte("# Before\n"), 0o600))
	require.NoError(t, WritePage(page, "two\n"))
	assert.Equal(t, "# Before\n\n"+begin+"two\n"+end, read())
	require.NoError(t, os.WriteFile(page, []byte(read()+"after\n"), 0o600))
	require.NoError(t, WritePage(page, "three\n"))
	assert.Equal(t, "# Before\n\n"+begin+"three\n"+end+"after\n", read())
	require.NoError(t, os.WriteFile(page, []byte(begin), 0o600))
	assert.ErrorContains(t, WritePage(page, "four\n"), "has no end")
}
