package salesforce

import (
	"regexp"
	"strings"
	"time"
)

// Tokens of the bridge's own validation rules. A refusal that carries one says
// that the writer decided on an old read.
const (
	TokenRevision = "REVISION"
	TokenMoved    = "MOVED"
)

// Fault is one error that Salesforce named, of a call or of a row.
type Fault struct {
	Code    string
	Message string
	Fields  []string
	Class   Class
	// Pause is the least time to wait before another try; 0: no hint.
	Pause time.Duration
}

// Duplicate is what a DUPLICATE_VALUE message tells. Field and ID are empty
// when Salesforce says <unknown>; the ID has 15 or 18 characters.
type Duplicate struct {
	Field string
	ID    string
}

// Token gives the token (TokenRevision, TokenMoved) of a refusal by one of our
// own rules, else "".
func (f Fault) Token() string {
	if f.Code != "FIELD_CUSTOM_VALIDATION_EXCEPTION" {
		return ""
	}
	return tokenIn(f.Message)
}

// Lock reports whether another transaction held the row too long, also when
// the lock was met inside the org's own automation.
func (f Fault) Lock() bool {
	m := strings.ToLower(f.Message)
	return f.Code == "UNABLE_TO_LOCK_ROW" || strings.Contains(m, "unable_to_lock_row") ||
		strings.Contains(m, "unable to obtain exclusive access")
}

// TooLarge reports whether fewer rows in one call may help: a limit or a
// time-out of the org's own automation, a query or a request that ran too long.
func (f Fault) TooLarge() bool {
	switch f.Code {
	case "QUERY_TIMEOUT", "REQUEST_RUNNING_TOO_LONG", "APEX_ERROR", "EXCEEDED_MAX_SIZE_REQUEST":
		return true
	case "CANNOT_INSERT_UPDATE_ACTIVATE_ENTITY", "CANNOT_EXECUTE_FLOW_TRIGGER", "FLOW_EXCEPTION":
		return f.Class == ClassRetryable && !f.Lock()
	}
	m := strings.ToLower(f.Message)
	return containsAny(m, []string{"limitexception", "cpu time limit", "too many batch retries"})
}

// Duplicate reads the field and the record from a "duplicate value found" text.
func (f Fault) Duplicate() (Duplicate, bool) {
	if f.Code != "DUPLICATE_VALUE" {
		return Duplicate{}, false
	}
	return parseDuplicate(f.Message)
}

// RepeatedKey reports whether the row was refused because another row of the
// same call carries the same external ID.
func (f Fault) RepeatedKey() bool {
	return f.Code == "DUPLICATE_VALUE" && strings.Contains(strings.ToLower(f.Message), "duplicate external id specified")
}

// NamedFields gives the fields an error is about: those listed in it, else
// those its message names.
func (f Fault) NamedFields() []string {
	if len(f.Fields) > 0 {
		return f.Fields
	}
	for _, re := range namedField {
		if m := re.FindStringSubmatch(f.Message); m != nil {
			return splitNames(m[1])
		}
	}
	return nil
}

var (
	tokenPattern     = regexp.MustCompile(`(?:^|\W)(` + TokenRevision + `|` + TokenMoved + `)(?:$|\W)`)
	duplicatePattern = regexp.MustCompile(`^duplicate value found: (\S+) duplicates value on record with id: (\S+?)\.?$`)
	recordID         = regexp.MustCompile(`^[0-9A-Za-z]{15}(?:[0-9A-Za-z]{3})?$`)
	fieldName        = regexp.MustCompile(`^[A-Za-z]\w*$`)
	namedField       = []*regexp.Regexp{
		regexp.MustCompile(`No such column '?([A-Za-z][\w.]*)'?`),
		regexp.MustCompile(`Unable to create/update fields: ([\w, ]+)`),
		regexp.MustCompile(`Provided external ID field does not exist or is not accessible: (\w+)`),
		regexp.MustCompile(`^The (\w+) field should not be specified`),
		regexp.MustCompile(`Required fields are missing: \[([\w, ]+)\]`),
	}
)

func tokenIn(message string) string {
	if m := tokenPattern.FindStringSubmatch(message); m != nil {
		return m[1]
	}
	return ""
}

func parseDuplicate(message string) (Duplicate, bool) {
	m := duplicatePattern.FindStringSubmatch(strings.TrimSpace(message))
	if m == nil {
		return Duplicate{}, false
	}
	var d Duplicate
	if fieldName.MatchString(m[1]) {
		d.Field = m[1]
	}
	if recordID.MatchString(m[2]) {
		d.ID = m[2]
	}
	return d, true
}

func splitNames(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}

// newFault classifies one answer.
func newFault(a Answer, fields []string) Fault {
	class, pause := judge(a)
	return Fault{Code: a.Code, Message: shorten(a.Code, a.Message), Fields: fields, Class: class, Pause: pause}
}

// maxMessage bounds the texts kept from Salesforce, in bytes.
const maxMessage = 400

var longValue = regexp.MustCompile(`(?s)(data value too large: ).*( \(max length=\d+\))$`)

// shorten keeps a message readable and free of payload: white space collapsed,
// echoed values cut out, a bounded length.
func shorten(code, message string) string {
	if code == "STRING_TOO_LONG" {
		message = longValue.ReplaceAllString(message, "$1…$2")
	}
	message = strings.Join(strings.Fields(message), " ")
	if len(message) <= maxMessage {
		return message
	}
	return strings.ToValidUTF8(message[:maxMessage], "") + "…"
}
