package auth_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/salesforce"
	"sfbridge/salesforce/auth"
)

func TestJWTBearer(t *testing.T) {
	t.Parallel()
	h := inTurn("T1")
	got := session(t, newSource(t, jwtConfig(t, h)))
	assert.Equal(t, "T1", got.Token.Reveal())
	assert.Equal(t, "https://acme.my.salesforce.com", got.Instance)

	require.Equal(t, 1, h.count())
	assert.Equal(t, "https://login.salesforce.com/services/oauth2/token", h.requests[0].URL.String())
	form, err := url.ParseQuery(h.bodies[0])
	require.NoError(t, err)
	assert.Equal(t, "urn:ietf:params:oauth:grant-type:jwt-bearer", form.Get("grant_type"))
	claims := jwt.MapClaims{}
	_, err = jwt.ParseWithClaims(form.Get("assertion"), claims, func(*jwt.Token) (any, error) { return &testKey().PublicKey, nil },
		jwt.WithValidMethods([]string{"RS256"}))
	require.NoError(t, err)
	assert.Equal(t, "client-id", claims["iss"])
	assert.Equal(t, "hook@acme.example", claims["sub"])
	assert.Equal(t, "https://login.salesforce.com", claims["aud"])
	exp, err := claims.GetExpirationTime()
	require.NoError(t, err)
	assert.LessOrEqual(t, time.Until(exp.Time), 3*time.Minute)
}

func TestJWTAudience(t *testing.T) {
	t.Parallel()
	for loginURL, want := range map[string]string{
		"https://login.salesforce.com":                       "https://login.salesforce.com",
		"https://login.salesforce.com/":                      "https://login.salesforce.com",
		"https://test.salesforce.com":                        "https://test.salesforce.com",
		"https://acme--uat.sandbox.my.salesforce.com":        "https://test.salesforce.com",
		"https://ACME--UAT.sandbox.my.salesforce.com":        "https://test.salesforce.com",
		"https://acme--uat.my.salesforce.com":                "https://test.salesforce.com",
		"https://brave-dog-1.scratch.my.salesforce.com":      "https://test.salesforce.com",
		"https://acme.my.salesforce.com":                     "https://login.salesforce.com",
		"https://sandbox.my.salesforce.com":                  "https://login.salesforce.com",
		"https://acmesandbox.my.salesforce.com":              "https://login.salesforce.com",
		"https://acme.develop.my.salesforce.com":             "https://login.salesforce.com",
		"https://sandbox.evil.example":                       "https://login.salesforce.com",
		"https://acme--uat.sandbox.my.salesforce.com.evil.e": "https://login.salesforce.com",
		"http://127.0.0.1:8089":                              "https://login.salesforce.com",
	} {
		assert.Equal(t, want, auth.Audience(loginURL), loginURL)
	}

	t.Run("a set audience wins and the request goes to the login host", func(t *testing.T) {
		t.Parallel()
		h := inTurn("T1")
		session(t, newSource(t, jwtConfig(t, h, func(c *auth.Config) {
			c.LoginURL, c.Audience = "https://acme--uat.sandbox.my.salesforce.com/", "https://aud.example/"
		})))
		assert.Equal(t, "acme--uat.sandbox.my.salesforce.com", h.requests[0].URL.Host)
		form, err := url.ParseQuery(h.bodies[0])
		require.NoError(t, err)
		claims := jwt.MapClaims{}
		_, _, err = jwt.NewParser().ParseUnverified(form.Get("assertion"), claims)
		require.NoError(t, err)
		assert.Equal(t, "https://aud.example", claims["aud"])
	})
	t.Run("a refused audience is named with its setting", func(t *testing.T) {
		t.Parallel()
		e := failure(t, newSource(t, jwtConfig(t, always(400, `{"error":"invalid_grant","error_description":"audience is invalid"}`))))
		assert.Equal(t, salesforce.ClassAuth, e.Class)
		assert.Contains(t, e.Error(), "https://login.salesforce.com")
		assert.Contains(t, e.Error(), "salesforce.auth.audience")
	})
}

func TestClientCredentials(t *testing.T) {
	t.Parallel()
	h := inTurn("T1")
	session(t, newSource(t, credentials(h)))
	require.Equal(t, 1, h.count(), "no second request to find out how to authenticate")
	assert.Equal(t, "https://acme.my.salesforce.com/services/oauth2/token", h.requests[0].URL.String())
	form, err := url.ParseQuery(h.bodies[0])
	require.NoError(t, err)
	assert.Equal(t, url.Values{"grant_type": {"client_credentials"}, "client_id": {"client-id"},
		"client_secret": {"canary-client-secret&<x>"}}, form)
}

