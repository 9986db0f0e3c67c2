package bench

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCPUTimeIsReadBehindAnyName(t *testing.T) {
	t.Parallel()
	tail := "S 1 2 3 4 5 6 7 8 9 10 150 25 0 0 20 0"
	for _, name := range []string{"(bridge)", "(a b)", "(x) R 9 9 (y)"} {
		got, err := cpuOf([]byte("42 " + name + " " + tail))
		require.NoError(t, err, name)
		assert.Equal(t, 1750*time.Millisecond, got, name)
	}
	for _, bad := range []string{"", "42 (bridge) S 1", "42 (bridge) " + strings.Replace(tail, "150", "x", 1)} {
		_, err := cpuOf([]byte(bad))
		assert.Error(t, err, bad)
	}
}

func TestPeakAndAllocations(t *testing.T) {
	t.Parallel()
	peak, err := peakOf([]byte("Name:\tbridge\nVmHWM:\t  2048 kB\nVmRSS:\t 12 kB\n"))
	require.NoError(t, err)
	assert.EqualValues(t, 2<<20, peak)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, "/metrics", r.URL.Path)
		_, _ = io.WriteString(w, "# HELP x\ngo_memstats_mallocs_total 1.5e+06\n")
	}))
	defer s.Close()
	n, err := allocs(t.Context(), s.URL)
	require.NoError(t, err)
	assert.EqualValues(t, 1_500_000, n)
	u, err := usageOf(t.Context(), os.Getpid(), "")
	require.NoError(t, err)
	assert.Zero(t, u.Allocs)
	u, err = usageOf(t.Context(), -1, "")
	require.NoError(t, err)
	assert.Equal(t, Usage{}, u, "not known")
}

func TestCostIsOfTheTimeBetweenAndOfAnEvent(t *testing.T) {
	t.Parallel()
	got := cost(10, Usage{CPU: time.Millisecond, Allocs: 5}, Usage{CPU: 3 * time.Millisecond, Allocs: 105, Peak: 3 << 20})
	assert.Equal(t, Cost{CPU: 200, Allocs: 10, PeakMiB: 3}, got)
	assert.Equal(t, Cost{}, cost(0, Usage{}, Usage{CPU: time.Second}))
}

func TestCells(t *testing.T) {
	t.Parallel()
	r := Row{Name: "x", Throughput: Throughput{EventsPerSecond: 12345.6, CallsPerEvent: 0.00519}, Cost: Cost{CPU: 36.4}}
	assert.Equal(t, []string{"x", "12,346", "0.0052", "–", "–", "36", "–", "–"}, r.Cells())
	assert.Len(t, r.Cells(), len(Columns()))
	for v, want := range map[float64]string{0: "0", 0.02567: "0.0257", 1.26: "1.3", 100: "100", 3456.7: "3,457", 1234567: "1,234,567"} {
		assert.Equal(t, want, Figure(v))
	}
}

func aCurve() Curve {
	return Curve{Name: "lanes", Title: "Calls & <lanes>", Unit: "calls", Points: []Point{
		{X: 1, Staged: 900, Spooled: 8000, Drain: 1500, Business: 500}, {X: 4, Staged: 3700, Spooled: 8100, Drain: 3600, Business: 1500},
	}}
}

// A picture is well-formed, draws every figure within its frame, and no two
// names over each other.
func TestSVG(t *testing.T) {
	t.Parallel()
	picture := string(aCurve().SVG())
	in := xml.NewDecoder(strings.NewReader(picture))
	count := map[string]int{}
	for {
		token, err := in.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		if e, ok := token.(xml.StartElement); ok {
			count[e.Name.Local]++
			for _, a := range e.Attr {
				var v float64
				if _, err := fmt.Sscan(a.Value, &v); err == nil && (a.Name.Local == "cx" || a.Name.Local == "cy") {
					assert.True(t, v >= top && v <= right, "%s=%v", a.Name.Local, v)
				}
			}
		}
	}
	assert.Equal(t, 4, count["polyline"])
	assert.Equal(t, 8, count["circle"])
	assert.Contains(t, picture, "prefers-color-scheme:dark")
	assert.Contains(t, picture, "10,000", "the axis ends at a round number")
	c := aCurve()
	at := c.labels(10_000)
	for i := range at {
		for j := range i {
			assert.GreaterOrEqual(t, max(at[i], at[j])-min(at[i], at[j]), 15.0, "%d %d", i, j)
		}
	}
	assert.NotPanics(t, func() { Curve{}.SVG() })
}

func TestScaleIsRound(t *testing.T) {
	t.Parallel()
	for most, want := range map[float64]float64{9304: 10_000, 4000: 4000, 100: 100, 7.5: 8, 0: 1} {
		c := Curve{Points: []Point{{Staged: most}}}
		highest, step := c.scale()
		assert.InDelta(t, want, highest, 1e-9, "%v", most)
		assert.LessOrEqual(t, highest/step, 6.0)
		assert.GreaterOrEqual(t, highest, most)
	}
}

func TestPageReplacesItsSections(t *testing.T) {
	t.Parallel()
	page := "# P\n\n<!-- bench:table -->\nold\n<!-- /bench:table -->\n\ntext\n\n<!-- bench:bulk -->\n<!-- /bench:bulk -->\nend\n"
	once, err := Page(page, map[string]string{"table": "T\n", "other": "O"})
	require.NoError(t, err)
	assert.Equal(t, "# P\n\n<!-- bench:table -->\n\nT\n\n<!-- /bench:table -->\n\ntext\n\n<!-- bench:bulk -->\n<!-- /bench:bulk -->\nend\n", once)
	twice, err := Page(once, map[string]string{"table": "T\n"})
	require.NoError(t, err)
	assert.Equal(t, once, twice)
	for name, bad := range map[string]string{
		"no place": "# P\n", "no end": "<!-- bench:table -->\n", "no begin": "x <!-- /bench:table -->",
	} {
		_, err := Page(bad, map[string]string{"table": "T"})
		assert.Error(t, err, name)
	}
}

func TestSectionsHoldWhatWasMeasured(t *testing.T) {
	t.Parallel()
	r := Report{
		Table: []Row{{Name: "receive", Throughput: Throughput{EventsPerSecond: 3000}}}, Bulk: []Row{{Name: "by jobs"}},
		Requirements: []Requirement{{Name: "rate", Figure: 2999, Unit: "events/s", Bound: 3000}},
		Curves:       &Curves{Curves: []Curve{aCurve()}, Spool: "Redis"},
	}
	s := r.Sections("performance")
	assert.Contains(t, s["required"], "| rate | 2,999 events/s | at least 3000 | **not met** |")
	assert.Contains(t, s["table"], "| receive | 3,000 |")
	assert.Contains(t, s["bulk"], "| by jobs |")
	assert.Contains(t, s["curves"], "(performance/lanes.svg)")
	assert.Contains(t, s["curves"], "| 4 | 8,100 | 3,600 | 3,700 | 1,500 |")
	assert.NotContains(t, Report{}.Sections(""), "curves")
	assert.NotContains(t, s["figures"], "Redis", "not measured")
	r.Spooled = &Spooled{Redis: &Outage{
		Receive: Row{Throughput: Throughput{EventsPerSecond: 8001}, Latency: Latency{P99: 77.7}},
		Drain:   Row{Throughput: Throughput{EventsPerSecond: 5000}},
	}}
	assert.Contains(t, r.Sections("")["figures"], "| receive while the org is away, spooled in Redis | 8,001 events/s, p99 77.7 ms; drained at 5,000 events/s |")
}
