package auth

import (
	"context"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"sfbridge/salesforce"
)

const (
	productionLogin = "https://login.salesforce.com"
	sandboxLogin    = "https://test.salesforce.com"
)

// method checks the settings of the flow and makes its login.
func (c Config) method() (login, error) {
	if c.Flow == GivenSession {
		return c.given()
	}
	host, problems := c.loginHost()
	switch c.Flow {
	case JWT:
		problems = append(problems, c.want("client_id", c.ClientID), c.want("username", c.Username), checkKey(c.PrivateKey))
	case ClientCredentials:
		problems = append(problems, c.want("client_id", c.ClientID), c.want("client_secret", c.ClientSecret.Reveal()),
			checkMyDomain(host))
	case Password:
		problems = append(problems, c.want("username", c.Username), c.want("password", c.Password.Reveal()))
	default:
		return nil, fmt.Errorf("salesforce.auth.flow is %q: want %s, %s, %s or %s",
			c.Flow, JWT, ClientCredentials, Password, GivenSession)
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	if c.Flow == Password {
		return soapLogin{cfg: c, host: host}, nil
	}
	return tokenLogin{cfg: c, host: host}, nil
}

func (c Config) want(name, value string) error {
	if strings.TrimSpace(value) == "" {
		return fmt.Errorf("salesforce.auth.%s is missing: flow %s needs it", name, c.Flow)
	}
	return nil
}

func (c Config) loginHost() (string, []error) {
	if strings.TrimSpace(c.LoginURL) == "" {
		return "", []error{errors.New("salesforce.login_url is missing: want " + productionLogin + ", " + sandboxLogin +
			" or https://<mydomain>.my.salesforce.com")}
	}
	host, err := salesforce.InstanceURL(c.LoginURL, c.AllowHTTP)
	if err != nil {
		return "", []error{fmt.Errorf("salesforce.login_url: %w", err)}
	}
	return host, nil
}

// givenSession is a session from outside. It can't be renewed: see Source.Renew.
type givenSession struct{ session salesforce.Session }

func (g givenSession) login(context.Context) (salesforce.Session, error) { return g.session, nil }

func (c Config) given() (login, error) {
	instance, err := salesforce.InstanceURL(c.InstanceURL, c.AllowHTTP)
	if err != nil {
		err = fmt.Errorf("salesforce.auth.instance_url: %w", err)
	}
	if err := errors.Join(c.want("access_token", c.AccessToken.Reveal()), err); err != nil {
		return nil, err
	}
	return givenSession{salesforce.Session{Token: c.AccessToken, Instance: instance}}, nil
}

// checkKey makes sure that the key will sign, without ever quoting it.
func checkKey(key salesforce.Secret) error {
	if strings.TrimSpace(key.Reveal()) == "" {
		return errors.New("salesforce.auth.private_key_file is missing: flow jwt needs an RSA private key")
	}
	block, _ := pem.Decode([]byte(key.Reveal()))
	if block == nil {
		return errors.New("salesforce.auth.private_key_file is not PEM: want -----BEGIN PRIVATE KEY-----")
	}
	if _, err := x509.ParsePKCS1PrivateKey(block.Bytes); err == nil {
		return nil
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if _, isRSA := parsed.(*rsa.PrivateKey); err != nil || !isRSA {
		return errors.New("salesforce.auth.private_key_file holds no RSA private key without a passphrase")
	}
	return nil
}

// checkMyDomain refuses hosts that never take the client credentials flow.
func checkMyDomain(host string) error {
	name := hostname(host)
	if name == "login.salesforce.com" || name == "test.salesforce.com" ||
		strings.HasSuffix(name, ".lightning.force.com") || strings.HasSuffix(name, ".salesforce-setup.com") {
		return fmt.Errorf("salesforce.login_url %s does not take the flow client_credentials: %s", host, useMyDomain)
	}
	return nil
}

const useMyDomain = "use https://<mydomain>.my.salesforce.com"

// Audience is the JWT audience that belongs to a login URL: that of the login
// host for production, of the test host for sandboxes and scratch orgs. Only
// whole labels of the host name count: an org may be called sandbox.
func Audience(loginURL string) string {
	name := hostname(loginURL)
	first, rest, _ := strings.Cut(name, ".")
	switch {
	case name == "test.salesforce.com":
		return sandboxLogin
	case !strings.HasSuffix("."+rest, ".my.salesforce.com"):
		return productionLogin
	case strings.HasPrefix(rest, "sandbox."), strings.HasPrefix(rest, "scratch."), strings.Contains(first, "--"):
		return sandboxLogin
	}
	return productionLogin
}

func hostname(rawURL string) string {
	u, err := url.Parse(rawURL)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}
