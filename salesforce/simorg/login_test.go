package simorg_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/salesforce/simorg"
	"sfbridge/salesforce/simorg/fault"
)

func (s *sim) token(form string, headers ...string) answer {
	s.t.Helper()
	return s.do("POST", "/services/oauth2/token", form, append([]string{"Content-Type", "application/x-www-form-urlencoded"}, headers...)...)
}

const clientCredentials = "grant_type=client_credentials&client_id=sim&client_secret=sim"

func TestClientCredentials(t *testing.T) {
	t.Parallel()
	s := setup(t)
	a := s.token(clientCredentials)
	require.Equal(t, 200, a.StatusCode, a.body)
	var fields map[string]string
	require.NoError(t, json.Unmarshal([]byte(a.body), &fields), "all values are strings")
	assert.Equal(t, s.URL(), fields["instance_url"])
	assert.Equal(t, "Bearer", fields["token_type"])
	assert.Regexp(t, `^\d{13}$`, fields["issued_at"])
	assert.NotContains(t, fields, "expires_in")
	assert.NotContains(t, fields, "refresh_token")
	assert.Equal(t, 200, s.do("GET", "limits", "", "Authorization", "Bearer "+fields["access_token"]).StatusCode)
	assert.Equal(t, 200, s.do("GET", "limits", "", "Authorization", "OAuth "+fields["access_token"]).StatusCode)
	basic := base64.StdEncoding.EncodeToString([]byte("sim:sim"))
	assert.Equal(t, 200, s.token("grant_type=client_credentials", "Authorization", "Basic "+basic).StatusCode)
	assert.Equal(t, map[string]int{"token": 2}, s.Stats().Logins)
	assert.Equal(t, 2, s.Stats().APICalls.Total, "token requests are no API calls")
}

func TestTokenRefusals(t *testing.T) {
	t.Parallel()
	s := setup(t)
	for _, c := range []struct{ name, form, code, description string }{
		{"unknown client", "grant_type=client_credentials&client_id=x&client_secret=sim", "invalid_client_id", "client identifier invalid"},
		{"wrong secret", "grant_type=client_credentials&client_id=sim&client_secret=x", "invalid_client", "invalid client credentials"},
		{"password is blocked", "grant_type=password&username=a&password=sim", "invalid_grant", "authentication failure"},
		{"refresh", "grant_type=refresh_token&refresh_token=x", "invalid_grant", "expired access/refresh token"},
		{"device", "grant_type=device", "unsupported_grant_type", "grant type not supported"},
		{"nothing", "", "invalid_request", "grant_type is required"},
		{"no assertion", "grant_type=" + bearerGrant + "&assertion=x", "invalid_grant", "invalid assertion"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a := s.token(c.form)
			assert.Equal(t, 400, a.StatusCode)
			assert.JSONEq(t, fmt.Sprintf(`{"error":%q,"error_description":%q}`, c.code, c.description), a.body)
		})
	}
}

