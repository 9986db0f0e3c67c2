// Package clients holds the simulated org to programs that were written for
// Salesforce itself: jsforce and the sf command line. What they accept, expect
// and make of the answers is not of our making, so it is what the org is judged
// by. The independent signers that other tests use lie here too.
//
// The programs come from npm: (npm ci --ignore-scripts) in this folder.
package clients
