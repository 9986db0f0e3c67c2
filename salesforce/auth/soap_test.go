package auth_test

import (
	"bytes"
	"encoding/xml"
	"log"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/salesforce"
	"sfbridge/salesforce/auth"
)

const soapReply = `<?xml version="1.0" encoding="UTF-8"?><soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/" ` +
	`xmlns="urn:partner.soap.sforce.com"><soapenv:Body><loginResponse><result><passwordExpired>false</passwordExpired>` +
	`<serverUrl>https://acme.my.salesforce.com/services/Soap/u/64.0/00D</serverUrl><sessionId>S1</sessionId><userId>005</userId>` +
	`<userInfo><userName>canary-user@acme.example</userName></userInfo></result></loginResponse></soapenv:Body></soapenv:Envelope>`

func soapFault(code, text string) string {
	return `<?xml version="1.0"?><soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/" xmlns:sf="urn:fault.partner.soap.sforce.com">` +
		`<soapenv:Body><soapenv:Fault><faultcode>` + code + `</faultcode><faultstring>` + text + `</faultstring></soapenv:Fault></soapenv:Body></soapenv:Envelope>`
}

func passwordConfig(h *host) auth.Config {
	return auth.Config{Flow: auth.Password, LoginURL: "https://login.salesforce.com/", Username: `a<b>&"@acme.example`,
		Password: `p<w>&"'d`, SecurityToken: "tok&en", Transport: h, Jitter: func() float64 { return 0 }}
}

// The standard logger is global: not parallel.
func TestSOAPLogin(t *testing.T) {
	before := log.Writer()
	t.Cleanup(func() { log.SetOutput(before) })
	var logged bytes.Buffer
	log.SetOutput(&logged)

	h := always(200, soapReply)
	s := newSource(t, passwordConfig(h))
	got := session(t, s)
	assert.Equal(t, salesforce.Session{Token: "S1", Instance: "https://acme.my.salesforce.com"}, got)
	assert.Equal(t, "https://login.salesforce.com/services/Soap/u/64.0", h.requests[0].URL.String())
	assert.Equal(t, `"login"`, h.requests[0].Header.Get("SOAPAction"))
	var sent struct {
		Username string `xml:"Body>login>username"`
		Password string `xml:"Body>login>password"`
	}
	require.NoError(t, xml.Unmarshal([]byte(h.bodies[0]), &sent))
	assert.Equal(t, `a<b>&"@acme.example`, sent.Username)
	assert.Equal(t, `p<w>&"'dtok&en`, sent.Password)
	assert.Empty(t, logged.String(), "the carrier's own line about the user is kept out of the log")

	require.Len(t, s.Warnings(), 1)
	assert.Contains(t, s.Warnings()[0], "retires")
	assert.Empty(t, newSource(t, credentials(hang())).Warnings())
}

func TestSOAPLoginFailures(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		status int
		reply  string
		class  salesforce.Class
		code   string
		pause  time.Duration
	}{
		{"wrong password", 500, soapFault("sf:INVALID_LOGIN", "INVALID_LOGIN: Invalid username, password, security token; or user locked out."), salesforce.ClassAuth, "INVALID_LOGIN", 0},
		{"security token", 500, soapFault("LOGIN_MUST_USE_SECURITY_TOKEN", "m"), salesforce.ClassAuth, "LOGIN_MUST_USE_SECURITY_TOKEN", 0},
		{"too many logins", 500, soapFault("sf:LOGIN_RATE_EXCEEDED", "m"), salesforce.ClassLimit, "LOGIN_RATE_EXCEEDED", 30 * time.Minute},
		{"version retired", 500, soapFault("sf:UNSUPPORTED_API_VERSION", "m"), salesforce.ClassConfiguration, "UNSUPPORTED_API_VERSION", 0},
		{"password expired", 200, strings.Replace(soapReply, "<passwordExpired>false", "<passwordExpired>true", 1), salesforce.ClassAuth, "", 0},
		{"no session", 200, strings.Replace(soapReply, "S1", "", 1), salesforce.ClassRetryable, "", 0},
		{"html", 200, "<html><body>x</body></html>", salesforce.ClassRetryable, "", 0},
		{"empty list", 500, "[]", salesforce.ClassRetryable, "", 0},
		{"empty", 200, "", salesforce.ClassRetryable, "", 0},
		{"plain http instance", 200, strings.Replace(soapReply, "https://acme", "http://acme", 1), salesforce.ClassAuth, "", 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := always(c.status, c.reply)
			e := failure(t, newSource(t, passwordConfig(h)))
			assert.Equal(t, c.class, e.Class)
			assert.Equal(t, c.code, e.Code)
			assert.Equal(t, c.pause, e.RetryAfter())
			assert.Equal(t, salesforce.OpLogin, e.Op)
			assert.Equal(t, 1, h.count())
		})
	}
}

func TestSOAPLoginIsBoundedInTime(t *testing.T) {
	t.Parallel()
	cfg := passwordConfig(hang())
	cfg.Timeout = 20 * time.Millisecond
	e := failure(t, newSource(t, cfg))
	assert.Equal(t, salesforce.ClassRetryable, e.Class)
}
