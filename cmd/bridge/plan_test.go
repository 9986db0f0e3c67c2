package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/plan"
)

var updateCapacity = flag.Bool("update", false, "write the made parts of docs/capacity.md")

const capacityPage = "../../docs/capacity.md"

// TestTheCapacityPageIsCurrent compares the parts of docs/capacity.md between
// markers with what the command prints and the figures it rests on; with
// -update they are written.
func TestTheCapacityPageIsCurrent(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(capacityPage)
	require.NoError(t, err)
	page := string(data)
	for name, text := range map[string]string{
		"example": planExample(t), "loads": planLoads(t), "costs": planCosts(), "figures": planFigures(),
	} {
		page = between(t, page, name, text)
	}
	if *updateCapacity {
		require.NoError(t, os.WriteFile(capacityPage, []byte(page), 0o644))
		return
	}
	assert.Equal(t, page, string(data), "write it anew: go test ./cmd/bridge -run CapacityPage -update")
}

func between(t *testing.T, page, name, text string) string {
	t.Helper()
	begin, end := "<!-- "+name+": begin -->\n", "<!-- "+name+": end -->\n"
	before, rest, found := strings.Cut(page, begin)
	_, after, closed := strings.Cut(rest, end)
	require.True(t, found && closed, "the page has no markers for %s", name)
	return before + begin + text + end + after
}

// planExample is a command and what it prints to a person.
func planExample(t *testing.T) string {
	args := []string{"plan", "--events-per-day", "200000", "--licenses", "50", "--effects", "1", "--retention-days", "14"}
	var out bytes.Buffer
	require.Equal(t, exitOK, run(t.Context(), args, environment{out: &out, err: &out, terminal: true}))
	return "```\n$ bridge " + strings.Join(args, " ") + "\n" + out.String() + "```\n"
}

// planLoads is how a few loads do in an org of 100 users.
func planLoads(t *testing.T) string {
	var b strings.Builder
	b.WriteString("| events a day | mean rate | calls, full batches | calls, evenly spread | paced | rows of 90 days | Redis an hour | enterprise | unlimited |\n|---|---|---|---|---|---|---|---|---|\n")
	for _, events := range []float64{1000, 10_000, 50_000, 100_000, 500_000, 1_000_000, 5_000_000} {
		r, err := plan.Make(plan.Load{EventsPerDay: events, Burst: 10, Objects: 1, RetentionDays: 90, PayloadBytes: 2000, Licenses: 100, Budget: 0.8})
		require.NoError(t, err)
		fmt.Fprintf(&b, "| %s | %.3g/s | %s | %s | %s | %s | %s |", plan.Count(events), r.PerSecond, plan.Count(r.Calls.FullPerDay),
			plan.Count(r.Calls.EvenPerDay), plan.Count(r.Calls.PacedPerDay), plan.Size(r.Storage.MB), plan.Size(r.Redis.MBPerHour))
		for _, v := range r.Editions[1:] {
			fits := v.Fits
			if fits == plan.FitsStorage {
				fits = "with " + plan.Days(v.RetentionDays) + " of rows"
			}
			fmt.Fprintf(&b, " %s |", fits)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func planCosts() string {
	var b strings.Builder
	b.WriteString("| events a second, evenly | API calls an event | of these, staging |\n|---|---|---|\n")
	for _, c := range plan.Costs() {
		fmt.Fprintf(&b, "| %v | %v | %v |\n", c.PerSecond, c.Calls, c.Staging)
	}
	return b.String()
}

func planFigures() string {
	var b strings.Builder
	b.WriteString("| figure | value | from |\n|---|---|---|\n")
	for _, e := range plan.Editions() {
		fmt.Fprintf(&b, "| calls a day, %s | %s and %s for each license | published by Salesforce |\n", e.Name, plan.Count(float64(e.Calls)), plan.Count(float64(e.CallsPerLicense)))
		fmt.Fprintf(&b, "| data storage, %s | %s and %v MB for each license | published by Salesforce |\n", e.Name, plan.Size(e.StorageMB), e.StoragePerUser)
	}
	for _, f := range plan.Figures() {
		fmt.Fprintf(&b, "| %s | %v %s | %s |\n", f.Name, f.Value, f.Unit, f.From)
	}
	return b.String()
}

func TestPlan(t *testing.T) {
	t.Parallel()
	r := bridge(t, nil, "", "plan", "--events-per-day", "1e5", "--edition", "enterprise", "--retention-days", "30", "--json")
	require.Equal(t, exitOK, r.code, r.err)
	var report plan.Report
	require.NoError(t, json.Unmarshal([]byte(r.out), &report))
	assert.Len(t, report.Editions, 1)
	assert.InDelta(t, 5500, report.Calls.FullPerDay, 1e-6)
	assert.NotEmpty(t, report.Figures)

	for args, says := range map[string]string{
		"plan":                      "needs --events-per-day",
		"plan --events-per-day 0":   "--events-per-day 0: give a number from 1",
		"plan --events-per-day ten": "bridge plan --help",
		"plan --events-per-day 10 --edition gold": `--edition "gold": one of developer, enterprise, unlimited`,
		"plan --events-per-day 10 --budget 80":    "--budget 80: give a number from 0.01 to 1",
	} {
		r := bridge(t, nil, "", strings.Fields(args)...)
		assert.Equal(t, exitUsage, r.code, args)
		assert.Contains(t, r.err, says, args)
	}
}
