// Package receive is the HTTP side of steps 1 to 3 of the way of an event:
// POST /webhooks/{source}, with /healthz and /readyz beside it.
//
// A delivery is checked in this order: source, method, size, content encoding,
// signature, content type, content. What passes is handed to the stager, and a
// 2xx means that every event of the delivery is durable. Bad input is never a
// 500, an answer is never a redirect or 410, and a sender never learns what
// was wrong with a signature.
//
// What comes in is bounded. Pool is the memory of deliveries in flight, with a
// part kept for each source; a source that sends more than fits is answered 429
// at once, and so is one above its rate. When it has no room left, bodies that
// have been coming for more than five seconds are broken off for those that come
// now. Connections is how many connections are open: when one more comes, the one
// that has kept us waiting the longest is closed, be it with a request or by not
// reading its answer. So senders that flood, or send a byte a second, or nothing,
// or read nothing, take nothing from the others.
package receive
