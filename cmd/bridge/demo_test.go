package main

import (
	"bytes"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/demo"
)

// TestADemoThatIsKeptUpTellsOfItsConsole: what is printed opens the console.
func TestADemoThatIsKeptUpTellsOfItsConsole(t *testing.T) {
	t.Parallel()
	d, err := demo.Start(t.Context(), demo.Config{Token: "of-this-test"})
	require.NoError(t, err)
	defer func() { assert.NoError(t, d.Close()) }()
	var said bytes.Buffer
	tellUp(&said, d)
	assert.Contains(t, said.String(), "console:       "+d.ConsoleURL()+"\n")
	assert.Contains(t, said.String(), "token:     of-this-test\n")
	assert.Contains(t, said.String(), d.URL())
	assert.Contains(t, said.String(), d.OrgURL())

	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, d.ConsoleURL(), nil)
	require.NoError(t, err)
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	reply, err := client.Do(r)
	require.NoError(t, err)
	require.NoError(t, reply.Body.Close())
	assert.Equal(t, http.StatusOK, reply.StatusCode)

	help := bridge(t, nil, "", "demo", "--help")
	assert.Equal(t, exitOK, help.code)
	assert.Contains(t, help.out, "console")
}
