package login

import (
	"bytes"
	"encoding/xml"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"text/template"
)

const (
	lastSOAPVersion = 64 // login() is gone from 65 on
	soapPassword    = "sim"
	maxEnvelope     = 256 << 10
)

var soapPath = regexp.MustCompile(`^/services/Soap/(u|c)/(\d+)\.0(?:/[0-9A-Za-z]{15,18})?/?$`)

type envelope struct {
	Login *struct {
		Username string `xml:"username"`
		Password string `xml:"password"`
	} `xml:"Body>login"`
	Logout *struct{} `xml:"Body>logout"`
}

var loginAnswer = template.Must(template.New("login").Funcs(template.FuncMap{"x": escapeXML}).Parse(
	`<?xml version="1.0" encoding="UTF-8"?><soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/" xmlns="{{.Namespace}}" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><soapenv:Body><loginResponse><result>` +
		`<metadataServerUrl>{{x .Base}}/services/Soap/m/{{.Version}}.0/{{.Org}}</metadataServerUrl><passwordExpired>false</passwordExpired><sandbox>false</sandbox>` +
		`<serverUrl>{{x .Base}}/services/Soap/{{.Kind}}/{{.Version}}.0/{{.Org}}</serverUrl><sessionId>{{x .Session}}</sessionId><userId>{{.User}}</userId>` +
		`<userInfo><organizationId>{{.Org}}</organizationId><organizationMultiCurrency>false</organizationMultiCurrency><organizationName>Simulated Org</organizationName>` +
		`<profileId xsi:nil="true"/><roleId xsi:nil="true"/><sessionSecondsValid>7200</sessionSecondsValid><userDefaultCurrencyIsoCode xsi:nil="true"/>` +
		`<userEmail>{{x .Username}}</userEmail><userFullName>Integration User</userFullName><userId>{{.User}}</userId><userLanguage>en_US</userLanguage><userLocale>en_US</userLocale>` +
		`<userName>{{x .Username}}</userName><userTimeZone>GMT</userTimeZone><userType>Standard</userType></userInfo></result></loginResponse></soapenv:Body></soapenv:Envelope>`))

func escapeXML(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a strings.Builder takes everything
	return b.String()
}

// SOAP answers login and logout of the partner and enterprise APIs.
func (s *Service) SOAP(w http.ResponseWriter, r *http.Request) {
	at := soapPath.FindStringSubmatch(r.URL.Path)
	if at == nil || r.Method != http.MethodPost {
		SOAPFault(w, "UNKNOWN_EXCEPTION", "Destination URL not reset. The URL returned from login must be set")
		return
	}
	kind := at[1]
	version, err := strconv.Atoi(at[2])
	if err != nil || version > lastSOAPVersion || version < 31 {
		SOAPFault(w, "UNSUPPORTED_API_VERSION", "login() is not available in this API version")
		return
	}
	var in envelope
	data, err := io.ReadAll(io.LimitReader(r.Body, maxEnvelope))
	if err == nil {
		err = xml.Unmarshal(data, &in)
	}
	switch {
	case err != nil:
		SOAPFault(w, "UNKNOWN_EXCEPTION", "The request could not be parsed as XML")
	case in.Logout != nil:
		writeXML(w, http.StatusOK, []byte(`<?xml version="1.0" encoding="UTF-8"?><soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/"><soapenv:Body><logoutResponse/></soapenv:Body></soapenv:Envelope>`))
	case in.Login == nil:
		SOAPFault(w, "UNKNOWN_EXCEPTION", "No operation available for request")
	case in.Login.Username == "" || in.Login.Password != soapPassword:
		SOAPFault(w, "INVALID_LOGIN", "Invalid username, password, security token; or user locked out.")
	case !s.underLoginLimit():
		SOAPFault(w, "LOGIN_RATE_EXCEEDED", "Login rate exceeded")
	default:
		s.answerLogin(w, r, loginData{Kind: kind, Version: version, Username: in.Login.Username})
	}
}

type loginData struct {
	Kind                                string
	Version                             int
	Username                            string
	Base, Org, User, Session, Namespace string
}

func (s *Service) answerLogin(w http.ResponseWriter, r *http.Request, d loginData) {
	d.Base, d.Org, d.User, d.Session = BaseURL(r), s.cfg.OrgID, s.cfg.UserID, s.sessions.Issue()
	d.Namespace = "urn:partner.soap.sforce.com"
	if d.Kind == "c" {
		d.Namespace = "urn:enterprise.soap.sforce.com"
	}
	var out bytes.Buffer
	if err := loginAnswer.Execute(&out, d); err != nil {
		SOAPFault(w, "UNKNOWN_EXCEPTION", "An unexpected error occurred")
		return
	}
	writeXML(w, http.StatusOK, out.Bytes())
}

// SOAPFault writes a fault.
func SOAPFault(w http.ResponseWriter, code, message string) {
	message = escapeXML(message)
	writeXML(w, http.StatusInternalServerError, []byte(
		`<?xml version="1.0" encoding="UTF-8"?><soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/" xmlns:sf="urn:fault.partner.soap.sforce.com" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><soapenv:Body><soapenv:Fault>`+
			`<faultcode>sf:`+code+`</faultcode><faultstring>`+code+`: `+message+`</faultstring><detail><sf:LoginFault xsi:type="sf:LoginFault"><sf:exceptionCode>`+code+`</sf:exceptionCode><sf:exceptionMessage>`+message+`</sf:exceptionMessage></sf:LoginFault></detail></soapenv:Fault></soapenv:Body></soapenv:Envelope>`))
}

func writeXML(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "text/xml;charset=UTF-8")
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client is gone: nobody to tell
}
