package config_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/config"
)

// A command that needs the org alone works before there is any mapping file,
// and is as strict about all else.
func TestLoadOrgNeedsNoMappingFile(t *testing.T) {
	t.Parallel()
	const text = "salesforce: {auth: {flow: client_credentials, client_id: sim, client_secret: \"${S}\"}, login_url: https://acme.my.salesforce.com}\nmappings: [none/*.yaml]\n"
	file := filepath.Join(t.TempDir(), "bridge.yaml")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	_, err := config.Load(file)
	assert.ErrorContains(t, err, "no file fits")

	cfg, err := config.LoadOrg(file)
	require.NoError(t, err)
	filled, err := cfg.Fill(config.Env{Lookup: func(string) (string, bool) { return "secret", true }, ReadFile: os.ReadFile}, "salesforce")
	require.NoError(t, err)
	assert.Empty(t, filled.Mappings)

	require.NoError(t, os.WriteFile(file, []byte(text+"lissten: x\n"), 0o600))
	_, err = config.LoadOrg(file)
	assert.ErrorContains(t, err, "lissten")
	_, err = config.LoadOrg(file + ".gone")
	assert.ErrorContains(t, err, "can't be read")
}
