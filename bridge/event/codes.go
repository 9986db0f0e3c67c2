package event

// Values of Error_Code__c that the bridge itself decides. Failures that
// Salesforce reports keep Salesforce's code.
const (
	CodeUnmatched  = "UNMATCHED"  // no route of the mapping matches
	CodeField      = "FIELD"      // a field of the mapping can't take its value
	CodePayload    = "PAYLOAD"    // the payload can't be read
	CodeSchema     = "SCHEMA"     // the payload fails the route's JSON Schema
	CodeNoID       = "NO_ID"      // a batch element without an event id
	CodeOrder      = "ORDER"      // an order value that is missing its form or beyond 2^53
	CodeTooOld     = "TOO_OLD"    // older than what retention has deleted: can't be deduplicated
	CodeAbandoned  = "ABANDONED"  // the process crashed on this row too often
	CodeConflict   = "CONFLICT"   // same event id, other content
	CodeTransition = "TRANSITION" // newer, but the state can't be reached from the target's
	CodeParent     = "NO_PARENT"  // a parent record is missing
	CodeTarget     = "NO_TARGET"  // an update whose target is missing
	CodeAmbiguous  = "AMBIGUOUS"  // several target records share the key
	CodeAttempts   = "ATTEMPTS"   // attempts used up
	CodeMapping    = "NO_MAPPING" // no mapping is configured for the source
	CodeTooLarge   = "TOO_LARGE"  // writes more records than one transaction takes
	CodeCaseFold   = "CASE_FOLD"  // another event's id differs only in letter case
	CodeUnreadable = "UNREADABLE" // chunks of the payload are missing
	CodeLock       = "LOCK"       // the record stayed locked
	CodeConfig     = "CONFIG"     // the org refuses what the mapping names
	CodeDeleted    = "DELETED"    // the record was deleted while the event was under way
	CodeEffect     = "EFFECT"     // a side effect failed for good
	CodeAuthority  = "AUTHORITY"  // the provider's own object can't be had
	CodeMoved      = "MOVED"      // the target kept changing under the decision
)
