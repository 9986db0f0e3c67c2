package rest

import (
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"strings"

	"sfbridge/salesforce/simorg/fault"
	"sfbridge/salesforce/simorg/login"
)

const maxBody = 50 << 20

// exchange answers a request below /services/data: segments begin with the
// version.
func (a *API) exchange(w http.ResponseWriter, r *http.Request, segments []string) {
	token, refusal := a.session(r)
	if refusal != nil {
		a.send(w, r, *refusal)
		return
	}
	q, rep := a.read(r, segments)
	if rep != nil {
		a.send(w, r, *rep)
		return
	}
	if !a.count(q.operation) {
		a.send(w, r, limitExceeded("TotalRequests Limit exceeded."))
		return
	}
	planted, struck := a.cfg.Faults.Call(a.callSubjects(q)...)
	if struck && a.refuse(w, r, planted, token) {
		return
	}
	if struck && planted.Kind == fault.Slow {
		a.pause(planted.Delay)
	}
	answer := a.carryOut(q)
	if struck && a.spoil(w, r, planted.Kind, answer) {
		return
	}
	a.send(w, r, answer)
}

// session checks who calls; the refusal is nil for a good session.
func (a *API) session(r *http.Request) (token string, refusal *reply) {
	header := r.Header.Get("Authorization")
	scheme, token, found := strings.Cut(header, " ")
	known := strings.EqualFold(scheme, "Bearer") || strings.EqualFold(scheme, "OAuth")
	if header != "" && (!found || !known || strings.TrimSpace(token) == "") {
		rep := refused(http.StatusUnauthorized, "INVALID_AUTH_HEADER", "INVALID_HEADER_TYPE")
		return "", &rep
	}
	token = strings.TrimSpace(token)
	if !a.cfg.Sessions.Valid(token) {
		rep := sessionExpired()
		return "", &rep
	}
	return token, nil
}

func sessionExpired() reply {
	return refused(http.StatusUnauthorized, "INVALID_SESSION_ID", "Session expired or invalid")
}

func limitExceeded(text string) reply {
	return refused(http.StatusForbidden, "REQUEST_LIMIT_EXCEEDED", text)
}

// read turns an HTTP request into a request of a resource.
func (a *API) read(r *http.Request, segments []string) (*request, *reply) {
	version, ok := parseVersion(segments[0])
	if !ok {
		rep := notFound()
		return nil, &rep
	}
	if version < oldestVersion {
		rep := refused(http.StatusGone, "UNSUPPORTED_API_VERSION", "The requested API version has been retired.")
		return nil, &rep
	}
	q := &request{method: r.Method, path: segments[1:], query: r.URL.Query(), header: r.Header,
		host: login.BaseURL(r), version: version}
	if override := q.query.Get("_HttpMethod"); override != "" && r.Method == http.MethodPost {
		q.method = strings.ToUpper(override)
	}
	if err := q.readBody(r); err != nil {
		rep := err.reply()
		return nil, &rep
	}
	q.classify()
	return q, nil
}

// readBody reads and unpacks the body and parses it, but for uploads.
func (q *request) readBody(r *http.Request) *apiError {
	upload := len(q.path) > 0 && q.path[0] == "jobs" && r.Method == http.MethodPut
	limit := int64(maxBody)
	if upload {
		limit = maxBulkFile
	}
	var in io.Reader = http.MaxBytesReader(nil, r.Body, limit)
	switch encoding := r.Header.Get("Content-Encoding"); strings.ToLower(encoding) {
	case "", "identity":
	case "gzip":
		z, err := gzip.NewReader(in)
		if err != nil {
			return bad("JSON_PARSER_ERROR", "The request body is not in gzip format")
		}
		in = z
	default:
		return &apiError{http.StatusUnsupportedMediaType, "UNSUPPORTED_MEDIA_TYPE", "Content-Encoding is not supported: " + encoding}
	}
	var err error
	q.raw, err = io.ReadAll(io.LimitReader(in, limit+1))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large), int64(len(q.raw)) > limit:
		return &apiError{http.StatusRequestEntityTooLarge, "EXCEEDED_MAX_SIZE_REQUEST", "Maximum request size exceeded"}
	case err != nil:
		return bad("JSON_PARSER_ERROR", "The request body could not be read")
	case len(q.raw) == 0 || upload:
		return nil
	}
	return q.parse(r)
}

