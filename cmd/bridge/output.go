package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

// wantsJSON says whether a machine reads the output.
func wantsJSON(c *cobra.Command, env environment) bool {
	asked, _ := c.Flags().GetBool("json")
	return asked || !env.terminal
}

// printJSON prints one value on one line.
func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// table prints aligned columns for people.
type table struct {
	w *tabwriter.Writer
}

func newTable(w io.Writer, head ...string) *table {
	t := &table{tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)}
	if len(head) > 0 {
		t.row(head...)
	}
	return t
}

func (t *table) row(cells ...string) {
	for i, c := range cells {
		cells[i] = oneLine(c)
	}
	fmt.Fprintln(t.w, strings.Join(cells, "\t"))
}

func (t *table) flush() error { return t.w.Flush() }

// oneLine keeps foreign text from breaking the table or the terminal.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return ' '
		}
		return r
	}, s)
}

// short cuts a cell for people.
func short(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n-1]) + "…"
}

// ends cuts the middle out of a cell: of an error the reason stands at its end,
// of an id what tells it from others.
func ends(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	first := n / 3
	return string(r[:first]) + "…" + string(r[len(r)-(n-first-1):])
}
