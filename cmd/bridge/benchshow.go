package main

import (
	"fmt"
	"strings"

	"sfbridge/bridge/bench"
)

func showBench(env environment, r bench.Report) error {
	t := newTable(env.out, "MEASURE", "FIGURE", "", "REQUIRED", "")
	for _, q := range r.Requirements {
		verdict := "met"
		if !q.Met {
			verdict = "NOT MET"
		}
		t.row(q.Name, bench.Figure(q.Figure), q.Unit, q.Want(), verdict)
	}
	if err := t.flush(); err != nil {
		return err
	}
	fmt.Fprintln(env.out)
	if err := showRows(env, append(r.Table, r.Bulk...)); err != nil {
		return err
	}
	if r.Spooled != nil && r.Spooled.WithoutWhy != "" {
		fmt.Fprintf(env.out, "\nnothing was measured with Redis: %s\n", r.Spooled.WithoutWhy)
	}
	k := r.Conditions
	fmt.Fprintf(env.out, "\n%d CPUs, org latency %.0f ms, %d senders, bodies of %d bytes, a backlog of %d events; load before: %s\n",
		k.CPUs, k.LatencyMS, k.Senders, k.BodyBytes, r.Memory.Open, k.LoadBefore)
	_, err := fmt.Fprintf(env.out, "%s\n", strings.Join(k.Notes, "; "))
	return err
}

// showRows prints the table of one run. What was not measured stays empty.
func showRows(env environment, rows []bench.Row) error {
	t := newTable(env.out, bench.Columns()...)
	for _, r := range rows {
		t.row(r.Cells()...)
	}
	return t.flush()
}
