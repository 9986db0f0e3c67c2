package event

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// TextLimit is the length of the key fields of Inbound_Event__c in UTF-16
// units, the stricter of the units in which Salesforce may count.
const TextLimit = 255

// Queues is the number of queues of each processor.
const Queues = 16

const (
	conflictMark = "#conflict:"
	conflictHash = 16
	repairMark   = ":reconcile:"
)

// ID builds Event_Id__c from the source and the event's key. A result that
// would be too long is "<source>:sha256:<hex of the key>".
func ID(source, key string) string {
	id := source + ":" + key
	if UTF16Len(id) <= TextLimit {
		return id
	}
	return source + ":" + hashed(key)
}

// ConflictID is the Event_Id__c of a delivery that came under a known id with
// other content. The same conflict always gets the same id.
func ConflictID(id, hash string) string {
	suffix := conflictMark + hash[:min(conflictHash, len(hash))]
	if UTF16Len(id)+UTF16Len(suffix) > TextLimit {
		id = HashedID(id)
	}
	return id + suffix
}

// HashedID is an event id with its key hashed, whatever its length: the id of an
// event that can't be stored under its own.
func HashedID(id string) string {
	source, key, _ := strings.Cut(id, ":")
	return source + ":" + hashed(key)
}

// IsConflict tells a conflict row by its event id; "#" is escaped in the ids
// of providers.
func IsConflict(id string) bool { return strings.Contains(id, conflictMark) }

// IsRepair tells an event that reconciliation made by its event id; a leading
// "reconcile:" is escaped in the ids of providers.
func IsRepair(id string) bool {
	_, rest, found := strings.Cut(id, ":")
	return found && strings.HasPrefix(":"+rest, repairMark)
}

// RepairID is the Event_Id__c of an event that a sweep of reconciliation (begun
// at a time in epoch milliseconds) makes of an object as it stands at an order
// value. One that would be too long has its object hashed and is a repair still.
func RepairID(source, object string, order, sweep int64) string {
	end := fmt.Sprintf(":%d:%d", order, sweep)
	id := RepairPrefix(source) + object + end
	if UTF16Len(id) <= TextLimit {
		return id
	}
	return RepairPrefix(source) + hashed(object) + end
}

// RepairPrefix begins the event ids of a source's repairs.
func RepairPrefix(source string) string { return source + repairMark }

// Entity is the unit of ordering: "<source>:<object id>", or the event id
// (which begins with the source) when the event names no object.
func Entity(source, objectID, eventID string) string {
	if objectID == "" {
		return eventID
	}
	return source + ":" + objectID
}

// ProcessorKind is who works on the rows of a source.
type ProcessorKind string

const (
	ByBridge ProcessorKind = "bridge" // queues B00 to B15
	ByOrg    ProcessorKind = "org"    // queues O00 to O15
)

// Prefix is the letter that the queues of the processor begin with.
func (p ProcessorKind) Prefix() string {
	if p == ByOrg {
		return "O"
	}
	return "B"
}

// HomeQueue is the queue of an entity: one entity always falls into one queue.
func HomeQueue(p ProcessorKind, entity string) string {
	sum := sha256.Sum256([]byte(entity))
	return QueueName(p, int(sum[0])%Queues)
}

// LockQueue is the queue whose lock row a transaction updates before it writes a
// record that events of several entities may write. It is a queue of the bridge
// whoever processes the event.
func LockQueue(object, key string) string {
	return HomeQueue(ByBridge, BusinessKey(strings.ToLower(object), key))
}

// QueueName is the name of queue n (0 to 15) of a processor.
func QueueName(p ProcessorKind, n int) string { return fmt.Sprintf("%s%02d", p.Prefix(), n) }

// SisterQueue is the queue of the same entities under the other processor:
// B03 for O03 and the reverse.
func SisterQueue(queue string) string {
	switch {
	case strings.HasPrefix(queue, "B"):
		return "O" + queue[1:]
	case strings.HasPrefix(queue, "O"):
		return "B" + queue[1:]
	}
	return queue
}

// BusinessKey is "<Object>:<key>", with the key hashed when it is too long.
func BusinessKey(object, key string) string {
	full := object + ":" + key
	if UTF16Len(full) <= TextLimit {
		return full
	}
	return object + ":" + hashed(key)
}

// ShapeObjectID fits a provider's object id into Object_Id__c.
func ShapeObjectID(id string) string {
	if UTF16Len(id) <= TextLimit {
		return id
	}
	return hashed(id)
}

func hashed(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// UTF16Len counts the UTF-16 units of s; an invalid byte counts as one.
func UTF16Len(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xFFFF {
			n++
		}
	}
	return n
}

// Cut shortens s to at most limit UTF-16 units, never inside a code point.
func Cut(s string, limit int) string {
	n := 0
	for i, r := range s {
		n++
		if r > 0xFFFF {
			n++
		}
		if n > limit {
			return s[:i]
		}
	}
	return s
}

// MaxOrder is the largest order value that a Salesforce number field keeps
// exactly.
const MaxOrder = int64(1) << 53

// OrderInRange says whether Source_Order__c can hold the value exactly.
func OrderInRange(v int64) bool { return v >= -MaxOrder && v <= MaxOrder }
