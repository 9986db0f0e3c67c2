package salesforce

import (
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// reply is the real answer to a request.
type reply struct {
	op     string
	write  bool
	status int
	header http.Header
	body   []byte
}

// answerStream is a successful answer that is read while it comes in.
type answerStream struct {
	io.Reader
	contentType string
}

// stopped carries an error of the reader's own out of a stream.
type stopped struct{ err error }

func (s *stopped) Error() string { return s.err.Error() }

// lost is an answer that leaves the outcome of a write unknown.
func (r reply) lost(problem string) *Error {
	return &Error{Op: r.op, Status: r.status, Fault: Fault{Message: problem, Class: lost(r.write)}}
}

// unreadable is a success whose body isn't what was asked for, such as a page
// of an edge server.
func (r reply) unreadable() *Error {
	problem := "empty answer"
	if len(r.body) > 0 {
		kind, _, _ := strings.Cut(r.header.Get("Content-Type"), ";")
		problem = "unreadable answer of type " + strconv.Quote(kind)
	}
	return r.lost(problem)
}

func (r reply) tooLong(limit int64) *Error {
	e := r.lost("the answer is longer than " + strconv.FormatInt(limit, 10) + " bytes")
	if !r.write {
		e.Class = ClassData
	}
	return e
}

// refused makes the error of an answer that is no success.
func (r reply) refused(req request) *Error {
	if r.status > 300 && r.status < 400 {
		return r.redirected()
	}
	body := []byte(hideIn(string(r.body), req.hide))
	faults := decodeFaults(r.status, body, Answer{Write: r.write, KeyField: req.keyField, Login: req.login})
	e := &Error{Op: r.op, Status: r.status, Fault: faults[0], Others: faults[1:]}
	if wait := retryAfter(r.header); wait > e.Pause {
		e.Pause = wait
	}
	e.Advice = advice(e.Fault, req.object)
	return e
}

// redirected is never followed: the token belongs to the host it was made for.
func (r reply) redirected() *Error {
	host := "another address"
	if u, err := url.Parse(r.header.Get("Location")); err == nil && u.Host != "" {
		host = u.Host
	}
	return &Error{Op: r.op, Status: r.status, Fault: Fault{Message: "redirected to " + host, Class: ClassRetryable},
		Advice: "if the org has moved, correct salesforce.login_url"}
}

// retryAfter reads the header in seconds; Salesforce's API doesn't send it,
// proxies on the way may.
func retryAfter(h http.Header) time.Duration {
	seconds, err := strconv.Atoi(h.Get("Retry-After"))
	if err != nil || seconds < 0 || seconds > maxRetryAfter {
		return 0
	}
	return time.Duration(seconds) * time.Second
}

const maxRetryAfter = 24 * 60 * 60

// advice tells an administrator what to look at, naming object and field.
func advice(f Fault, object string) string {
	if f.Class != ClassConfiguration {
		return ""
	}
	what := ""
	switch {
	case f.Code == "API_DISABLED_FOR_ORG" || f.Code == "API_CURRENTLY_DISABLED":
		return "the org's edition or an administrator has switched the API off"
	case f.Code == "NOT_FOUND":
		what = "check the spelling, the field's External ID box, and field-level security of the integration user"
	case f.Code == "INVALID_FIELD" || f.Code == "INVALID_FIELD_FOR_INSERT_UPDATE":
		what = "check the spelling and give the integration user access to the field by a permission set"
	case strings.HasPrefix(f.Code, "INSUFFICIENT_ACCESS"):
		what = "give the integration user the permission"
	default:
		return ""
	}
	if fields := f.NamedFields(); object != "" && len(fields) > 0 {
		return object + "." + strings.Join(fields, ", "+object+".") + ": " + what
	}
	return what
}

type verdict int

const (
	sessionGood verdict = iota
	sessionExpired
	sessionMoved
)

// sessionVerdict tells whether a new session may help. A 403 never means that.
func sessionVerdict(err error) verdict {
	e, ok := AsError(err)
	switch {
	case !ok:
		return sessionGood
	case e.Status > 300 && e.Status < 400:
		return sessionMoved
	case e.Status == http.StatusUnauthorized && !finalRefusal(e.Fault):
		return sessionExpired
	}
	return sessionGood
}

// finalRefusal knows the 401 answers that a fresh token would meet as well.
func finalRefusal(f Fault) bool {
	return f.Code == "INVALID_AUTH_HEADER" || containsAny(f.Message, []string{
		"Connected app is not attached to Agent",
		"This session is not valid for use with the REST API",
	})
}

// jsonInto accepts an answer that is one JSON value.
func jsonInto(into any) func(reply) error {
	return func(r reply) error {
		if !unmarshal(r.body, into) {
			return r.unreadable()
		}
		return nil
	}
}
