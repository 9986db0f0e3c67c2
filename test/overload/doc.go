// Package overload floods the real binary: more than it can take, senders that
// are slow or send nothing, huge headers, large bodies. What counts is the
// outcome: the deliveries of a good source are all accepted meanwhile, what is
// refused is refused as too much, memory stays within its bound, and afterwards
// nothing is left open.
//
// OVERLOAD_CONNECTIONS=10000 opens more connections than the tests do by default.
package overload
