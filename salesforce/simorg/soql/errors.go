package soql

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Codes of refusals.
const (
	MalformedQuery   = "MALFORMED_QUERY"
	InvalidField     = "INVALID_FIELD"
	InvalidType      = "INVALID_TYPE"
	InvalidOperator  = "INVALID_QUERY_FILTER_OPERATOR"
	OutsideRange     = "NUMBER_OUTSIDE_VALID_RANGE"
	TooComplicated   = "QUERY_TOO_COMPLICATED"
	maxQuery         = 100_000 // characters
	maxOffset        = 2_000
	maxRelationships = 5
	maxNesting       = 200
	contextWidth     = 40 // characters of the query shown on either side of an error
)

// Error is a refusal, with Salesforce's code and message.
type Error struct {
	Code    string
	Message string
}

func (e *Error) Error() string { return e.Code + ": " + strings.TrimSpace(e.Message) }

// plainError is a refusal that shows no place in the query.
func plainError(code, format string, args ...any) error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// errorAt is a refusal that shows the place in the query: the text around it,
// a caret below, row and column.
func errorAt(query string, pos int, code, format string, args ...any) error {
	before := query[:pos]
	row := 1 + strings.Count(before, "\n")
	line := before[strings.LastIndexByte(before, '\n')+1:]
	rest := query[pos:]
	if i := strings.IndexByte(rest, '\n'); i >= 0 {
		rest = rest[:i]
	}
	column := utf8.RuneCountInString(line) + 1
	lead := []rune(line)
	lead = lead[max(0, len(lead)-contextWidth):]
	tail := []rune(rest)
	tail = tail[:min(len(tail), contextWidth)]
	return &Error{Code: code, Message: fmt.Sprintf("\n%s%s\n%s^\nERROR at Row:%d:Column:%d\n%s",
		string(lead), string(tail), strings.Repeat(" ", len(lead)), row, column, fmt.Sprintf(format, args...))}
}
