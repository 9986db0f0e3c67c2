package main

import (
	"runtime/debug"

	"sfbridge/config"
)

// The service is to live in 128 MiB. About 25 MiB of that are the program
// itself, which the limit doesn't count. Within the limit the collector may be
// lazier than by default.
const (
	memoryLimit  = 92 << 20
	garbageRatio = 200
)

// boundMemory sets how the service uses memory, unless the environment says
// otherwise (GOMEMLIMIT, GOGC). The limit is soft: large payloads may exceed it.
func boundMemory(env config.Env) {
	if _, given := env.Lookup("GOMEMLIMIT"); !given {
		debug.SetMemoryLimit(memoryLimit)
	}
	if _, given := env.Lookup("GOGC"); !given {
		debug.SetGCPercent(garbageRatio)
	}
}
