package provider_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"sfbridge/bridge/provider"
)

func TestLoad(t *testing.T) {
	c, err := provider.Load()
	require.NoError(t, err)
	t.Log(c.Names())
}
