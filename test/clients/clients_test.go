package clients_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/salesforce/simorg"
)

// startOrg runs an org with the sample objects in this process.
func startOrg(t *testing.T, cfg simorg.Config) *simorg.Server {
	t.Helper()
	cfg.Samples = true
	org, err := simorg.New(cfg)
	require.NoError(t, err)
	require.NoError(t, org.Start())
	t.Cleanup(func() { assert.NoError(t, org.Close()) })
	return org
}
