// Command quick is the service with leases that end soon, for tests in which
// processes die or stand still.
//
//	quick serve --config bridge.yaml [--only ROLES] [--debug]
package main

import (
	"time"

	"sfbridge/bridge/app"
	"sfbridge/test/service"
)

// leaseTTL is how long the others wait for a process that says nothing.
const leaseTTL = 3 * time.Second

func main() { service.Main(func(o *app.Options) { o.LeaseTTL = leaseTTL }) }
