package harness

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// Result is what a command has said.
type Result struct {
	Out, Err string
	Code     int
}

// Invoke runs the product with the arguments to its end, in an empty
// environment beside env (NAME=value).
func Invoke(t testing.TB, env []string, args ...string) Result {
	t.Helper()
	cmd := exec.CommandContext(Patient(t), Build(t), args...)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}, env...)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	return Result{Out: out.String(), Err: errOut.String(), Code: cmd.ProcessState.ExitCode()}
}
