package salesforce

import (
	"strings"
	"time"
)

// rule is one line of the error table.
type rule struct {
	class Class
	pause time.Duration
	// contains: one of these parts, in lower case, is in the message; none: any message.
	contains []string
	// token: the message carries a token of our own validation rules.
	token bool
	// key: the duplicate's field is the upsert's key (ownKey) or another known field (otherField).
	key keyMatch
}

type keyMatch int

const (
	anyKey keyMatch = iota
	ownKey
	otherField
)

// lostIfWrite stands for: retryable for reads, unknown outcome for writes.
const lostIfWrite Class = "lost_if_write"

// Least pauses before another try, where Salesforce names none itself.
const (
	pauseConcurrent  = 5 * time.Second
	pauseDaily       = 5 * time.Minute
	pauseMaintenance = 2 * time.Minute
	pauseStorage     = 10 * time.Minute
	pauseLogins      = 30 * time.Minute
	pauseApproval    = 5 * time.Minute
)

func (r rule) matches(a Answer, lowerMessage string) bool {
	if r.token && tokenIn(a.Message) == "" {
		return false
	}
	if len(r.contains) > 0 && !containsAny(lowerMessage, r.contains) {
		return false
	}
	return r.key == anyKey || r.key == keyOf(a)
}

// keyOf tells which field an upsert's DUPLICATE_VALUE is about.
func keyOf(a Answer) keyMatch {
	d, ok := parseDuplicate(a.Message)
	switch {
	case !ok || a.KeyField == "" || d.Field == "":
		return anyKey
	case strings.EqualFold(d.Field, a.KeyField):
		return ownKey
	default:
		return otherField
	}
}

func containsAny(s string, parts []string) bool {
	for _, p := range parts {
		if strings.Contains(s, p) {
			return true
		}
	}
	return false
}

// passing marks texts of automation that failed for a reason that may pass.
func passing() []string {
	return []string{"unable_to_lock_row", "unable to obtain exclusive access", "limit exceeded",
		"limitexception", "cpu time limit", "too many ", "query_timeout", "timed out"}
}

// ruleTable holds the rules of each code in order: the first that matches
// wins. Codes that mean the same thing stand in one line of the lists below.
var ruleTable = buildRules()

func buildRules() map[string][]rule {
	t := map[string][]rule{}
	for _, add := range []func(map[string][]rule){accessRules, limitRules, retryRules, dataRules} {
		add(t)
	}
	return t
}

func all(t map[string][]rule, codes string, rules ...rule) {
	for _, code := range strings.Fields(codes) {
		t[code] = append(t[code], rules...)
	}
}

func accessRules(t map[string][]rule) {
	all(t, "INVALID_SESSION_ID INVALID_AUTH_HEADER INVALID_LOGIN LOGIN_MUST_USE_SECURITY_TOKEN"+
		" INVALID_OPERATION_WITH_EXPIRED_PASSWORD PASSWORD_LOCKOUT LOGIN_DURING_RESTRICTED_TIME"+
		" LOGIN_DURING_RESTRICTED_DOMAIN ORG_LOCKED INVALID_SSO_GATEWAY_URL"+
		" invalid_client_id invalid_client inactive_user inactive_org"+
		" unsupported_grant_type invalid_request unauthorized_client access_denied invalid_app_access"+
		" invalid_assertion invalid_scope",
		rule{class: ClassAuth})
	all(t, "API_DISABLED_FOR_ORG API_CURRENTLY_DISABLED INVALID_FIELD_FOR_INSERT_UPDATE"+
		" INSUFFICIENT_ACCESS_OR_READONLY INSUFFICIENT_ACCESS INSUFFICIENT_ACCESS_ON_CROSS_REFERENCE_ENTITY"+
		" CANNOT_DELETE_ENTITY CANNOT_DELETE_OWNER CANNOT_INSERT CANNOT_UPDATE CANNOT_POST_TO_ARCHIVED_GROUP"+
		" CANNOT_CASCADE_PRODUCT_ACTIVE CANNOT_CHANGE_FIELD_TYPE_OF_APEX_REFERENCED_FIELD"+
		" TXN_SECURITY_NO_ACCESS INVALID_TYPE METHOD_NOT_ALLOWED UNSUPPORTED_API_VERSION"+
		" LICENSE_LIMIT_EXCEEDED INACTIVE_OWNER_OR_USER UNAVAILABLE_RECORDTYPE_EXCEPTION INVALIDJOB",
		rule{class: ClassConfiguration})
	all(t, "NOT_FOUND",
		rule{class: ClassConfiguration, contains: []string{"external id field", "does not exist or is not accessible"}},
		rule{class: ClassData})
	all(t, "INVALID_FIELD",
		rule{class: ClassDependency, contains: []string{"foreign key external id"}},
		rule{class: ClassConfiguration, contains: []string{"no such column", "no such relation", "not accessible", "can not be filtered"}},
		rule{class: ClassData, contains: []string{"should not be specified in the sobject data", "more than 1 field provided"}},
		rule{class: ClassConfiguration})
}

