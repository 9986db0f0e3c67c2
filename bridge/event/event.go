// Package event holds the domain of the bridge: the staging row
// Inbound_Event__c, its states, its identities, and the rules that every step
// and the Apex package share. It knows nothing of HTTP, of Salesforce's API or
// of mappings.
package event

import "time"

// Trust says how much of a delivery the sender vouched for.
type Trust string

const (
	SignedBody          Trust = "SignedBody"          // the whole body is under the signature
	SignedPartial       Trust = "SignedPartial"       // some members are under the signature
	AuthenticatedCaller Trust = "AuthenticatedCaller" // the caller proved who it is, the body is not covered
	Unsigned            Trust = "Unsigned"            // nothing was proved
)

// Trusts lists the picklist values of Trust__c.
var trusts = []Trust{SignedBody, SignedPartial, AuthenticatedCaller, Unsigned}

// Trusts returns the values of Trust__c in picklist order.
func Trusts() []Trust { return append([]Trust(nil), trusts...) }

// Event is one row of Inbound_Event__c. A zero time, an empty string and a nil
// number mean null in Salesforce.
type Event struct {
	RowID string // Salesforce id; empty until the row is staged

	ID         string // Event_Id__c: "<source>:<event key>"
	Source     string
	Type       string
	DeliveryID string
	ObjectID   string // the provider's object; empty when the event names none

	BusinessKey string // "<Object>:<key>" of the guard record, written with the outcome

	Payload  []byte // the event's bytes, whatever Encoding stores them as
	Encoding Encoding
	Hash     string // lower-case hex SHA-256, see HashJSON and HashBytes
	Context  []byte // compact JSON of the header.* and $$ values the mapping names

	Trust      Trust
	SourceTime time.Time // for people, and the order in which due rows are fetched
	Order      *int64    // epoch milliseconds or a version; nil: the event has no order

	ReceivedAt  time.Time
	ProcessedAt time.Time
	NextAttempt time.Time

	Revision int64

	Status    Status
	Outcome   Outcome
	HomeQueue string
	Queue     string // HomeQueue while Received or Retryable, else empty

	Attempts        int
	ReplayCount     int
	DuplicateCount  int
	LastDuplicateAt time.Time

	MappingVersion string
	TargetObject   string
	TargetID       string
	ErrorCode      string
	Error          string
	History        string
	ConflictOf     string // row id of the event this one conflicts with
}

// Entity is the unit of ordering: source and provider object, or the event
// itself when it names no object.
func (e *Event) Entity() string { return Entity(e.Source, e.ObjectID, e.ID) }

// Open says whether a processor still has to work on the row.
func (e *Event) Open() bool { return e.Status.Open() }

// Cleared says whether retention has cleared the payload: the row tells that
// the event was there and how it ended, but can't be worked on again.
func (e *Event) Cleared() bool { return e.Encoding == "" }
