package crash_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/test/harness"
)

// SIGHUP takes mappings and secrets over when all of them are right. A broken
// one is named in the log and the old ones go on working.
func TestReload(t *testing.T) {
	t.Parallel()
	w := start(t)
	events := deliveries(5)
	require.Equal(t, "accepted", post(t, w.bridge, events[0]))
	w.org.Settle(t)

	for what, text := range map[string]string{
		"unknown key":    mapping + "extrenal_id: x\n",
		"not YAML":       "source: [shop\n",
		"secret not set": strings.ReplaceAll(mapping, "SHOP_SECRET", "OTHER_SECRET"),
		"another source": strings.ReplaceAll(mapping, "source: shop", "source: Shop!"),
	} {
		line := reload(t, w, text)
		assert.Contains(t, line, `"level":"ERROR"`, what)
		assert.Contains(t, line, "the old mappings and secrets stay in use", what)
		assert.Contains(t, line, "shop.yaml", what)
	}
	require.Equal(t, "accepted", post(t, w.bridge, events[1]))
	w.org.Settle(t)
	checkAll(t, w.org, events[:2])

	assert.Contains(t, reload(t, w, strings.ReplaceAll(mapping, "Note__c: $.note", `Note__c: {template: "new {$.note}"}`)), "reloaded")
	require.Equal(t, "accepted", post(t, w.bridge, events[3]))
	w.org.Settle(t)
	assert.Equal(t, 1, w.org.Count(t, "SELECT COUNT() FROM Payment__c WHERE Note__c = 'new first'"))

	assert.Contains(t, reload(t, w, strings.ReplaceAll(mapping, "source: shop", "source: store")), "reloaded")
	answer, err := w.bridge.Post(t.Context(), "shop", signed(events[4].body()), events[4].body())
	require.NoError(t, err)
	assert.Equal(t, http.StatusNotFound, answer.Status, "the source has gone")
	w.bridge.Stop(t)
}

// reload writes the mapping, sends SIGHUP and returns what the service says.
func reload(t *testing.T, w world, text string) string {
	t.Helper()
	file := filepath.Join(w.bridge.Config.Dir, "mappings", "shop.yaml")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	mark := w.bridge.Log().Mark()
	w.bridge.Signal(t, syscall.SIGHUP)
	line, ok := w.bridge.Log().Wait(harness.Patient(t), mark, "mappings and secrets")
	require.True(t, ok)
	return line
}
