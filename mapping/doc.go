// Package mapping turns a provider's event into Salesforce records, as a YAML
// file says.
//
//	file, err := mapping.Load("stripe.yaml")   // err is *Problems: every mistake
//	route, ok := file.Route(input)             // the first that fits
//	records, errs := route.Records(input)      // errs: the event goes to review
//
// A file is loaded strictly: unknown keys, doubles, routes that no event
// reaches, fields with two owners and everything else that can't be meant is
// reported with file, line, column, path and what to write instead. What runs
// but may surprise is a warning (File.Warnings).
//
// The compiled form is one canonical JSON text (File.Canonical) whose hash is
// the mapping's version. References to secrets stay references in it.
//
// Mapping is a pure function: the same event gives the same records, on every
// machine and in every run. Files are immutable and safe for concurrent use.
//
// The package knows neither signatures nor Salesforce's API: parts of a file
// that concern others (Verify, Event, Params) are plain data for the caller to
// hand on.
package mapping