func limitRules(t map[string][]rule) {
	all(t, "REQUEST_LIMIT_EXCEEDED",
		rule{class: ClassLimit, pause: pauseConcurrent, contains: []string{"concurrent"}},
		rule{class: ClassLimit, pause: pauseDaily})
	all(t, "TOO_MANY_APEX_REQUESTS", rule{class: ClassLimit, pause: pauseConcurrent})
	all(t, "EXCEEDED_QUOTA LIMIT_EXCEEDED", rule{class: ClassLimit, pause: pauseDaily})
	all(t, "STORAGE_LIMIT_EXCEEDED", rule{class: ClassLimit, pause: pauseStorage})
	all(t, "invalid_grant", rule{class: ClassLimit, pause: pauseLogins, contains: []string{"rate exceeded", "login_rate"}},
		rule{class: ClassAuth})
	all(t, "LOGIN_RATE_EXCEEDED rate_limit_exceeded", rule{class: ClassLimit, pause: pauseLogins})
}

func retryRules(t map[string][]rule) {
	all(t, "SERVER_UNAVAILABLE", rule{class: lostIfWrite})
	all(t, "UNKNOWN_EXCEPTION UNABLE_TO_LOCK_ROW QUERY_TIMEOUT REQUEST_RUNNING_TOO_LONG APEX_ERROR"+
		" INVALID_QUERY_LOCATOR TXN_SECURITY_RUNTIME_ERROR CONFLICT temporarily_unavailable server_error",
		rule{class: ClassRetryable})
	all(t, "INSERT_UPDATE_DELETE_NOT_ALLOWED_DURING_MAINTENANCE ORG_IN_MAINTENANCE"+
		" FUNCTIONALITY_TEMPORARILY_UNAVAILABLE SERVER_IS_BUSY",
		rule{class: ClassRetryable, pause: pauseMaintenance})
	all(t, "ENTITY_IS_LOCKED", rule{class: ClassRetryable, pause: pauseApproval})
	all(t, "CANNOT_INSERT_UPDATE_ACTIVATE_ENTITY CANNOT_EXECUTE_FLOW_TRIGGER FLOW_EXCEPTION",
		rule{class: ClassRetryable, contains: passing()},
		rule{class: ClassData})
	all(t, "ALL_OR_NONE_OPERATION_ROLLED_BACK PROCESSING_HALTED BATCH_PROCESSING_HALTED",
		rule{class: ClassCollateral})
}

func dataRules(t map[string][]rule) {
	all(t, "DUPLICATE_VALUE",
		// Rows with one key in one call: all of them were refused, none is a
		// duplicate, and none is at fault.
		rule{class: ClassRetryable, contains: []string{"duplicate external id specified", "duplicate updates in one batch"}},
		rule{class: ClassRetryable, key: ownKey},
		rule{class: ClassData, key: otherField},
		rule{class: ClassDuplicate, contains: []string{"duplicate value found"}},
		rule{class: ClassData})
	all(t, "FIELD_CUSTOM_VALIDATION_EXCEPTION", rule{class: ClassStale, token: true}, rule{class: ClassData})
	all(t, "DUPLICATE_EXTERNAL_ID DUPLICATES_DETECTED REQUIRED_FIELD_MISSING STRING_TOO_LONG"+
		" NUMBER_OUTSIDE_VALID_RANGE INVALID_TYPE_ON_FIELD_IN_RECORD INVALID_EMAIL_ADDRESS"+
		" INVALID_CURRENCY_ISO TEXT_DATA_OUTSIDE_SUPPORTED_CHARSET INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST"+
		" FIELD_INTEGRITY_EXCEPTION FIELD_FILTER_VALIDATION_EXCEPTION INVALID_CROSS_REFERENCE_KEY"+
		" MALFORMED_ID ENTITY_IS_DELETED DELETE_FAILED JSON_PARSER_ERROR MALFORMED_QUERY"+
		" QUERY_TOO_COMPLICATED EXCEEDED_ID_LIMIT EXCEEDED_MAX_SIZE_REQUEST MIXED_DML_OPERATION"+
		" MISSING_ARGUMENT INVALID_BATCH_SIZE",
		rule{class: ClassData})
}
