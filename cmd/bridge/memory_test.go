package main

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/assert"

	"sfbridge/config"
)

// Not parallel: the settings are the process's.
func TestMemoryIsBoundedUnlessTheEnvironmentSaysOtherwise(t *testing.T) {
	limit, percent := debug.SetMemoryLimit(-1), debug.SetGCPercent(100)
	t.Cleanup(func() { debug.SetMemoryLimit(limit); debug.SetGCPercent(percent) })
	env := func(given ...string) config.Env {
		return config.Env{Lookup: func(name string) (string, bool) {
			for _, g := range given {
				if g == name {
					return "1", true
				}
			}
			return "", false
		}}
	}
	debug.SetMemoryLimit(1 << 40)
	boundMemory(env("GOMEMLIMIT", "GOGC"))
	assert.EqualValues(t, 1<<40, debug.SetMemoryLimit(-1))
	assert.Equal(t, 100, debug.SetGCPercent(100))

	boundMemory(env())
	assert.EqualValues(t, memoryLimit, debug.SetMemoryLimit(-1))
	assert.Equal(t, garbageRatio, debug.SetGCPercent(100))
}
