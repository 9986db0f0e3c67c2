// Package realinput sends what providers really send through the running
// product: every example payload of GitHub's own collection and every fixture
// of Stripe's own mock server, signed by the providers' own libraries. What
// must come of it is worked out from the files alone, by code that shares
// nothing with the product.
package realinput
