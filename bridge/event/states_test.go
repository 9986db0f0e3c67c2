package event_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/event"
)

var update = flag.Bool("update", false, "write docs/states.md anew")

const statesFile = "../../docs/states.md"

const statesHead = `# The states of an event

Made from the table of moves in ` + "`bridge/event/state.go`" + `; a test keeps it current
(` + "`go test ./bridge/event -update`" + `). Every other move is refused.

`

// The document shows the table of moves, no more and no less.
func TestStatesDocumentIsCurrent(t *testing.T) {
	t.Parallel()
	want := statesDocument()
	if *update {
		require.NoError(t, os.WriteFile(statesFile, []byte(want), 0o644))
	}
	got, err := os.ReadFile(statesFile)
	require.NoError(t, err)
	assert.Equal(t, want, string(got))
}

func statesDocument() string {
	var b strings.Builder
	b.WriteString(statesHead)
	b.WriteString("```mermaid\nstateDiagram-v2\n    [*] --> Received: staged\n    [*] --> Review: staged, needs a person\n")
	for _, m := range event.Moves() {
		fmt.Fprintf(&b, "    %s --> %s: %s\n", m.From, m.To, m.When)
	}
	b.WriteString("    Completed --> [*]: retention\n```\n\n| from | to | who | when |\n|---|---|---|---|\n")
	for _, m := range event.Moves() {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", m.From, m.To, m.By, m.When)
	}
	b.WriteString("\nAn effect, a row of the outbox, has states of its own: Ready and Retryable (the\n" +
		"effect worker moves it on), Done, and Review, from which a replay of its event\nmakes it Ready again under the same key.\n")
	return b.String()
}
