package salesforce

import (
	"net/http"
	"strings"
	"time"
)

// Class tells what can be done about an error. It is decided by Classify alone.
type Class string

const (
	// ClassOK is the class of a call or row that worked.
	ClassOK Class = ""
	// ClassRetryable failures may pass by themselves; nothing was written.
	ClassRetryable Class = "retryable"
	// ClassDependency means that a record this one points to is not there yet.
	ClassDependency Class = "dependency"
	// ClassLimit means that the org or the login gives no more for now.
	ClassLimit Class = "limit"
	// ClassAuth means that Salesforce does not accept who we are.
	ClassAuth Class = "auth"
	// ClassConfiguration needs an administrator: a field, a permission, a setting.
	ClassConfiguration Class = "configuration"
	// ClassDuplicate means that another row holds a unique value.
	ClassDuplicate Class = "duplicate"
	// ClassStale means that a rule with a known token refused an old read.
	ClassStale Class = "stale"
	// ClassData is a value or a request that will be refused every time.
	ClassData Class = "data"
	// ClassUnknownOutcome means that a write may or may not have happened.
	ClassUnknownOutcome Class = "unknown_outcome"
	// ClassCollateral is a row that was undone because of another row's error.
	ClassCollateral Class = "collateral"
)

// String gives the label used in metrics; ClassOK reads "ok".
func (c Class) String() string {
	if c == ClassOK {
		return "ok"
	}
	return string(c)
}

// Answer is what Salesforce said, as far as its class depends on it.
type Answer struct {
	Code    string
	Message string
	// Status is the HTTP status; 0 for a row inside a call that answered 200.
	Status int
	// Write is true for calls that change data: for them a failure of the
	// transport or the edge leaves the outcome unknown.
	Write bool
	// KeyField is the external ID field of an upsert. Losing a race for it is
	// no error of the row: the next try becomes an update.
	KeyField string
	// Login is true for the answer to a login: what it refuses for an unknown
	// reason, it refuses for who we are.
	Login bool
}

// Classify decides the class of an answer from its code and message; the HTTP
// status decides only when the code is unknown.
func Classify(a Answer) Class {
	class, _ := judge(a)
	return class
}

// judge gives the class of an answer and the least time to wait before another try.
func judge(a Answer) (Class, time.Duration) {
	if r, ok := ruleFor(a); ok {
		if r.class == lostIfWrite {
			return lost(a.Write), r.pause
		}
		return r.class, r.pause
	}
	return classOfStatus(a), 0
}

func ruleFor(a Answer) (rule, bool) {
	message := strings.ToLower(a.Message)
	for _, r := range ruleTable[ruleKey(a.Code)] {
		if r.matches(a, message) {
			return r, true
		}
	}
	return rule{}, false
}

// ruleKey folds the families of codes that share their rules.
func ruleKey(code string) string {
	if strings.HasPrefix(code, "TXN_SECURITY_") {
		if strings.Contains(code, "METERING") || strings.Contains(code, "RUNTIME") {
			return "TXN_SECURITY_RUNTIME_ERROR"
		}
		return "TXN_SECURITY_NO_ACCESS"
	}
	// SOAP faults carry a namespace prefix: sf:INVALID_LOGIN.
	if i := strings.LastIndexByte(code, ':'); i >= 0 {
		return code[i+1:]
	}
	return code
}

func classOfStatus(a Answer) Class {
	switch {
	case a.Status == http.StatusUnauthorized:
		return ClassAuth
	case a.Status == http.StatusRequestTimeout, a.Status == statusNoRoute, a.Status >= 500:
		return lost(a.Write)
	case a.Status == http.StatusTooManyRequests:
		return ClassLimit
	case a.Status >= 300 && a.Status < 400:
		return ClassRetryable
	case a.Status >= 400 && a.Login:
		return ClassAuth
	case a.Status >= 400:
		return ClassData
	case a.Status == 0:
		// A row refused for a reason we don't know: try a few times, then a person.
		return ClassRetryable
	default:
		return lost(a.Write)
	}
}

// statusNoRoute is answered by Salesforce's edge when it can't route a request.
const statusNoRoute = 420

// lost is the class of a call whose reply never came or can't be read.
func lost(write bool) Class {
	if write {
		return ClassUnknownOutcome
	}
	return ClassRetryable
}