// parse reads the body as JSON.
func (q *request) parse(r *http.Request) *apiError {
	kind := r.Header.Get("Content-Type")
	if media, _, _ := strings.Cut(kind, ";"); media != "" && !strings.EqualFold(strings.TrimSpace(media), "application/json") {
		return &apiError{http.StatusUnsupportedMediaType, "UNSUPPORTED_MEDIA_TYPE",
			"Content-Type header specified in HTTP request is not supported: " + kind}
	}
	var refusal *apiError
	q.body, refusal = parseBody(q.raw)
	return refusal
}

// carryOut lets the latency pass and the resource work. A quarter of the
// latency passes on the way in, half inside the transaction, a quarter on the
// way out; a request without a transaction has all of it around it.
func (a *API) carryOut(q *request) reply {
	quarter := a.cfg.Latency / 4
	a.pause(quarter)
	defer a.pause(quarter)
	q.tx = a.cfg.Org.Begin()
	if !q.writes() {
		a.hold(q)
		defer q.tx.Rollback()
		return a.handle(q)
	}
	rep := a.handle(q)
	a.pause(2 * quarter)
	q.tx.Commit()
	return rep
}

// hold lets the middle of the latency pass for a request that has no
// transaction of its own; a composite does it inside its transactions.
func (a *API) hold(q *request) {
	if q.operation != fault.Composite {
		a.pause(a.cfg.Latency / 2)
	}
}

// callSubjects are the names by which call faults reach an exchange: its own
// operation and, for a composite, those of the collections and queries in it.
func (a *API) callSubjects(q *request) []fault.Subject {
	list := []fault.Subject{{Operation: q.operation, Object: q.object}}
	if q.operation != fault.Composite || q.body == nil {
		return list
	}
	for _, sub := range subrequests(q) {
		list = append(list, sub.subjects()...)
	}
	return list
}

// refuse realises the faults that keep a request from being carried out.
func (a *API) refuse(w http.ResponseWriter, r *http.Request, f fault.Fault, token string) bool {
	switch f.Kind {
	case fault.Limit:
		a.send(w, r, limitExceeded("TotalRequests Limit exceeded."))
	case fault.ConcurrentLimit:
		a.send(w, r, limitExceeded("ConcurrentRequests (Concurrent API Requests) Limit exceeded."))
	case fault.Unavailable:
		a.send(w, r, refused(http.StatusServiceUnavailable, "SERVER_UNAVAILABLE", "Server too busy"))
	case fault.ExpireSession:
		a.cfg.Sessions.Revoke(token)
		a.send(w, r, sessionExpired())
	default:
		return refuseAtEdge(w, r, f.Kind)
	}
	return true
}

// refuseAtEdge realises the faults of the network in front of the org.
func refuseAtEdge(w http.ResponseWriter, r *http.Request, kind fault.Kind) bool {
	switch kind {
	case fault.HTML503:
		html(w, http.StatusServiceUnavailable, "<h1>Service Unavailable - Zero size object</h1>The server is temporarily unable to service your request.")
	case fault.HTML200:
		html(w, http.StatusOK, "<h1>We are down for maintenance.</h1>Sorry for the inconvenience. We'll be back shortly.")
	case fault.Moved:
		w.Header().Set("Location", "https://moved.invalid"+r.URL.RequestURI())
		html(w, http.StatusFound, "<h1>Found</h1>The instance has moved.")
	case fault.DropBefore:
		panic(http.ErrAbortHandler) // closes the connection without an answer
	default:
		return false
	}
	return true
}

// spoil realises the faults that lose or break the answer of a request that
// was carried out.
func (a *API) spoil(w http.ResponseWriter, r *http.Request, kind fault.Kind, rep reply) bool {
	switch kind {
	case fault.DropAfter:
		panic(http.ErrAbortHandler)
	case fault.Malformed:
		rep.status, rep.body = http.StatusOK, append([]byte("{,,"), rep.body...)
		a.send(w, r, rep)
	case fault.Truncated:
		body := rep.body
		if len(body) == 0 {
			body = []byte(`{"success":true}`)
		}
		w.Header().Set("Content-Type", jsonType)
		w.Header().Set("Content-Length", itoa(len(body)))
		w.WriteHeader(http.StatusOK)
		_, _ = w.Write(body[:len(body)/2])
		panic(http.ErrAbortHandler)
	default:
		return false
	}
	return true
}
