// Package identify finds the events in a delivery whose signature is right:
// which event it is, of which type, about which object of the provider, and
// where it stands in the order of that object's events.
//
//	id, err := identify.New(identify.Config{Source: "stripe", Identity: identity, Context: paths})
//	...
//	doc, err := id.Read(identify.Delivery{Header: h, Body: raw, ReceivedAt: now})
//	events, err := doc.Events()
//
// Between the two stands whatever answers a delivery that is no event, such as
// a provider's handshake: doc.Value is the decoded body.
//
// Identity says where the values stand, as paths and templates of a mapping. A
// preset of the provider gives one, a mapping file overrides parts of it
// (Identity.With).
//
// A delivery that holds no event at all (empty, not JSON, no id) is a
// *Refusal; its Kind tells the receiver how to answer. Of a batch, one event
// comes out per element, in order; an element that can't be identified becomes
// an event of its own that waits for a person and doesn't keep its neighbours
// from being staged. A batch without elements holds no events and no error.
//
// Payload is always the bytes of the delivery, or of the element in it, exactly
// as they came. Bytes that are not UTF-8 don't lose a delivery: what can be
// identified is staged for a person, with its bytes.
package identify
