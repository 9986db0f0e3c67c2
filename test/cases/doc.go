// Package cases holds faults that people who run integrations like this one
// have met, as deliveries to the running service and records in the simulated
// org. README.md lists every case and the tests that hold it, here and beside
// the code; a test compares the list with the tests that exist.
package cases
