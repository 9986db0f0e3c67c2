package rest

import (
	"compress/gzip"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"sfbridge/salesforce/simorg/org"
	"sfbridge/salesforce/simorg/schema"
)

// reply is what a resource answers.
type reply struct {
	status   int
	location string
	kind     string // content type; empty: JSON
	body     []byte
}

// failed says whether a subrequest with this reply makes its composite fail.
func (r reply) failed() bool { return r.status >= 300 }

const jsonType = "application/json;charset=UTF-8"

func itoa(n int) string { return strconv.Itoa(n) }

func ok(body []byte) reply { return reply{status: http.StatusOK, body: body} }

// apiError is a refusal of a whole call.
type apiError struct {
	status        int
	code, message string
}

func (e *apiError) Error() string { return e.code + ": " + e.message }

func (e *apiError) reply() reply {
	b := append([]byte(nil), `[{"message":`...)
	b = appendString(b, e.message)
	b = append(b, `,"errorCode":`...)
	b = appendString(b, e.code)
	return reply{status: e.status, body: append(b, "}]"...)}
}

func bad(code, message string) *apiError {
	return &apiError{http.StatusBadRequest, code, message}
}

func refused(status int, code, message string) reply {
	return (&apiError{status, code, message}).reply()
}

func notFound() reply {
	return refused(http.StatusNotFound, org.CodeNotFound, "The requested resource does not exist")
}

func notAllowed(method string, allowed string) reply {
	return refused(http.StatusMethodNotAllowed, "METHOD_NOT_ALLOWED",
		"HTTP Method '"+method+"' not allowed. Allowed are "+allowed)
}

// rowErrors is the reply of a single-row call that was refused.
func rowErrors(errs []org.RowError) reply {
	status := http.StatusBadRequest
	switch errs[0].Code {
	case org.CodeDeleted, org.CodeNotFound:
		status = http.StatusNotFound
	}
	b := []byte{'['}
	for i, e := range errs {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"message":`...)
		b = appendString(b, e.Message)
		b = append(b, `,"errorCode":`...)
		b = appendString(b, e.Code)
		if e.Code != org.CodeNotFound {
			b = append(b, `,"fields":`...)
			b = appendStrings(b, e.Fields)
		}
		b = append(b, '}')
	}
	return reply{status: status, body: append(b, ']')}
}

// rowURL is the address of a record.
func rowURL(version int, obj *schema.Object, id string) string {
	return "/services/data/v" + itoa(version) + ".0/sobjects/" + obj.Name + "/" + id
}

func html(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "text/html;charset=UTF-8")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, "<html><body>"+body+"</body></html>") // the client is gone: nobody to tell
}

const worthPacking = 1024 // bytes

var packers = sync.Pool{New: func() any {
	z, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // the level is a valid one
	return z
}}

// send writes a reply, packed if the client takes that.
func (a *API) send(w http.ResponseWriter, r *http.Request, rep reply) {
	h := w.Header()
	if rep.location != "" {
		h.Set("Location", rep.location)
	}
	h.Set("Sforce-Limit-Info", "api-usage="+itoa(int(a.used.Load()))+"/"+itoa(a.cfg.DailyLimit))
	if rep.status == http.StatusNoContent {
		w.WriteHeader(rep.status)
		return
	}
	h.Set("Content-Type", jsonType)
	if rep.kind != "" {
		h.Set("Content-Type", rep.kind)
	}
	if len(rep.body) < worthPacking || !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Length", itoa(len(rep.body)))
		w.WriteHeader(rep.status)
		_, _ = w.Write(rep.body) // the client is gone: nobody to tell
		return
	}
	h.Set("Content-Encoding", "gzip")
	w.WriteHeader(rep.status)
	z, _ := packers.Get().(*gzip.Writer)
	defer packers.Put(z)
	z.Reset(w)
	_, _ = z.Write(rep.body)
	_ = z.Close()
}
