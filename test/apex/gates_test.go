package apexgates_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/test/harness"
)

const (
	classes = "force-app/main/default/classes/"
	parser  = "node_modules/@prettier-apex/apex-ast-serializer-linux-x64/apex-ast-serializer-linux-x64"
)

// seed is one mistake in a copy of the project.
type seed struct{ file, old, new, says string }

// gates look at a project; each has a mistake that it must find.
var gates = []struct {
	name string
	java bool
	args func(project string) []string
	seed seed
}{
	{
		"parse", false,
		func(project string) []string { return []string{"node", "parse.mjs", project} },
		seed{classes + "processor/BridgeSweep.cls", "ids.add(System", "ids.add((System", "BridgeSweep.cls"},
	},
	{
		"types", true,
		func(project string) []string { return []string{"node", "types.mjs", project} },
		seed{classes + "settings/BridgeSettings.cls", "= record.Enabled__c", "= record.Enabeld__c", "Enabeld__c"},
	},
	{
		"lint", true,
		func(project string) []string { return []string{"node", "lint.mjs", project} },
		seed{classes + "apply/BridgeHistory.cls", "    String text = ", "    if (history == null) {\n    }\n    String text = ", "EmptyStatementBlock"},
	},
	{
		"format", false,
		func(project string) []string {
			return []string{
				"node", "node_modules/prettier/bin/prettier.cjs", "--check", "--config", project + "/.prettierrc.json",
				"--plugin", "prettier-plugin-apex", project + "/{force-app,tests}/**/*.{cls,trigger}",
			}
		},
		seed{classes + "apply/BridgeHistory.cls", "  private BridgeHistory", "  private   BridgeHistory", ""},
	},
	{
		"names", false,
		func(project string) []string { return []string{"node", "names.mjs", project} },
		seed{classes + "processor/BridgeQueueLock.cls", "SELECT Id, Name__c", "SELECT Id, Nam__c", "Bridge_Queue__c has no field Nam__c"},
	},
	{
		"names in metadata", false,
		func(project string) []string { return []string{"node", "names.mjs", project} },
		seed{"force-app/main/default/permissionsets/Bridge_Operator.permissionset-meta.xml", ">BridgeReplayAction<", ">BridgeReplyAction<", "there is no class BridgeReplyAction"},
	},
	{
		"tests", false,
		func(project string) []string { return []string{"node", "interpret/run.mjs", parser, project} },
		seed{classes + "decide/BridgeStanding.cls", "return a < b ? -1 : 1;", "return a < b ? 1 : -1;", "BridgeNineChecksTest.out_of_order"},
	},
	{
		"arrivals", false,
		func(project string) []string { return []string{"node", "interpret/arrivals.mjs", parser, project} },
		seed{classes + "decide/BridgeDecision.cls", "comer().compareWith(new BridgeStanding(heldOrder", "comer().compareWith(new BridgeStanding(record.order", "by stripe:w, 0 open"},
	},
}

func TestGates(t *testing.T) {
	t.Parallel()
	if testing.Short() || os.Getenv("APEX_GATES") == "passed" {
		t.Skip("the gates take a minute; make apex runs them by themselves")
	}
	node := harness.NeedNode(t, "apex")
	for _, g := range gates {
		t.Run(g.name, func(t *testing.T) {
			t.Parallel()
			if g.java {
				needJava(t)
			}
			t.Run("clean", func(t *testing.T) {
				out, err := node.Run(t, harness.Command{Args: g.args(project(t))})
				require.NoError(t, err, "%s", out)
			})
			t.Run("seeded", func(t *testing.T) {
				out, err := node.Run(t, harness.Command{Args: g.args(seeded(t, g.seed))})
				require.Error(t, err, "the gate no longer finds its mistake")
				assert.Contains(t, string(out), g.seed.says)
			})
		})
	}
}

// The command line makes a deployable form of the product; it refuses a project
// whose folders don't exist.
func TestTheCommandLineConvertsTheSource(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts the sf command line")
	}
	clients := harness.NeedClients(t)
	convert := func(dir string) (string, error) {
		out := t.TempDir()
		program := filepath.Join(clients.Dir, "node_modules", "@salesforce", "cli", "bin", "run.js")
		_, err := clients.Run(t, harness.Command{
			Args: []string{"node", program, "project", "convert", "source", "--output-dir", out}, Dir: dir,
			Env: []string{"SF_DISABLE_TELEMETRY=true", "SF_AUTOUPDATE_DISABLE=true", "SF_SKIP_NEW_VERSION_CHECK=true", "SF_DISABLE_LOG_FILE=true"},
		})
		return out, err
	}
	out, err := convert(copied(t))
	require.NoError(t, err)
	manifest, err := os.ReadFile(filepath.Join(out, "package.xml"))
	require.NoError(t, err)
	for _, member := range []string{"InboundEventProcessor", "InboundEventTrigger", "Bridge_Replay", "Bridge_Setting.Default", "Inbound_Mapping__mdt"} {
		assert.Contains(t, string(manifest), "<members>"+member+"</members>")
	}
	assert.NotContains(t, string(manifest), "Payment__c<", "samples are not shipped")
	assert.NotContains(t, string(manifest), "BridgeTestKit", "nor are tests")

	_, err = convert(seeded(t, seed{"sfdx-project.json", `"force-app"`, `"forced-app"`, ""}))
	require.Error(t, err)
}

func needJava(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("java"); err == nil {
		return
	}
	const how = "this test needs java: apt-get install -y openjdk-17-jre-headless"
	if os.Getenv("CI") == "true" {
		require.Fail(t, how)
	}
	t.Skip(how)
}

func project(t *testing.T) string {
	t.Helper()
	return filepath.Join(harness.Root(t), "apex")
}

// copied is a copy of the project.
func copied(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "apex")
	require.NoError(t, os.CopyFS(dir, os.DirFS(project(t))))
	return dir
}

// seeded is a copy of the project with one mistake.
func seeded(t *testing.T, s seed) string {
	t.Helper()
	dir := copied(t)
	file := filepath.Join(dir, s.file)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(text), s.old, "the seed has no ground in %s", s.file)
	require.NoError(t, os.WriteFile(file, []byte(strings.Replace(string(text), s.old, s.new, 1)), 0o600))
	return dir
}
