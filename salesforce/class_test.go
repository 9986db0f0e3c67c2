package salesforce_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"sfbridge/salesforce"
)

type answer = salesforce.Answer

func TestClassify(t *testing.T) {
	t.Parallel()
	row := func(code, message string) answer { return answer{Code: code, Message: message, Write: true} }
	call := func(status int, code, message string) answer {
		return answer{Status: status, Code: code, Message: message, Write: true}
	}
	read := func(status int, code, message string) answer {
		return answer{Status: status, Code: code, Message: message}
	}
	upsert := func(message string) answer {
		return answer{Code: "DUPLICATE_VALUE", Message: message, Write: true, KeyField: "Event_Id__c"}
	}
	cases := []struct {
		name string
		in   answer
		want salesforce.Class
	}{
		{"session expired", call(401, "INVALID_SESSION_ID", "Session expired or invalid"), salesforce.ClassAuth},
		{"auth header", call(401, "INVALID_AUTH_HEADER", ""), salesforce.ClassAuth},
		{"API disabled", call(403, "API_DISABLED_FOR_ORG", ""), salesforce.ClassConfiguration},
		{"API switched off", call(403, "API_CURRENTLY_DISABLED", ""), salesforce.ClassConfiguration},
		{"daily limit", call(403, "REQUEST_LIMIT_EXCEEDED", "TotalRequests Limit exceeded."), salesforce.ClassLimit},
		{"concurrency limit", call(403, "REQUEST_LIMIT_EXCEEDED", "ConcurrentRequests (Concurrent API Requests) Limit exceeded."), salesforce.ClassLimit},
		{"Apex requests", call(400, "TOO_MANY_APEX_REQUESTS", ""), salesforce.ClassLimit},
		{"quota", row("EXCEEDED_QUOTA", ""), salesforce.ClassLimit},
		{"limit", row("LIMIT_EXCEEDED", ""), salesforce.ClassLimit},
		{"storage", row("STORAGE_LIMIT_EXCEEDED", "storage limit exceeded"), salesforce.ClassLimit},
		{"server busy, write", call(503, "SERVER_UNAVAILABLE", "Server too busy"), salesforce.ClassUnknownOutcome},
		{"server busy, read", read(503, "SERVER_UNAVAILABLE", "Server too busy"), salesforce.ClassRetryable},
		{"unknown exception", call(500, "UNKNOWN_EXCEPTION", "An unexpected error occurred."), salesforce.ClassRetryable},
		{"row lock", row("UNABLE_TO_LOCK_ROW", "unable to obtain exclusive access to this record or 2 records: 001"), salesforce.ClassRetryable},
		{"query time-out", read(400, "QUERY_TIMEOUT", "Your query request was running for too long."), salesforce.ClassRetryable},
		{"request too long", call(400, "REQUEST_RUNNING_TOO_LONG", ""), salesforce.ClassRetryable},
		{"maintenance", row("INSERT_UPDATE_DELETE_NOT_ALLOWED_DURING_MAINTENANCE", ""), salesforce.ClassRetryable},
		{"org in maintenance", call(503, "ORG_IN_MAINTENANCE", ""), salesforce.ClassRetryable},
		{"approval lock", row("ENTITY_IS_LOCKED", ""), salesforce.ClassRetryable},
		{"cursor gone", read(400, "INVALID_QUERY_LOCATOR", ""), salesforce.ClassRetryable},

		{"duplicate on insert", row("DUPLICATE_VALUE", "duplicate value found: Event_Id__c duplicates value on record with id: a015f00000AbCdE"), salesforce.ClassDuplicate},
		{"duplicate, nothing named", row("DUPLICATE_VALUE", "duplicate value found: <unknown> duplicates value on record with id: <unknown>"), salesforce.ClassDuplicate},
		{"upsert lost a race for its key", upsert("duplicate value found: Event_Id__c duplicates value on record with id: a015f00000AbCdE"), salesforce.ClassRetryable},
		{"upsert, key in another case", upsert("duplicate value found: event_id__c duplicates value on record with id: a015f00000AbCdE"), salesforce.ClassRetryable},
		{"upsert met another unique field", upsert("duplicate value found: Email__c duplicates value on record with id: a015f00000AbCdE"), salesforce.ClassData},
		{"upsert, nothing named", upsert("duplicate value found: <unknown> duplicates value on record with id: <unknown>"), salesforce.ClassDuplicate},
		{"key twice in a call", row("DUPLICATE_VALUE", "Duplicate external id specified: in_3"), salesforce.ClassRetryable},
		{"a code shared with other errors", row("DUPLICATE_VALUE", "Already a campaign member."), salesforce.ClassData},
		{"key not unique", row("DUPLICATE_EXTERNAL_ID", "Invoice: more than one record found for external id field: [01t1, 01t2]"), salesforce.ClassData},
		{"duplicate rule", row("DUPLICATES_DETECTED", "Use an existing record"), salesforce.ClassData},

		{"required field", row("REQUIRED_FIELD_MISSING", "Required fields are missing: [Name]"), salesforce.ClassData},
		{"too long", row("STRING_TOO_LONG", "Event Id: data value too large: x (max length=255)"), salesforce.ClassData},
		{"number range", row("NUMBER_OUTSIDE_VALID_RANGE", ""), salesforce.ClassData},
		{"picklist", row("INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST", "Status: bad value for restricted picklist field: Foo"), salesforce.ClassData},
		{"validation rule of the customer", row("FIELD_CUSTOM_VALIDATION_EXCEPTION", "Amount must be positive"), salesforce.ClassData},
		{"our rule on the event", row("FIELD_CUSTOM_VALIDATION_EXCEPTION", "REVISION: somebody else has moved this event on"), salesforce.ClassStale},
		{"our rule on the target", row("FIELD_CUSTOM_VALIDATION_EXCEPTION", "MOVED"), salesforce.ClassStale},
		{"a word that holds our token", row("FIELD_CUSTOM_VALIDATION_EXCEPTION", "REVISIONS are closed; REMOVED"), salesforce.ClassData},
		{"our token in another code", row("REQUIRED_FIELD_MISSING", "REVISION"), salesforce.ClassData},
		{"integrity", row("FIELD_INTEGRITY_EXCEPTION", ""), salesforce.ClassData},

		{"no such column", call(400, "INVALID_FIELD", "No such column 'Foo__c' on sobject of type Payment__c"), salesforce.ClassConfiguration},
		{"parent not there", row("INVALID_FIELD", "Foreign key external ID: cus_9 not found for field Ext_Id__c in entity Customer__c"), salesforce.ClassDependency},
		{"key in the body", call(400, "INVALID_FIELD", "The Event_Id__c field should not be specified in the sobject data."), salesforce.ClassData},
		{"two fields in a lookup", row("INVALID_FIELD", "More than 1 field provided in an external foreign key reference in entity: X"), salesforce.ClassData},
		{"field not writable", row("INVALID_FIELD_FOR_INSERT_UPDATE", "Unable to create/update fields: X__c."), salesforce.ClassConfiguration},
		{"no access, 403", call(403, "INSUFFICIENT_ACCESS_OR_READONLY", ""), salesforce.ClassConfiguration},
		{"no access, 400", call(400, "INSUFFICIENT_ACCESS_OR_READONLY", ""), salesforce.ClassConfiguration},
		{"external ID field hidden", call(404, "NOT_FOUND", "Provided external ID field does not exist or is not accessible: Namez"), salesforce.ClassConfiguration},
		{"row not found", call(404, "NOT_FOUND", "The requested resource does not exist"), salesforce.ClassData},
		{"bad reference", row("INVALID_CROSS_REFERENCE_KEY", "invalid cross reference id"), salesforce.ClassData},
		{"bad id", row("MALFORMED_ID", "Account ID: id value of incorrect type: 001"), salesforce.ClassData},
		{"deleted", row("ENTITY_IS_DELETED", "entity is deleted"), salesforce.ClassData},

		{"trigger met a lock", row("CANNOT_INSERT_UPDATE_ACTIVATE_ENTITY", "T: execution of AfterUpdate\n\ncaused by: System.DmlException: UNABLE_TO_LOCK_ROW"), salesforce.ClassRetryable},
		{"trigger met a limit", row("CANNOT_INSERT_UPDATE_ACTIVATE_ENTITY", "T: System.LimitException: Too many SOQL queries: 101"), salesforce.ClassRetryable},
		{"trigger is broken", row("CANNOT_INSERT_UPDATE_ACTIVATE_ENTITY", "T: execution of AfterUpdate\n\ncaused by: System.NullPointerException"), salesforce.ClassData},
		{"flow is broken", row("CANNOT_EXECUTE_FLOW_TRIGGER", "The record couldn't be saved"), salesforce.ClassData},
		{"transaction security, no access", call(403, "TXN_SECURITY_NO_ACCESS", ""), salesforce.ClassConfiguration},
		{"transaction security, metering", call(403, "TXN_SECURITY_METERING_ERROR", ""), salesforce.ClassRetryable},
		{"bad JSON", call(400, "JSON_PARSER_ERROR", "Cannot deserialize instance of datetime at [line:1, column:179]"), salesforce.ClassData},
		{"bad query", read(400, "MALFORMED_QUERY", ""), salesforce.ClassData},
		{"too many rows", call(400, "EXCEEDED_ID_LIMIT", ""), salesforce.ClassData},
		{"undone with others", row("ALL_OR_NONE_OPERATION_ROLLED_BACK", ""), salesforce.ClassCollateral},
		{"halted", row("PROCESSING_HALTED", ""), salesforce.ClassCollateral},
		{"batch halted", call(412, "BATCH_PROCESSING_HALTED", ""), salesforce.ClassCollateral},
		{"licence", row("LICENSE_LIMIT_EXCEEDED", ""), salesforce.ClassConfiguration},

		{"login refused", answer{Status: 400, Code: "invalid_grant", Message: "authentication failure", Login: true}, salesforce.ClassAuth},
		{"login, unknown code", answer{Status: 400, Code: "brand_new", Login: true}, salesforce.ClassAuth},
		{"login rate", answer{Status: 400, Code: "rate_limit_exceeded", Login: true}, salesforce.ClassLimit},
		{"SOAP login rate", answer{Status: 500, Code: "sf:LOGIN_RATE_EXCEEDED", Login: true}, salesforce.ClassLimit},
		{"SOAP login refused", answer{Status: 500, Code: "sf:INVALID_LOGIN", Login: true}, salesforce.ClassAuth},

		{"unknown code of a row", row("BRAND_NEW", ""), salesforce.ClassRetryable},
		{"unknown code, 4xx", call(400, "BRAND_NEW", ""), salesforce.ClassData},
		{"no code, 401", call(401, "", ""), salesforce.ClassAuth},
		{"no code, 408", read(408, "", ""), salesforce.ClassRetryable},
		{"no code, 429", call(429, "", ""), salesforce.ClassLimit},
		{"edge without a route", read(420, "", ""), salesforce.ClassRetryable},
		{"gateway, read", read(502, "", ""), salesforce.ClassRetryable},
		{"gateway, write", call(502, "", ""), salesforce.ClassUnknownOutcome},
		{"redirect", call(302, "", ""), salesforce.ClassRetryable},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.want, salesforce.Classify(c.in))
		})
	}
}

