// Package failures is the list of what may go wrong around one event, and of the
// tests that make it go wrong on the running service, with kill -9 where that
// makes it worse. README.md is the list; a test compares it with the tests that
// exist.
package failures