func TestClientCredentialsHost(t *testing.T) {
	t.Parallel()
	for _, loginURL := range []string{"https://login.salesforce.com", "https://test.salesforce.com/", "https://acme.lightning.force.com",
		"https://LOGIN.salesforce.com", "https://acme.my.salesforce-setup.com"} {
		_, err := auth.New(credentials(hang(), func(c *auth.Config) { c.LoginURL = loginURL }))
		require.ErrorContains(t, err, "use https://<mydomain>.my.salesforce.com", loginURL)
	}
	for _, loginURL := range []string{"https://acme.my.salesforce.com", "https://acme--uat.sandbox.my.salesforce.com"} {
		_, err := auth.New(credentials(hang(), func(c *auth.Config) { c.LoginURL = loginURL }))
		require.NoError(t, err, loginURL)
	}
	_, err := auth.New(credentials(hang(), func(c *auth.Config) { c.LoginURL, c.AllowHTTP = "http://127.0.0.1:8089", true }))
	require.NoError(t, err, "a simulator on this machine is its own My Domain")

	e := failure(t, newSource(t, credentials(always(400,
		`{"error":"invalid_grant","error_description":"request not supported on this domain"}`))))
	assert.Contains(t, e.Error(), "use https://<mydomain>.my.salesforce.com")
	assert.Equal(t, salesforce.ClassAuth, e.Class)
}

func TestExpiryAndInstanceInTheReply(t *testing.T) {
	t.Parallel()
	for name, reply := range map[string]string{
		"no expires_in":      `{"access_token":"T1","instance_url":"https://acme.my.salesforce.com","issued_at":"1767225600000"}`,
		"number":             `{"access_token":"T1","instance_url":"https://acme.my.salesforce.com","expires_in":7200}`,
		"text":               `{"access_token":"T1","instance_url":"https://acme.my.salesforce.com","expires_in":"7200"}`,
		"nonsense":           `{"access_token":"T1","instance_url":"https://acme.my.salesforce.com","expires_in":"soon"}`,
		"already over":       `{"access_token":"T1","instance_url":"https://acme.my.salesforce.com","expires_in":-5}`,
		"no scheme":          `{"access_token":"T1","instance_url":"acme.my.salesforce.com"}`,
		"slash and path":     `{"access_token":"T1","instance_url":"https://acme.my.salesforce.com//services/data/"}`,
		"token type omitted": `{"access_token":"T1","instance_url":"https://acme.my.salesforce.com/"}`,
	} {
		for _, cfg := range []auth.Config{jwtConfig(t, always(200, reply)), credentials(always(200, reply))} {
			s := newSource(t, cfg)
			for range 3 {
				got := session(t, s)
				assert.Equal(t, "https://acme.my.salesforce.com", got.Instance, name)
				assert.Equal(t, "T1", got.Token.Reveal(), name)
			}
			assert.Equal(t, 1, cfg.Transport.(*host).count(), "%s: a token is used until Salesforce refuses it", name)
		}
	}
	for name, reply := range map[string]string{
		"plain http": `{"access_token":"T1","instance_url":"http://acme.my.salesforce.com"}`,
		"no host":    `{"access_token":"T1"}`,
	} {
		e := failure(t, newSource(t, credentials(always(200, reply))))
		assert.Equal(t, salesforce.ClassAuth, e.Class, name)
	}
}

