// Package providers holds the presets to what providers really do, through the
// real HTTP route of a real bridge whose stager only remembers: the recorded
// vectors and handshakes, batches, exact answers, secrets that come in a
// handshake, and keys that are fetched.
package providers