func TestClassString(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "ok", salesforce.ClassOK.String())
	assert.Equal(t, "unknown_outcome", salesforce.ClassUnknownOutcome.String())
}

func TestFaultHelpers(t *testing.T) {
	t.Parallel()
	f := func(code, message string) salesforce.Fault { return salesforce.Fault{Code: code, Message: message} }

	t.Run("token", func(t *testing.T) {
		t.Parallel()
		assert.Equal(t, salesforce.TokenMoved, f("FIELD_CUSTOM_VALIDATION_EXCEPTION", "MOVED: read again").Token())
		assert.Equal(t, salesforce.TokenRevision, f("FIELD_CUSTOM_VALIDATION_EXCEPTION", "Refused (REVISION)").Token())
		assert.Empty(t, f("FIELD_CUSTOM_VALIDATION_EXCEPTION", "moved").Token())
		assert.Empty(t, f("REQUIRED_FIELD_MISSING", "MOVED").Token())
	})
	t.Run("lock", func(t *testing.T) {
		t.Parallel()
		assert.True(t, f("UNABLE_TO_LOCK_ROW", "").Lock())
		assert.True(t, f("CANNOT_INSERT_UPDATE_ACTIVATE_ENTITY", "caused by: UNABLE_TO_LOCK_ROW, unable to…").Lock())
		assert.False(t, f("ENTITY_IS_LOCKED", "locked for editing").Lock())
	})
	t.Run("duplicate", func(t *testing.T) {
		t.Parallel()
		for message, want := range map[string]salesforce.Duplicate{
			"duplicate value found: Event_Id__c duplicates value on record with id: a015f00000AbCdE":    {Field: "Event_Id__c", ID: "a015f00000AbCdE"},
			"duplicate value found: Event_Id__c duplicates value on record with id: a015f00000AbCdEAAV": {Field: "Event_Id__c", ID: "a015f00000AbCdEAAV"},
			"duplicate value found: <unknown> duplicates value on record with id: <unknown>":            {},
		} {
			got, ok := f("DUPLICATE_VALUE", message).Duplicate()
			assert.True(t, ok, message)
			assert.Equal(t, want, got, message)
		}
		_, ok := f("DUPLICATE_VALUE", "Already a campaign member.").Duplicate()
		assert.False(t, ok)
		_, ok = f("DUPLICATES_DETECTED", "duplicate value found: A__c duplicates value on record with id: a015f00000AbCdE").Duplicate()
		assert.False(t, ok)
		assert.True(t, f("DUPLICATE_VALUE", "Duplicate external id specified: x").RepeatedKey())
		assert.False(t, f("DUPLICATE_VALUE", "duplicate value found: x").RepeatedKey())
	})
	t.Run("named fields", func(t *testing.T) {
		t.Parallel()
		assert.Equal(t, []string{"Foo__c"}, f("INVALID_FIELD", "No such column 'Foo__c' on entity 'X'.").NamedFields())
		assert.Equal(t, []string{"Foo__c"}, f("INVALID_FIELD", "No such column Foo__c on sobject of type Note__c").NamedFields())
		assert.Equal(t, []string{"A__c", "B__c"}, f("INVALID_FIELD_FOR_INSERT_UPDATE",
			"Unable to create/update fields: A__c, B__c. Please check the security settings").NamedFields())
		assert.Equal(t, []string{"Namez"}, f("NOT_FOUND", "Provided external ID field does not exist or is not accessible: Namez").NamedFields())
		assert.Equal(t, []string{"Name", "X__c"}, f("REQUIRED_FIELD_MISSING", "Required fields are missing: [Name, X__c]").NamedFields())
		assert.Equal(t, []string{"Z__c"}, salesforce.Fault{Message: "No such column 'A__c'", Fields: []string{"Z__c"}}.NamedFields())
		assert.Empty(t, f("X", "nothing").NamedFields())
	})
	t.Run("too large", func(t *testing.T) {
		t.Parallel()
		assert.True(t, f("APEX_ERROR", "").TooLarge())
		assert.True(t, f("UNKNOWN_EXCEPTION", "Apex CPU time limit exceeded").TooLarge())
		assert.True(t, f("X", "Too many batch retries in the presence of Apex triggers and partial failures.").TooLarge())
		assert.False(t, f("UNABLE_TO_LOCK_ROW", "").TooLarge())
	})
}

func TestSaveResultFaultPrefersTheCulprit(t *testing.T) {
	t.Parallel()
	r := salesforce.SaveResult{Errors: []salesforce.Fault{
		{Code: "ALL_OR_NONE_OPERATION_ROLLED_BACK", Class: salesforce.ClassCollateral},
		{Code: "REQUIRED_FIELD_MISSING", Class: salesforce.ClassData},
	}}
	assert.Equal(t, "REQUIRED_FIELD_MISSING", r.Fault().Code)
	assert.Equal(t, salesforce.ClassOK, salesforce.SaveResult{Success: true}.Class())
	assert.Equal(t, salesforce.ClassRetryable, salesforce.SaveResult{}.Class(), "refused without a reason")
}
