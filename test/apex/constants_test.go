package apexgates_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/event"
	"sfbridge/mapping/transform"
)

func classText(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(project(t), classes, name+".cls"))
	require.NoError(t, err)
	return string(data)
}

var textConstant = regexp.MustCompile(`public static final String (\w+) = '([^']*)';`)

// texts are the public text constants of a class.
func texts(t *testing.T, name string) []string {
	t.Helper()
	var out []string
	for _, found := range textConstant.FindAllStringSubmatch(classText(t, name), -1) {
		out = append(out, found[2])
	}
	require.NotEmpty(t, out, name)
	return out
}

func plain[T ~string](values []T) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = string(v)
	}
	return out
}

func TestApexSpellsStatesAsTheBridgeDoes(t *testing.T) {
	t.Parallel()
	assert.ElementsMatch(t, plain(event.Statuses()), texts(t, "decide/BridgeStatus"))
	assert.Subset(t, plain(event.Outcomes()), texts(t, "decide/BridgeOutcome"))
	codes := []string{
		event.CodeUnmatched, event.CodeField, event.CodePayload, event.CodeAbandoned, event.CodeTransition, event.CodeParent,
		event.CodeTarget, event.CodeAmbiguous, event.CodeMapping, event.CodeTooLarge, event.CodeUnreadable, event.CodeLock,
		event.CodeConfig, event.CodeMoved,
	}
	assert.ElementsMatch(t, codes, texts(t, "decide/BridgeCodes"))
}

func TestApexPermitsTheSameMoves(t *testing.T) {
	t.Parallel()
	text := classText(t, "decide/BridgeStatus")
	table := map[string][]string{}
	for _, row := range regexp.MustCompile(`(\w+) => new Set<String>\{([^}]*)\}`).FindAllStringSubmatch(text, -1) {
		for to := range strings.SplitSeq(row[2], ",") {
			table[row[1]] = append(table[row[1]], strings.TrimSpace(to))
		}
	}
	want := map[string][]string{}
	for _, move := range event.Moves() {
		from, to := strings.ToUpper(string(move.From)), strings.ToUpper(string(move.To))
		want[from] = append(want[from], to)
	}
	for from := range want {
		assert.ElementsMatch(t, want[from], table[from], from)
	}
	assert.Len(t, table, len(want))
}

// What Apex cuts to, and what it must be.
func TestApexCutsWhereTheBridgeDoes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		class, constant string
		want            int
	}{
		{"apply/BridgeHistory", "MAX_LENGTH", event.HistoryLimit},
		{"apply/BridgeRecorder", "MAX_ERROR", event.ErrorLimit},
		{"apply/BridgeRevision", "MAX_STEP", event.MaxRevisionStep},
		{"processor/BridgePayloads", "CHUNK_LENGTH", event.PayloadLimit},
		{"processor/BridgeEventRows", "QUEUES", event.Queues},
	} {
		assert.Contains(t, classText(t, c.class), fmt.Sprintf("Integer %s = %d;", c.constant, c.want), c.class)
	}
}

func TestApexKnowsTheSameCurrencies(t *testing.T) {
	t.Parallel()
	digits := map[string]string{}
	text := regexp.MustCompile(`' \+\s+'`).ReplaceAllString(classText(t, "transform/BridgeCurrencies"), "")
	for _, row := range regexp.MustCompile(`(\d) =>\s+'([A-Z ]+)'`).FindAllStringSubmatch(text, -1) {
		for code := range strings.FieldsSeq(row[2]) {
			digits[code] = row[1]
		}
	}
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	known := 0
	for i := range len(letters) * len(letters) * len(letters) {
		code := string([]byte{letters[i/676], letters[i/26%26], letters[i%26]})
		if n, ok := (transform.Currencies{}).Digits(code); ok {
			assert.Equal(t, fmt.Sprint(n), digits[code], code)
			known++
		}
	}
	assert.Len(t, digits, known)
}
