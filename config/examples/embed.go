// Package examples holds settings and mapping files to begin with. They are
// what the demo runs, so they work.
package examples

import _ "embed"

// Stripe is a mapping of Stripe's charges, customers and invoice lines to the
// sample objects.
//
//go:embed stripe.yaml
var Stripe []byte
