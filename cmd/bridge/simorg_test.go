package main

import (
	"net"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSimorgSaysWhatToDoAboutAPortInUse(t *testing.T) {
	t.Parallel()
	var lc net.ListenConfig
	taken, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, taken.Close()) })
	r := bridge(t, nil, "", "simorg", "--listen", taken.Addr().String())
	assert.Equal(t, exitFailed, r.code)
	assert.Contains(t, r.err, taken.Addr().String()+" is in use: end the process that listens there, or give --listen another port")
}

// Each switch says what it is about before it says what becomes of that.
func TestSimorgHelpNamesTheFactOfASwitch(t *testing.T) {
	t.Parallel()
	assert.Contains(t, squeeze(switches()), "datetime-milliseconds DateTime fields keep whole seconds\nswitched: they keep milliseconds\n")
}