func TestTokenErrors(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		status int
		reply  string
		class  salesforce.Class
		text   string
	}{
		{"refused", 400, `{"error":"invalid_grant","error_description":"authentication failure"}`, salesforce.ClassAuth, "authentication failure"},
		{"not approved", 400, `{"error":"invalid_grant","error_description":"user hasn't approved this consumer"}`, salesforce.ClassAuth, "pre-authorize"},
		{"clock", 400, `{"error":"invalid_grant","error_description":"expired authorization code"}`, salesforce.ClassAuth, "clock"},
		{"no run-as user", 400, `{"error":"invalid_grant","error_description":"no client credentials user enabled"}`, salesforce.ClassAuth, "Run As"},
		{"client", 400, `{"error":"invalid_client_id","error_description":"client identifier invalid"}`, salesforce.ClassAuth, "salesforce.auth.client_id"},
		{"not installed", 400, `{"error":"invalid_client","error_description":"app must be installed into org"}`, salesforce.ClassAuth, "install"},
		{"new code", 400, `{"error":"brand_new"}`, salesforce.ClassAuth, "brand_new"},
		{"error with 200", 200, `{"error":"invalid_grant"}`, salesforce.ClassRetryable, "none to a login"},
		{"too many logins", 400, `{"error":"rate_limit_exceeded"}`, salesforce.ClassLimit, "rate_limit"},
		{"html 200", 200, `<html><title>Maintenance</title></html>`, salesforce.ClassRetryable, "none to a login"},
		{"html 503", 503, `<html><title>Maintenance</title></html>`, salesforce.ClassRetryable, "Maintenance"},
		{"html 404", 404, `<html><title>URL No Longer Exists</title></html>`, salesforce.ClassAuth, "URL No Longer Exists"},
		{"list", 200, `[]`, salesforce.ClassRetryable, "none to a login"},
		{"empty", 200, ``, salesforce.ClassRetryable, "none to a login"},
		{"too long", 200, `{"access_token":"` + strings.Repeat("x", 2<<20) + `"}`, salesforce.ClassRetryable, "too long"},
		{"redirect", 302, ``, salesforce.ClassRetryable, "salesforce.login_url"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, cfg := range []auth.Config{jwtConfig(t, always(c.status, c.reply)), credentials(always(c.status, c.reply))} {
				e := failure(t, newSource(t, cfg))
				assert.Equal(t, c.class, e.Class)
				assert.Contains(t, e.Error(), c.text)
				assert.Equal(t, salesforce.OpToken, e.Op)
				assert.Less(t, len(e.Error()), 500)
				assert.Equal(t, 1, cfg.Transport.(*host).count())
			}
		})
	}
}

func TestSettingsAreCheckedAllAtOnce(t *testing.T) {
	t.Parallel()
	_, err := auth.New(auth.Config{Flow: auth.JWT})
	for _, part := range []string{"login_url", "client_id", "username", "private_key_file"} {
		require.ErrorContains(t, err, part)
	}
	_, err = auth.New(auth.Config{Flow: auth.Password, LoginURL: "http://login.salesforce.com"})
	for _, part := range []string{"plain http", "username", "password"} {
		require.ErrorContains(t, err, part)
	}
	_, err = auth.New(auth.Config{Flow: auth.GivenSession})
	for _, part := range []string{"access_token", "instance_url"} {
		require.ErrorContains(t, err, part)
	}
	_, err = auth.New(auth.Config{Flow: "device"})
	require.ErrorContains(t, err, "jwt, client_credentials, password or session")
	for _, key := range []salesforce.Secret{"canary-key", "-----BEGIN PRIVATE KEY-----\nY2FuYXJ5\n-----END PRIVATE KEY-----\n"} {
		_, err = auth.New(jwtConfig(t, hang(), func(c *auth.Config) { c.PrivateKey = key }))
		require.ErrorContains(t, err, "private_key_file")
		assert.NotContains(t, err.Error(), "canary")
		assert.NotContains(t, err.Error(), "Y2FuYXJ5")
	}
}

// TestNoSecretInErrors echoes the whole request in every answer.
func TestNoSecretInErrors(t *testing.T) {
	t.Parallel()
	echoes := map[string]func(body string) (int, string){
		"description": func(b string) (int, string) {
			return 400, fmt.Sprintf(`{"error":"invalid_grant","error_description":%q}`, b)
		},
		"decoded": func(b string) (int, string) {
			b, _ = url.QueryUnescape(b)
			return 400, fmt.Sprintf(`{"error":"x","error_description":%q}`, b)
		},
		"text": func(b string) (int, string) { return 500, b },
		"html": func(b string) (int, string) { return 502, "<html><title>" + b + "</title></html>" },
		"200":  func(b string) (int, string) { return 200, "<html>" + b },
	}
	for name, echo := range echoes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := func() *host {
				return &host{answer: func(_ *http.Request, body string, _ int) (int, string) { return echo(body) }}
			}
			soap := credentials(h(), func(c *auth.Config) {
				c.Flow, c.Username, c.Password, c.SecurityToken = auth.Password, "hook@acme.example", "canary-pass<&\"", "canary-token"
			})
			for _, cfg := range []auth.Config{jwtConfig(t, h()), credentials(h()), soap} {
				s := newSource(t, cfg)
				_, err := s.Session(t.Context())
				require.Error(t, err)
				shown := fmt.Sprintf("%v %+v %#v %v %+v %#v %+v", err, err, err, cfg, cfg, cfg, s) + fmt.Sprintf("%#v", s)
				assert.NotContains(t, shown, "canary")
				assert.NotContains(t, shown, "eyJ", "the assertion")
				assert.NotContains(t, shown, "PRIVATE KEY")
			}
		})
	}
}
