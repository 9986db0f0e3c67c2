// Package layout holds the rules of the tree: who may import whom.
package layout

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const module = "sfbridge/"

// The import table. A package may import itself, packages below itself, what
// its row names (with everything below that), and packages outside the module.
// The row of the longest matching prefix holds.
var mayImport = map[string][]string{
	"internal/failpoint":     {},
	"internal/pause":         {},
	"internal/lease":         {},
	"internal/strictyaml":    {},
	"internal/metadata":      {},
	"apex":                   {},
	"salesforce":             {"internal/failpoint"},
	"salesforce/auth":        {"internal/pause", "salesforce"},
	"salesforce/simorg":      {"apex"},
	"mapping":                {"internal/strictyaml"},
	"mapping/path":           {},
	"mapping/transform":      {"mapping/path"},
	"mapping/view":           {"mapping/path"},
	"config":                 {"internal/strictyaml"},
	"config/schema":          {"config", "internal/strictyaml", "mapping"},
	"bridge/event":           {},
	"bridge/verify":          {},
	"bridge/provider":        {"bridge/identify", "bridge/verify", "internal/strictyaml", "mapping/path"},
	"bridge/identify":        {"bridge/event", "mapping/path", "mapping/transform", "mapping/view"},
	"bridge/outbound":        {},
	"bridge/keys":            {"bridge/outbound", "bridge/verify"},
	"bridge/store":           {"internal/failpoint", "bridge/event"},
	"bridge/stage":           {"internal/failpoint", "internal/pause", "bridge/event", "salesforce", "salesforce/soql"},
	"bridge/spool":           {"internal/failpoint", "bridge/event", "bridge/stage", "bridge/store"},
	"bridge/receive":         {"internal/failpoint", "bridge/event", "bridge/identify", "bridge/stage", "bridge/verify", "bridge/provider", "mapping/path"},
	"bridge/apply":           {"internal/failpoint", "bridge/event", "mapping", "mapping/path", "mapping/view", "salesforce", "salesforce/soql"},
	"bridge/poll":            {"internal/failpoint", "bridge/event", "bridge/apply", "bridge/store", "salesforce", "salesforce/soql"},
	"bridge/effect":          {"internal/failpoint", "internal/pause", "bridge/event", "bridge/outbound", "salesforce", "salesforce/soql"},
	"bridge/apply/authority": {"bridge/outbound", "mapping/path"},
	"bridge/retain":          {"internal/lease", "internal/pause", "bridge/event", "salesforce", "salesforce/soql"},
	"bridge/operate":         {"bridge/event", "salesforce", "salesforce/soql"},
	"bridge/reconcile":       {"internal/lease", "internal/pause", "bridge/event", "bridge/identify", "bridge/outbound", "mapping", "mapping/path", "salesforce", "salesforce/soql"},
	"bridge/console":         {"bridge/event", "bridge/operate"},
	"bridge/trial":           {"bridge/event", "bridge/identify", "bridge/provider", "bridge/verify"},
	"bridge/propose":         {"mapping", "salesforce"},
	"bridge/preflight":       {"bridge/event", "mapping", "salesforce"},
	"bridge/scaffold":        {"bridge/event", "internal/metadata", "mapping"},
	"bridge/export":          {"internal/metadata", "mapping"},
	"bridge/plan":            {},
	"bridge/demo":            {"internal/pause", "bridge", "config", "salesforce"},
	"bridge/bench":           {"internal/pause", "bridge", "config", "salesforce"},
	"bridge/bench/bare":      {},
	"bridge/app":             {"internal/pause", "bridge", "config", "mapping", "salesforce", "apex"},
	"bridge":                 {},
	"cmd/bridge":             {"internal/failpoint", "bridge", "config", "mapping", "salesforce", "apex"},
	"test":                   {"internal", "bridge", "config", "mapping", "salesforce", "apex", "test"},
}

// Some imports have a home of their own.
var onlyIn = map[string][]string{
	"github.com/gin-gonic/gin":              {"bridge/receive", "bridge/console", "bridge/bench/bare"},
	"github.com/simpleforce/simpleforce":    {"salesforce"},
	"github.com/spf13/cobra":                {"cmd/bridge"},
	"go.etcd.io/bbolt":                      {"bridge/store", "bridge/spool"},
	"github.com/redis/go-redis":             {"bridge/store", "bridge/spool", "bridge/bench/bare"},
	"github.com/prometheus/client_golang":   {"bridge/app"},
	"github.com/theory/jsonpath":            {"mapping/path"},
	"github.com/goccy/go-yaml":              {"internal/strictyaml", "bridge/provider"},
	"golang.org/x/oauth2":                   {"salesforce"},
	"github.com/santhosh-tekuri/jsonschema": {"mapping"},
}

type goPackage struct {
	ImportPath string
	Imports    []string
}

func packages(t *testing.T) []goPackage {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports", module+"...")
	out, err := cmd.Output()
	require.NoError(t, err)
	var list []goPackage
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		err := d.Decode(&p)
		if errors.Is(err, io.EOF) {
			return list
		}
		require.NoError(t, err)
		list = append(list, p)
	}
}

func TestArrowsGoOneWay(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		here := strings.TrimPrefix(p.ImportPath, module)
		row, allowed, ok := rowOf(here)
		if !assert.True(t, ok, "%s has no row in the import table", here) {
			continue
		}
		for _, imported := range p.Imports {
			if there, ours := strings.CutPrefix(imported, module); ours {
				assert.True(t, within(there, here) || within(there, row) || anyWithin(there, allowed), "%s must not import %s", here, there)
			}
			assert.True(t, homely(here, imported), "%s must not import %s: it has a home of its own", here, imported)
		}
	}
}

func TestMappingAndSalesforceDontKnowEachOther(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		here := strings.TrimPrefix(p.ImportPath, module)
		for _, imported := range p.Imports {
			there := strings.TrimPrefix(imported, module)
			assert.False(t, within(here, "mapping") && within(there, "salesforce"), "%s imports %s", here, there)
			assert.False(t, within(here, "salesforce") && within(there, "mapping"), "%s imports %s", here, there)
			assert.False(t, within(here, "salesforce/simorg") && (there == "salesforce" || within(there, "salesforce/soql") || within(there, "salesforce/auth")),
				"%s imports %s: the simulated org must share no wire shapes with the client", here, there)
		}
	}
}

func rowOf(here string) (row string, allowed []string, ok bool) {
	for prefix, list := range mayImport {
		if within(here, prefix) && len(prefix) >= len(row) {
			row, allowed, ok = prefix, list, true
		}
	}
	return row, allowed, ok
}

func homely(here, imported string) bool {
	for prefix, homes := range onlyIn {
		if len(homes) > 0 && within(imported, prefix) && !within(here, "test") {
			return anyWithin(here, homes)
		}
	}
	return true
}

func anyWithin(path string, prefixes []string) bool {
	for _, p := range prefixes {
		if within(path, p) {
			return true
		}
	}
	return false
}

func within(path, prefix string) bool {
	return path == prefix || strings.HasPrefix(path, prefix+"/")
}
