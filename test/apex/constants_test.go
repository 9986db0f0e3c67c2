package apexgates_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/event"
	"sfbridge/mapping/transform"
)

// agreement compares what Apex and the bridge must spell alike, and keeps what
// differs.
type agreement struct {
	t       *testing.T
	folder  string // of the project
	differs []string
}

func (a *agreement) class(name string) string {
	a.t.Helper()
	data, err := os.ReadFile(filepath.Join(a.folder, classes, name+".cls"))
	require.NoError(a.t, err)
	return string(data)
}

func (a *agreement) check(ok bool, format string, args ...any) {
	if !ok {
		a.differs = append(a.differs, fmt.Sprintf(format, args...))
	}
}

// same compares lists in any order.
func (a *agreement) same(what string, apex, bridge []string) {
	slices.Sort(apex)
	slices.Sort(bridge)
	a.check(slices.Equal(apex, bridge), "%s: Apex has %v, the bridge %v", what, apex, bridge)
}

var textConstant = regexp.MustCompile(`public static final String (\w+) = '([^']*)';`)

// texts are the public text constants of a class.
func (a *agreement) texts(name string) []string {
	var out []string
	for _, found := range textConstant.FindAllStringSubmatch(a.class(name), -1) {
		out = append(out, found[2])
	}
	return out
}

func plain[T ~string](values []T) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = string(v)
	}
	return out
}

func (a *agreement) states() {
	a.same("states", a.texts("decide/BridgeStatus"), plain(event.Statuses()))
	outcomes := a.texts("decide/BridgeOutcome")
	a.check(len(outcomes) > 0, "outcomes: Apex has none")
	for _, o := range outcomes {
		a.check(slices.Contains(plain(event.Outcomes()), o), "outcome %s: the bridge has none of this name", o)
	}
	a.same("codes", a.texts("decide/BridgeCodes"), []string{
		event.CodeUnmatched, event.CodeField, event.CodePayload, event.CodeAbandoned, event.CodeTransition, event.CodeParent,
		event.CodeTarget, event.CodeAmbiguous, event.CodeMapping, event.CodeTooLarge, event.CodeUnreadable, event.CodeLock,
		event.CodeConfig, event.CodeMoved, event.CodeEffect,
	})
}

var moveRow = regexp.MustCompile(`(\w+) => new Set<String>\{([^}]*)\}`)

func (a *agreement) moves() {
	var apex, bridge []string
	for _, row := range moveRow.FindAllStringSubmatch(a.class("decide/BridgeStatus"), -1) {
		for to := range strings.SplitSeq(row[2], ",") {
			apex = append(apex, row[1]+" to "+strings.TrimSpace(to))
		}
	}
	for _, move := range event.Moves() {
		from, to := strings.ToUpper(string(move.From)), strings.ToUpper(string(move.To))
		bridge = append(bridge, from+" to "+to)
	}
	a.same("moves", apex, bridge)
}

// lengths are what Apex cuts to.
func (a *agreement) lengths() {
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
		line := fmt.Sprintf("Integer %s = %d;", c.constant, c.want)
		a.check(strings.Contains(a.class(c.class), line), "%s: want %s", c.class, line)
	}
}

func (a *agreement) currencies() {
	apex := map[string]int{}
	text := regexp.MustCompile(`' \+\s+'`).ReplaceAllString(a.class("transform/BridgeCurrencies"), "")
	for _, row := range regexp.MustCompile(`(\d) =>\s+'([A-Z ]+)'`).FindAllStringSubmatch(text, -1) {
		for code := range strings.FieldsSeq(row[2]) {
			apex[code] = int(row[1][0] - '0')
		}
	}
	bridge := map[string]int{}
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	for i := range len(letters) * len(letters) * len(letters) {
		code := string([]byte{letters[i/676], letters[i/26%26], letters[i%26]})
		if n, ok := (transform.Currencies{}).Digits(code); ok {
			bridge[code] = n
		}
	}
	a.check(maps.Equal(apex, bridge), "currencies: Apex has %v, the bridge %v", apex, bridge)
}

// disagreements are the places where the project's Apex and the bridge differ.
func disagreements(t *testing.T, folder string) []string {
	a := &agreement{t: t, folder: folder}
	a.states()
	a.moves()
	a.lengths()
	a.currencies()
	return a.differs
}

func TestApexSpellsAsTheBridgeDoes(t *testing.T) {
	t.Parallel()
	assert.Empty(t, disagreements(t, project(t)))
}

func TestADisagreementOfApexAndBridgeIsNoticed(t *testing.T) {
	t.Parallel()
	for what, s := range map[string]seed{
		"states":     {file: classes + "decide/BridgeStatus.cls", old: "'Retryable'", new: "'Retriable'"},
		"codes":      {file: classes + "decide/BridgeCodes.cls", old: "'UNMATCHED'", new: "'NO_ROUTE'"},
		"moves":      {file: classes + "decide/BridgeStatus.cls", old: "=> new Set<String>{ ", new: "=> new Set<String>{ UNKNOWN, "},
		"MAX_LENGTH": {file: classes + "apply/BridgeHistory.cls", old: "MAX_LENGTH = 32768", new: "MAX_LENGTH = 32769"},
		"currencies": {file: classes + "transform/BridgeCurrencies.cls", old: "JPY", new: "JPX"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			assert.Contains(t, strings.Join(disagreements(t, seeded(t, s)), "\n"), what)
		})
	}
}
