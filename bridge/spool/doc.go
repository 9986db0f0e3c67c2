// Package spool makes accepted events durable where Salesforce can't take them
// in time, and brings them into Salesforce afterwards.
//
// An Engine is the place where they wait: a local file (File) or Redis Streams
// (Redis). Both are held to one suite, package spooltest. An engine keeps bytes
// in queues, the home queues of the events, and knows nothing of their meaning;
// Encode and Decode are the form in which a request for the stager waits.
//
// The Door decides at receipt which durable path an event takes:
//
//	staged   Salesforce, or nobody
//	spooled  the engine first; Salesforce when the engine takes nothing
//	auto     Salesforce within a time, else the engine
//
// The Drain brings what waits into Salesforce by itself. One process at a time
// works on a queue, in the order in which its events were taken in, one batch
// after the other. An entry is removed after its row is in the org and not
// before; whatever dies in between is staged again, and the unique event id
// tells that it was there. What Salesforce refuses for good is set apart, with
// the reason, and keeps nothing else waiting.
package spool