func TestClientCredentialsNeedMyDomain(t *testing.T) {
	t.Parallel()
	s := setup(t)
	for host, want := range map[string]int{"login.salesforce.com": 400, "acme.my.salesforce.com": 200, "localhost:1": 200, "[::1]:1": 200, "10.0.0.1": 400} {
		req, err := http.NewRequest("POST", s.URL()+"/services/oauth2/token", strings.NewReader(clientCredentials))
		require.NoError(t, err)
		req.Host = host
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		resp, err := s.client.Do(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		assert.Equal(t, want, resp.StatusCode, host)
	}
}

const bearerGrant = "urn:ietf:params:oauth:grant-type:jwt-bearer"

func assertion(t *testing.T, key *rsa.PrivateKey, claims jwt.MapClaims) string {
	t.Helper()
	text, err := jwt.NewWithClaims(jwt.SigningMethodRS256, claims).SignedString(key)
	require.NoError(t, err)
	return "grant_type=" + url.QueryEscape(bearerGrant) + "&assertion=" + text
}

func TestJWTBearer(t *testing.T) {
	t.Parallel()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	require.NoError(t, err)
	cert := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	configure := func(c *simorg.Config) { c.JWTCert, c.Now = cert, func() time.Time { return now } }
	s := setup(t, configure)
	strict := setup(t, configure, func(c *simorg.Config) { c.Unsure = []string{"jwt-three-minutes"} })

	good := func() jwt.MapClaims {
		return jwt.MapClaims{"iss": "sim", "sub": "hook@acme.example", "aud": "https://login.salesforce.com", "exp": now.Unix() + 180}
	}
	with := func(name string, v any) jwt.MapClaims {
		claims := good()
		claims[name] = v
		return claims
	}
	for _, c := range []struct {
		name   string
		key    *rsa.PrivateKey
		claims jwt.MapClaims
		want   string // empty: accepted
	}{
		{"good", key, good(), ""},
		{"sandbox", key, with("aud", "https://test.salesforce.com"), ""},
		{"own address", key, with("aud", s.URL()), ""},
		{"my domain", key, with("aud", "https://acme.my.salesforce.com/"), ""},
		{"exp as text", key, with("exp", fmt.Sprint(now.Unix()+180)), ""},
		{"other key", other, good(), "invalid assertion"},
		{"wrong audience", key, with("aud", "https://example.com"), "audience is invalid"},
		{"plain http audience", key, with("aud", "http://login.salesforce.com"), "audience is invalid"},
		{"expired", key, with("exp", now.Unix()-1), "expired authorization code"},
		{"no exp", key, with("exp", nil), "expired authorization code"},
		{"no user", key, with("sub", ""), "user hasn't approved this consumer"},
		{"no client", key, with("iss", ""), "client identifier invalid"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a := s.token(assertion(t, c.key, c.claims))
			if c.want == "" {
				assert.Equal(t, 200, a.StatusCode, a.body)
				return
			}
			assert.Equal(t, 400, a.StatusCode)
			assert.Contains(t, a.body, c.want)
		})
	}
	assert.Equal(t, 200, s.token(assertion(t, key, with("exp", now.UnixMilli()))).StatusCode)
	assert.Equal(t, 400, strict.token(assertion(t, key, with("exp", now.Unix()+181))).StatusCode)
	assert.Equal(t, 200, strict.token(assertion(t, key, good())).StatusCode)
	assert.Equal(t, 200, setup(t, func(c *simorg.Config) { c.Now = configured(now) }).token(assertion(t, other, good())).StatusCode,
		"without a certificate the signature goes unchecked")
	_, err = simorg.New(simorg.Config{JWTCert: []byte("nonsense")})
	require.ErrorContains(t, err, "JWT certificate")
}

func configured(now time.Time) func() time.Time { return func() time.Time { return now } }

func soapLogin(user, password string) string {
	return `<?xml version="1.0" encoding="utf-8"?><env:Envelope xmlns:env="http://schemas.xmlsoap.org/soap/envelope/"><env:Body><n1:login xmlns:n1="urn:partner.soap.sforce.com"><n1:username>` +
		user + `</n1:username><n1:password>` + password + `</n1:password></n1:login></env:Body></env:Envelope>`
}

func TestSOAPLogin(t *testing.T) {
	t.Parallel()
	s := setup(t)
	for _, path := range []string{"/services/Soap/u/64.0", "/services/Soap/c/64.0/", "/services/Soap/u/59.0/00D000000000001"} {
		a := s.do("POST", path, soapLogin("a&amp;b@example.com", "sim"), "Content-Type", "text/xml")
		require.Equal(t, 200, a.StatusCode, a.body)
		assert.Contains(t, a.body, "<userName>a&amp;b@example.com</userName>")
		assert.Contains(t, a.body, "<serverUrl>"+s.URL()+"/services/Soap/")
		session := regexp.MustCompile(`<sessionId>([^<]+)</sessionId>`).FindStringSubmatch(a.body)
		require.Len(t, session, 2)
		assert.Equal(t, 200, s.do("GET", "limits", "", "Authorization", "Bearer "+session[1]).StatusCode)
	}
	for _, c := range []struct{ path, body, code string }{
		{"/services/Soap/u/64.0", soapLogin("a", "wrong"), "INVALID_LOGIN"},
		{"/services/Soap/u/64.0", soapLogin("", "sim"), "INVALID_LOGIN"},
		{"/services/Soap/u/65.0", soapLogin("a", "sim"), "UNSUPPORTED_API_VERSION"},
		{"/services/Soap/u/64.0", `<x`, "UNKNOWN_EXCEPTION"},
		{"/services/Soap/m/64.0", soapLogin("a", "sim"), "UNKNOWN_EXCEPTION"},
	} {
		a := s.do("POST", c.path, c.body, "Content-Type", "text/xml")
		assert.Equal(t, 500, a.StatusCode)
		assert.Contains(t, a.body, "<faultcode>sf:"+c.code+"</faultcode>")
	}
}

