package salesforce

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Error is a call that failed as a whole. Rows that failed inside a call that
// worked are faults of their SaveResult.
type Error struct {
	// Op is the operation, one of a small fixed set (the Op… constants).
	Op string
	// Status is the HTTP status, 0 when there was no answer.
	Status int
	// Fault is the error that decided the class.
	Fault
	// Others are further errors of the same answer.
	Others []Fault
	// Advice tells a person what to do, when that is known.
	Advice string
	// Err is a cause worth asking for with errors.Is: the context's end.
	Err error
}

// Error tells operation, class, status, code and the start of the message. It
// never holds a token, a body or an address with a query.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "salesforce %s: %s", e.Op, e.Class)
	if e.Status != 0 {
		fmt.Fprintf(&b, ": status %d", e.Status)
	}
	for _, part := range []string{e.Code, e.Message} {
		if part != "" {
			b.WriteString(": " + part)
		}
	}
	if e.Err != nil {
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	for _, f := range e.Others {
		fmt.Fprintf(&b, "; %s: %s", f.Code, f.Message)
	}
	if e.Advice != "" {
		b.WriteString(" (" + e.Advice + ")")
	}
	return b.String()
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// RetryAfter is the least time to wait before another try; 0: no hint.
func (e *Error) RetryAfter() time.Duration { return e.Pause }

// AsError finds the Error in err.
func AsError(err error) (*Error, bool) {
	var e *Error
	ok := errors.As(err, &e)
	return e, ok
}

// ClassOf gives the class of any error: ClassOK for nil, ClassRetryable for
// errors that did not come from Salesforce.
func ClassOf(err error) Class {
	if err == nil {
		return ClassOK
	}
	if e, ok := AsError(err); ok {
		return e.Class
	}
	return ClassRetryable
}

// refusal is a request that was never sent because it can't be right.
func refusal(op, code, format string, args ...any) *Error {
	return &Error{Op: op, Fault: Fault{Code: code, Message: fmt.Sprintf(format, args...), Class: ClassData}}
}
