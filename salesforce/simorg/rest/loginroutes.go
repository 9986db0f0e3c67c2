package rest

import (
	"net/http"
	"strings"

	"sfbridge/salesforce/simorg/fault"
	"sfbridge/salesforce/simorg/login"
	"sfbridge/salesforce/simorg/org"
)

// strikeLogin realises a planted fault of a login request. It reports whether
// the request is answered, and how to spoil the answer otherwise.
func (a *API) strikeLogin(w http.ResponseWriter, r *http.Request, op fault.Operation) (answered bool, spoil fault.Kind) {
	planted, struck := a.cfg.Faults.Call(fault.Subject{Operation: op})
	if !struck {
		return false, ""
	}
	switch planted.Kind {
	case fault.Limit, fault.ConcurrentLimit:
		a.refuseLogin(w, op, http.StatusBadRequest, "rate_limit_exceeded", "LOGIN_RATE_EXCEEDED")
	case fault.Unavailable:
		a.refuseLogin(w, op, http.StatusServiceUnavailable, "temporarily_unavailable", "SERVER_UNAVAILABLE")
	case fault.Slow:
		a.pause(planted.Delay)
		return false, ""
	default:
		return refuseAtEdge(w, r, planted.Kind), planted.Kind
	}
	return true, ""
}

func (a *API) refuseLogin(w http.ResponseWriter, op fault.Operation, status int, code, exception string) {
	if op == fault.SOAP {
		login.SOAPFault(w, exception, "The login was refused")
		return
	}
	login.Refuse(w, status, code, "the token request was refused")
}

func (a *API) serveLogin(w http.ResponseWriter, r *http.Request, op fault.Operation, serve http.HandlerFunc) {
	a.countLogin(op)
	answered, spoil := a.strikeLogin(w, r, op)
	if answered {
		return
	}
	a.pause(a.cfg.Latency)
	if spoil == "" {
		serve(w, r)
		return
	}
	answer := &recorder{header: http.Header{}}
	serve(answer, r)
	a.spoil(w, r, spoil, reply{status: answer.status, body: answer.body})
}

// recorder keeps an answer that a fault will spoil.
type recorder struct {
	header http.Header
	status int
	body   []byte
}

func (r *recorder) Header() http.Header { return r.header }

func (r *recorder) WriteHeader(status int) { r.status = status }

func (r *recorder) Write(data []byte) (int, error) {
	r.body = append(r.body, data...)
	return len(data), nil
}

func (a *API) serveToken(w http.ResponseWriter, r *http.Request) {
	a.serveLogin(w, r, fault.Token, a.cfg.Login.Token)
}

func (a *API) serveSOAP(w http.ResponseWriter, r *http.Request) {
	a.serveLogin(w, r, fault.SOAP, a.cfg.Login.SOAP)
}

func (a *API) serveRevoke(w http.ResponseWriter, r *http.Request) {
	token := r.URL.Query().Get("token")
	if r.Method == http.MethodPost && token == "" {
		r.Body = http.MaxBytesReader(w, r.Body, 64<<10)
		token = r.PostFormValue("token")
	}
	if !a.cfg.Sessions.Valid(token) {
		login.Refuse(w, http.StatusBadRequest, "unsupported_token_type", "this token type is not supported")
		return
	}
	a.cfg.Sessions.Revoke(token)
	w.WriteHeader(http.StatusOK)
}

// serveIdentity answers who the session belongs to.
func (a *API) serveIdentity(w http.ResponseWriter, r *http.Request) {
	if _, refusal := a.session(r); refusal != nil {
		html(w, http.StatusForbidden, "Bad_OAuth_Token")
		return
	}
	base := login.BaseURL(r)
	b := append([]byte(nil), `{"sub":"`+base+"/id/"+org.OrgID+"/"+org.UserID+`","id":"`+base+"/id/"+org.OrgID+"/"+org.UserID+`"`...)
	for _, pair := range [][2]string{
		{"user_id", org.UserID}, {"organization_id", org.OrgID}, {"preferred_username", org.Username},
		{"username", org.Username}, {"nickname", "integration"}, {"name", "Integration User"},
		{"display_name", "Integration User"}, {"email", org.Username}, {"given_name", "Integration"},
		{"family_name", "User"}, {"zoneinfo", "GMT"}, {"timezone", "GMT"}, {"user_type", "STANDARD"},
		{"language", "en_US"}, {"locale", "en_US"},
	} {
		b = append(b, `,"`+pair[0]+`":`...)
		b = appendString(b, pair[1])
	}
	rest := base + "/services/data/v{version}/"
	urls := []string{
		`"enterprise":"` + base + "/services/Soap/c/{version}/" + org.OrgID + `"`,
		`"partner":"` + base + "/services/Soap/u/{version}/" + org.OrgID + `"`,
		`"rest":"` + rest + `"`, `"sobjects":"` + rest + `sobjects/"`, `"query":"` + rest + `query/"`,
		`"custom_domain":"` + base + `"`,
	}
	b = append(b, `,"email_verified":true,"active":true,"utcOffset":0,"urls":{`+strings.Join(urls, ",")+`}}`...)
	a.send(w, r, ok(b))
}
