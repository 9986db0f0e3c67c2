package auth

import (
	"bytes"
	"context"
	"encoding/xml"
	"html"
	"net/http"
	"strings"

	"github.com/simpleforce/simpleforce"

	"sfbridge/salesforce"
)

// soapVersion is the last API version with a SOAP login.
const soapVersion = "64.0"

// soapLogin logs in with user name and password by way of simpleforce.
type soapLogin struct {
	cfg  Config
	host string
}

func (l soapLogin) login(ctx context.Context) (salesforce.Session, error) {
	salesforce.QuietCarrier()
	x := &soapExchange{ctx: ctx, cfg: l.cfg}
	carrier := simpleforce.NewClient(l.host, "sfbridge", soapVersion)
	carrier.SetHttpClient(&http.Client{Transport: x})
	// The carrier escapes the password alone.
	err := carrier.LoginPassword(html.EscapeString(l.cfg.Username), l.cfg.Password.Reveal(),
		html.EscapeString(l.cfg.SecurityToken.Reveal()))
	if x.err != nil {
		return salesforce.Session{}, x.err
	}
	if err != nil || carrier.GetSid() == "" {
		return salesforce.Session{}, salesforce.UnreadableLogin(salesforce.OpLogin)
	}
	instance, err := salesforce.InstanceURL(carrier.GetLoc(), l.cfg.AllowHTTP)
	if err != nil {
		return salesforce.Session{}, &salesforce.Error{Op: salesforce.OpLogin, Status: http.StatusOK,
			Fault: salesforce.Fault{Message: err.Error(), Class: salesforce.ClassAuth}}
	}
	return salesforce.Session{Token: salesforce.Secret(carrier.GetSid()), Instance: instance, Org: x.org}, nil
}

// soapExchange is the transport below the carrier, for one login. The carrier
// sees the answer only when it is a good one, since it logs every other.
type soapExchange struct {
	ctx context.Context
	cfg Config
	org string
	err error
}

// RoundTrip implements http.RoundTripper.
func (x *soapExchange) RoundTrip(req *http.Request) (*http.Response, error) {
	// A bare name as SOAPAction is not what the protocol asks for.
	req.Header.Set("SOAPAction", `"login"`)
	req.Header.Set("Content-Type", "text/xml; charset=UTF-8")
	body, err := salesforce.SendLogin(x.ctx, salesforce.LoginRequest{
		Op: salesforce.OpLogin, Request: req, Transport: x.cfg.Transport, Hide: x.cfg.hide(req)})
	if err == nil {
		x.org, err = checkLogin(body)
	}
	if err != nil {
		x.err = err
		body = []byte("<Envelope/>")
	}
	return answer(req, http.StatusOK, body), nil
}

// checkLogin says whether a login has worked, and in which org.
func checkLogin(body []byte) (org string, err error) {
	var envelope struct {
		XMLName   xml.Name `xml:"Envelope"`
		SessionID string   `xml:"Body>loginResponse>result>sessionId"`
		ServerURL string   `xml:"Body>loginResponse>result>serverUrl"`
		Expired   string   `xml:"Body>loginResponse>result>passwordExpired"`
		Org       string   `xml:"Body>loginResponse>result>userInfo>organizationId"`
	}
	dec := xml.NewDecoder(bytes.NewReader(body))
	if dec.Decode(&envelope) != nil || envelope.SessionID == "" || envelope.ServerURL == "" {
		return "", salesforce.UnreadableLogin(salesforce.OpLogin)
	}
	if strings.TrimSpace(envelope.Expired) == "true" {
		return "", &salesforce.Error{Op: salesforce.OpLogin, Status: http.StatusOK,
			Fault: salesforce.Fault{Message: "the password has expired", Class: salesforce.ClassAuth}}
	}
	return salesforce.ShortOrgID(strings.TrimSpace(envelope.Org)), nil
}
