package providers

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/test/harness"
)

var (
	fileBlock = regexp.MustCompile("(?s)<!-- file: (\\S+) -->\n```\\w+\n(.*?)```")
	runBlock  = regexp.MustCompile("(?s)<!-- run -->\n```sh\n(.*?)```")
)

// TestTheGuideWorks does what docs/sources.md says: its files, its commands, in
// its order.
func TestTheGuideWorks(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(harness.Root(t), "docs", "sources.md"))
	require.NoError(t, err)
	dir := t.TempDir()
	files := map[string]string{}
	for _, m := range fileBlock.FindAllStringSubmatch(string(page), -1) {
		files[m[1]] = m[2]
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, m[1])), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, m[1]), []byte(m[2]), 0o600))
	}
	require.Len(t, files, 9)
	mappings := map[string]string{}
	for name, text := range files {
		if base, ok := strings.CutPrefix(name, "mappings/"); ok {
			mappings[base] = text
		}
	}
	secrets := map[string]string{
		"STRIPE_SECRET": "whsec_demo", "SHOPIFY_SECRET": "demo-shop", "HUBSPOT_SECRET": "demo-hub", "ERP_SECRET": "demo-erp",
		"SF_CLIENT_SECRET": "sim",
	}
	org := harness.StartOrg(t, "--samples")
	bridge := harness.StartBridge(t, harness.Config{Org: org, Mappings: mappings, Env: secrets})
	settings := strings.NewReplacer("http://127.0.0.1:8089", org.URL, "127.0.0.1:8080", "127.0.0.1:0", "127.0.0.1:8081", "127.0.0.1:0").Replace(files["bridge.yaml"])
	require.NoError(t, os.WriteFile(filepath.Join(dir, "bridge.yaml"), []byte(settings), 0o600))

	outputs := map[string]string{}
	for _, m := range runBlock.FindAllStringSubmatch(string(page), -1) {
		for _, line := range strings.Split(strings.TrimSpace(m[1]), "\n") {
			if strings.HasPrefix(line, "bridge events") {
				settled(t, org)
			}
			outputs[line] = command(t, bridge, dir, secrets, line)
		}
	}
	require.Len(t, outputs, 8)
	for line, out := range outputs {
		switch {
		case strings.HasPrefix(line, "bridge send"):
			var sent struct{ Sent, Accepted int }
			require.NoError(t, json.Unmarshal([]byte(out), &sent), out)
			assert.Equal(t, []int{2, 2}, []int{sent.Sent, sent.Accepted}, "%s: %s", line, out)
		case strings.HasPrefix(line, "bridge events"):
			for _, id := range []string{"stripe:evt_1", "shopify:orders/updated:", "hubspot:62515:12345:1:1767225600000:123", "hubspot:62515:12345:2:", "erp:R-2026-001:3"} {
				assert.Contains(t, out, id)
			}
			assert.Equal(t, 5, strings.Count(out, `"Completed"`), out)
		case strings.HasPrefix(line, "bridge sources"):
			assert.Equal(t, 4, strings.Count(out, `"last_delivery":{`), out)
		}
	}
}

// settled waits until the five events of the guide are done.
func settled(t *testing.T, org *harness.Org) {
	t.Helper()
	org.Eventually(t, "the events of the guide are not done", func(context.Context) (bool, error) {
		return org.Count(t, "SELECT Id FROM Inbound_Event__c WHERE Status__c = 'Completed'") == 5, nil
	})
}

// command runs a line of the guide in its folder.
func command(t *testing.T, b *harness.Bridge, dir string, secrets map[string]string, line string) string {
	t.Helper()
	var args, env []string
	for _, word := range strings.Fields(line)[1:] {
		word = strings.Replace(word, "http://127.0.0.1:8080", b.URL(), 1)
		if _, err := os.Stat(filepath.Join(dir, word)); err == nil {
			word = filepath.Join(dir, word)
		}
		args = append(args, word)
	}
	for name, value := range secrets {
		env = append(env, name+"="+value)
	}
	r := harness.Invoke(t, env, args...)
	require.Equal(t, 0, r.Code, "%s: %s%s", line, r.Out, r.Err)
	return r.Out
}
