// Package bridge tells the story of an event, from a provider's delivery to
// the Salesforce records it changes. Each step is a package of its own:
//
//	POST /webhooks/{source}
//	 1 verify     raw bytes, before any parsing        bridge/verify
//	 2 identify   which event(s), object, order        bridge/identify
//	 3 stage      insert Inbound_Event__c, answer 2xx  bridge/stage
//	     ... durable in Salesforce ...
//	 4 poll       rows that are due                    bridge/poll
//	 5 map        payload -> sObject records           mapping
//	 6 decide     read targets: stale? transition?     bridge/apply
//	 7 commit     one transaction: records + outcomes  bridge/apply
//	              + the outbox
//	 8 effects    deliver the outbox, own keys         bridge/effect
//	 9 reconcile  compare with the provider's truth    bridge/reconcile
//
// bridge/receive is the HTTP side of steps 1 to 3, bridge/provider holds the
// presets of the providers, bridge/event the staging row that all steps speak
// of, bridge/store what a process must remember over a crash, bridge/operate
// what a person does with rows (list, show, replay, discard, accept),
// bridge/console the same over HTTP, bridge/retain how they end, and bridge/app
// joins the parts into the commands of cmd/bridge.
//
// bridge/trial, bridge/propose, bridge/preflight, bridge/scaffold and
// bridge/export help to write a mapping and to fit the org to it, before the
// first event.
//
// Three identities are never mixed: the event (was this delivery seen?), the
// provider's object (which charge?) and the business record (which row of
// ours?). Source and object id together are the entity, the unit of ordering.
package bridge
