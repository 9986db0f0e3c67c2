// Package auth logs in to Salesforce and keeps the session.
//
//	source, err := auth.New(auth.Config{Flow: auth.JWT, LoginURL: "https://login.salesforce.com", ...})
//	client, err := salesforce.New(salesforce.Config{Sessions: source})
//
// Four flows: JWT bearer and client credentials through golang.org/x/oauth2, a
// session given from outside, and the SOAP login with a password, which
// Salesforce retires (Warnings says so).
//
// However many callers meet an expired session, one login is made: it belongs
// to none of them, so that a caller who gives up doesn't take the others with
// it. A login that fails is not repeated before a pause has passed; until then
// callers get its error at once. With Shared set that holds for many processes
// too: one of them logs in, the others find its session. Errors are *salesforce.Error with a class.
package auth

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"sfbridge/salesforce"
)

// Flow is a way to log in.
type Flow string

const (
	// JWT is the OAuth JWT bearer flow: ClientID, Username, PrivateKey.
	JWT Flow = "jwt"
	// ClientCredentials is the OAuth flow of that name: ClientID, ClientSecret.
	ClientCredentials Flow = "client_credentials"
	// Password is the SOAP login: Username, Password, SecurityToken.
	Password Flow = "password"
	// GivenSession uses a token from outside: AccessToken, InstanceURL.
	GivenSession Flow = "session"
)

// Config says who logs in where. Fields that the flow doesn't name are not used.
type Config struct {
	Flow Flow
	// LoginURL is scheme and host: https://login.salesforce.com,
	// https://test.salesforce.com or the org's My Domain.
	LoginURL string
	ClientID string
	// ClientSecret of the client credentials flow.
	ClientSecret salesforce.Secret
	// Username of the JWT and password flows.
	Username string
	Password salesforce.Secret
	// SecurityToken is put behind the password; may be empty.
	SecurityToken salesforce.Secret
	// PrivateKey is the RSA key in PEM form.
	PrivateKey salesforce.Secret
	// Audience of the JWT; default: Audience(LoginURL).
	Audience string
	// AccessToken and InstanceURL of the session flow.
	AccessToken salesforce.Secret
	InstanceURL string
	// AllowHTTP permits plain http to this machine.
	AllowHTTP bool
	// Transport carries the logins; default salesforce.NewTransport().
	Transport http.RoundTripper
	// Timeout bounds a login; default 30 s.
	Timeout time.Duration
	// Shared is where processes of the same login leave their session for each
	// other, sealed. nil: nowhere.
	Shared Shared
	// Observer may be nil.
	Observer salesforce.Observer
	// Now is the clock; default time.Now.
	Now func() time.Time
	// Jitter gives a number in [0,1) by which pauses are spread; default random.
	Jitter func() float64
}

var _ salesforce.Sessions = (*Source)(nil)

// login makes one login.
type login interface {
	login(ctx context.Context) (salesforce.Session, error)
}

// Warnings tells what should be changed before long.
func (s *Source) Warnings() []string {
	if s.cfg.Flow != Password {
		return nil
	}
	return []string{fmt.Sprintf("salesforce.auth.flow %q uses the SOAP login (API %s), which Salesforce retires in Summer '27"+
		" and which new orgs have switched off: use jwt or client_credentials", Password, soapVersion)}
}
