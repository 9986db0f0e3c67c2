// Package simorg is a simulated Salesforce org: the REST API over objects read
// from SFDX source folders, strict enough to stand in for the real one in
// tests, demos and benchmarks.
//
//	srv, err := simorg.New(simorg.Config{Samples: true})
//	err = srv.Start()             // listens on Config.Listen, 127.0.0.1:0 by default
//	defer srv.Close()
//	client.Use(srv.URL(), srv.AccessToken())
//
// Handler serves the same without a listener. Faults are planted with
// AddFaults or POST /_sim/faults; Stats and Rows look inside without an API
// call. Everything is in memory and safe for concurrent use.
package simorg
