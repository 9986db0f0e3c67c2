// Package simorg is a simulated Salesforce org: the REST API over objects read
// from SFDX source folders, strict enough to stand in for the real one in
// tests, demos and benchmarks.
//
//	srv, err := simorg.New(simorg.Config{Samples: true})
//	err = srv.Start()             // listens on Config.Listen, 127.0.0.1:0 by default
//	defer srv.Close()
//	client.Use(srv.URL(), srv.AccessToken())
//
// Handler serves the same without a listener. Everything is in memory and safe
// for concurrent use.
//
// # What it serves
//
// OAuth token requests (JWT bearer, client credentials), SOAP login (any user,
// password "sim"), versions, user info, rows, collections, composite, graph,
// batch and tree, queries, describes, limits, Bulk 2.0 ingest and the names of
// validation rules (Tooling API). The parts:
// org is the database, rest the API over it, login the sessions, fault the
// planted faults; schema, formula and soql read metadata, rules and queries.
//
// It refuses what Salesforce refuses, with its codes and shapes, and keeps
// what makes clients stumble: text is trimmed, numbers come back as doubles
// (1.796034265123E12), date-times lose their milliseconds, a rolled back
// collection may still claim success, upserts of one new key race. Where no
// source says how Salesforce behaves, UnsureSwitches lists the other plausible
// way.
//
// # Looking inside and breaking things
//
// Stats and Rows look inside without an API call. AddFaults plants faults, and
// so does POST /_sim/faults; GET /_sim/stats, DELETE /_sim/faults and
// POST /_sim/reset do the same for other processes. These routes answer on
// loopback only.
//
// # Time
//
// Config.Latency passes a quarter before, half inside and a quarter after the
// transaction of a call, whether its client still waits or not. Row locks are
// held for the inner half, so writers of one row wait for each other as they
// would; all others run side by side.
package simorg