func TestSessions(t *testing.T) {
	t.Parallel()
	var now atomic.Int64
	s := setup(t, func(c *simorg.Config) {
		c.Now = func() time.Time { return time.Unix(1_800_000_000+now.Load(), 0) }
	})
	expired := `[{"message":"Session expired or invalid","errorCode":"INVALID_SESSION_ID"}]`
	var token struct {
		AccessToken string `json:"access_token"`
	}
	s.token(clientCredentials).into(t, &token)
	bearer := "Bearer " + token.AccessToken
	use := func() answer { return s.do("GET", "limits", "", "Authorization", bearer) }
	now.Add(7200)
	assert.Equal(t, 200, use().StatusCode, "use keeps it alive")
	now.Add(7200)
	assert.Equal(t, 200, use().StatusCode)
	now.Add(7201)
	a := use()
	assert.Equal(t, 401, a.StatusCode)
	assert.JSONEq(t, expired, a.body)
	assert.Equal(t, 200, s.do("GET", "limits", "").StatusCode, "the server's own token does not end by time")

	assert.JSONEq(t, expired, s.do("GET", "limits", "", "Authorization", "Bearer nonsense").body)
	a = s.do("GET", "limits", "", "Authorization", "Nonsense")
	assert.Equal(t, 401, a.StatusCode)
	assert.Contains(t, a.body, "INVALID_AUTH_HEADER")

	s.token(clientCredentials).into(t, &token)
	bearer = "Bearer " + token.AccessToken
	assert.Equal(t, 200, s.do("POST", "/services/oauth2/revoke", "token="+url.QueryEscape(token.AccessToken), "Content-Type", "application/x-www-form-urlencoded").StatusCode)
	assert.Equal(t, 401, use().StatusCode)
}

func TestLoginRate(t *testing.T) {
	t.Parallel()
	var now atomic.Int64
	s := setup(t, func(c *simorg.Config) {
		c.LoginsPerHour = 2
		c.Now = func() time.Time { return time.Unix(1_800_000_000+now.Load(), 0) }
	})
	assert.Equal(t, 200, s.token(clientCredentials).StatusCode)
	assert.Equal(t, 200, s.token(clientCredentials).StatusCode)
	assert.JSONEq(t, `{"error":"rate_limit_exceeded","error_description":"login rate exceeded"}`, s.token(clientCredentials).body)
	assert.Contains(t, s.do("POST", "/services/Soap/u/64.0", soapLogin("a", "sim"), "Content-Type", "text/xml").body, "LOGIN_RATE_EXCEEDED")
	now.Add(3600)
	assert.Equal(t, 200, s.token(clientCredentials).StatusCode)
}

func TestLoginFaults(t *testing.T) {
	t.Parallel()
	s := setup(t, plant(once(fault.Token, fault.Unavailable)), plant(once(fault.Token, fault.Limit)), plant(once(fault.Token, fault.HTML200)),
		plant(once(fault.Token, fault.DropAfter)), plant(once(fault.Token, fault.Malformed)), plant(once(fault.SOAP, fault.Unavailable)))
	assert.Equal(t, 503, s.token(clientCredentials).StatusCode)
	assert.Contains(t, s.token(clientCredentials).body, `"error":"rate_limit_exceeded"`)
	assert.Contains(t, s.token(clientCredentials).body, "<html>")
	_, err := s.try("POST", "/services/oauth2/token", clientCredentials)
	require.Error(t, err)
	assert.True(t, strings.HasPrefix(s.token(clientCredentials).body, "{,,"))
	assert.Equal(t, 200, s.token(clientCredentials).StatusCode)
	assert.Contains(t, s.do("POST", "/services/Soap/u/64.0", soapLogin("a", "sim")).body, "SERVER_UNAVAILABLE")
}

// A fault that ends every session leaves logins alone: the client goes round
// for ever if it does not stop itself.
func TestExpiredForEver(t *testing.T) {
	t.Parallel()
	s := setup(t, plant(fault.Fault{Operation: fault.Any, Kind: fault.ExpireSession}))
	for range 3 {
		var token struct {
			AccessToken string `json:"access_token"`
		}
		a := s.token(clientCredentials)
		require.Equal(t, 200, a.StatusCode)
		a.into(t, &token)
		assert.Equal(t, 401, s.do("GET", "limits", "", "Authorization", "Bearer "+token.AccessToken).StatusCode)
	}
}

func TestIdentity(t *testing.T) {
	t.Parallel()
	s := setup(t)
	a := s.do("GET", "/services/oauth2/userinfo", "")
	require.Equal(t, 200, a.StatusCode)
	var info map[string]any
	a.into(t, &info)
	id, _ := info["user_id"].(string)
	assert.Equal(t, "integration@sim.example", info["preferred_username"])
	assert.Equal(t, 200, s.do("GET", "sobjects/User/"+id, "").StatusCode)
	assert.Equal(t, 403, s.do("GET", "/services/oauth2/userinfo", "", "Authorization", "Bearer x").StatusCode)
	assert.Len(t, s.query("SELECT Id, Name, InstanceName, IsSandbox FROM Organization"), 1)
	assert.Equal(t, 1+1, s.Stats().APICalls.Total)
}
