// Package fault breaks everything around and inside the running service while
// providers send, and asks afterwards whether every promise was kept.
//
// A scenario (scenarios_*_test.go) is a row of a table: what runs, what is
// broken when, what that allows. Each one is played with real traffic (package
// traffic) on real processes (package world) and judged by the ledger (package
// ledger). All are played with few events by `make test`, and with many by
// `make fault`, which writes the table of docs/reliability.md (package report).
package fault
