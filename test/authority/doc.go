// Package authority has the running service load objects from a real peer, the
// mock server that Stripe publishes, before it maps the events that name them.
package authority
