package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestSecretsComeFromVariablesFilesAndFlags, all of them beside each other, and
// one that is wrong shows nothing of its value.
func TestSecretsComeFromVariablesFilesAndFlags(t *testing.T) {
	t.Parallel()
	file := write(t, t.TempDir(), "secret", "from-a-file\n")
	flags := secretFlags{names: []string{"A"}, files: []string{file}, given: []string{"from-the-flag"}}
	read := func(value string) ([]string, error) {
		env := system()
		env.env.Lookup = func(name string) (string, bool) { return value, name == "A" }
		return flags.read(env)
	}
	secrets, err := read("from-a-variable")
	require.NoError(t, err)
	assert.Equal(t, []string{"from-a-variable", "from-a-file", "from-the-flag"}, secrets)
	_, err = read("  ")
	assert.ErrorContains(t, err, "${A}")
}

func hmacHex(key, body string) string {
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(body))
	return hex.EncodeToString(mac.Sum(nil))
}

func TestAVerdictWithASecretFromAVariable(t *testing.T) {
	t.Parallel()
	body := write(t, t.TempDir(), "body.json", `{"id":"1"}`)
	args := []string{"verify", "--provider", "generic", "--body", body, "--secret-env", "SECRET",
		"--header", "X-Signature: " + hmacHex("s3cret-value", `{"id":"1"}`)}
	r := bridge(t, map[string]string{"SECRET": "s3cret-value"}, "", args...)
	assert.Contains(t, r.out, `"valid":true`, r.err)
	r = bridge(t, map[string]string{"SECRET": "canary-value"}, "", args...)
	assert.Equal(t, exitFailed, r.code)
	assert.Contains(t, r.out, `"valid":false`)
	assert.NotContains(t, r.out+r.err, "canary-value")
}
