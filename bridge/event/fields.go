package event

// Object is the API name of the staging object, ChunkObject that of the rows
// that hold a payload too large for it, QueueObject that of the lock rows.
const (
	Object      = "Inbound_Event__c"
	ChunkObject = "Inbound_Event_Chunk__c"
	QueueObject = "Bridge_Queue__c"
)

// Field names of Inbound_Event__c.
const (
	FieldID               = "Event_Id__c"
	FieldSource           = "Source__c"
	FieldType             = "Event_Type__c"
	FieldDeliveryID       = "Delivery_Id__c"
	FieldObjectID         = "Object_Id__c"
	FieldBusinessKey      = "Business_Key__c"
	FieldPayload          = "Payload__c"
	FieldEncoding         = "Payload_Encoding__c"
	FieldHash             = "Payload_Hash__c"
	FieldContext          = "Context__c"
	FieldTrust            = "Trust__c"
	FieldSourceTime       = "Source_Timestamp__c"
	FieldOrder            = "Source_Order__c"
	FieldReceivedAt       = "Received_At__c"
	FieldProcessedAt      = "Processed_At__c"
	FieldNextAttempt      = "Next_Attempt_At__c"
	FieldRevision         = "Revision__c"
	FieldExpectedRevision = "Expected_Revision__c"
	FieldStatus           = "Status__c"
	FieldOutcome          = "Outcome__c"
	FieldHomeQueue        = "Home_Queue__c"
	FieldQueue            = "Queue__c"
	FieldAttempts         = "Attempts__c"
	FieldReplayCount      = "Replay_Count__c"
	FieldDuplicateCount   = "Duplicate_Count__c"
	FieldLastDuplicateAt  = "Last_Duplicate_At__c"
	FieldMappingVersion   = "Mapping_Version__c"
	FieldTargetObject     = "Target_Object__c"
	FieldTargetID         = "Target_Id__c"
	FieldErrorCode        = "Error_Code__c"
	FieldError            = "Error__c"
	FieldHistory          = "History__c"
	FieldConflictOf       = "Conflict_Of__c"
)

// Field names of Inbound_Event_Chunk__c.
const (
	ChunkFieldEvent = "Event__c"
	ChunkFieldIndex = "Index__c"
	ChunkFieldData  = "Data__c"
)

// Field names of Bridge_Queue__c.
const (
	QueueFieldName    = "Name__c"
	QueueFieldTouched = "Touched__c"
	QueueFieldHorizon = "Horizon__c"
)

// Tokens that begin the messages of the two validation rules which refuse a
// write made on an old read.
const (
	TokenRevision = "REVISION" // Refuse_Old_Revision on Inbound_Event__c
	TokenMoved    = "MOVED"    // Refuse_Moved on targets
)

// keyFields identify a row, order it and guard its moves: all that a due query
// needs.
var keyFields = []string{
	"Id", FieldID, FieldSource, FieldType, FieldObjectID, FieldSourceTime, FieldOrder,
	FieldReceivedAt, FieldNextAttempt, FieldRevision, FieldStatus, FieldHomeQueue, FieldQueue,
	FieldAttempts, FieldErrorCode, FieldEncoding,
}

// detailFields are the rest without payload and context.
var detailFields = []string{
	FieldDeliveryID, FieldBusinessKey, FieldHash, FieldTrust, FieldProcessedAt, FieldOutcome,
	FieldReplayCount, FieldDuplicateCount, FieldLastDuplicateAt, FieldMappingVersion,
	FieldTargetObject, FieldTargetID, FieldError, FieldHistory, FieldConflictOf,
}

// KeyFields returns the fields that identify, order and guard a row.
func KeyFields() []string { return append([]string(nil), keyFields...) }

// AllFields returns every field of a row that FromRecord reads.
func AllFields() []string {
	all := append(KeyFields(), detailFields...)
	return append(all, FieldPayload, FieldContext)
}

// ListFields returns every field but payload and context.
func ListFields() []string { return append(KeyFields(), detailFields...) }
