package harness

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Clients is a folder of programs for node, with their npm packages beside
// them.
type Clients struct{ Dir string }

// NeedClients finds the independent clients and signers.
func NeedClients(t testing.TB) Clients {
	t.Helper()
	return NeedNode(t, "clients")
}

// NeedNode finds node and the npm packages of a folder below test. Without them
// the test is skipped, or fails where everything must be tested (CI=true).
func NeedNode(t testing.TB, folder string) Clients {
	t.Helper()
	dir := filepath.Join(Root(t), "test", folder)
	_, nodeErr := exec.LookPath("node")
	_, dirErr := os.Stat(filepath.Join(dir, "node_modules"))
	if nodeErr == nil && dirErr == nil {
		return Clients{dir}
	}
	how := "this test needs node and npm packages; get them with: (cd test/" + folder + " && npm ci --ignore-scripts)"
	if os.Getenv("CI") == "true" {
		require.Fail(t, how)
	}
	t.Skip(how)
	return Clients{}
}

// Command is one run of a program.
type Command struct {
	Args  []string // program and arguments
	Dir   string   // where it runs; empty: the clients' folder
	Env   []string // beside PATH and a HOME of its own
	Stdin []byte
}

// Run runs a command and returns its standard output; a failure of the command
// is an error that the test may look at, with the error output.
func (c Clients) Run(t testing.TB, command Command) ([]byte, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, command.Args[0], command.Args[1:]...)
	cmd.Dir = c.Dir
	if command.Dir != "" {
		cmd.Dir = command.Dir
	}
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}, command.Env...)
	cmd.Stdin = bytes.NewReader(command.Stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Logf("%v: %v\n%s%s", command.Args, err, out, stderr.Bytes())
	}
	return out, err
}
