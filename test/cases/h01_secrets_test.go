package cases_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"math/big"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/test/harness"
)

// Canaries of secrets that a test gives to the service.
const (
	canaryHook     = "canary-webhook-2f6b"
	canaryClient   = "canary-client-9d10"
	canaryAdmin    = "canary-admin-71c4"
	canaryPassword = "canary-password-55ae"
	canaryToken    = "canary-soaptoken-03bd"
	canarySession  = "canary-session-e8f2"
	canaryPayload  = "canary-payload-6a7c"
	canaryHeader   = "canary-header-c0de"
	canaryURL      = "canary-query-41ff"
)

// canaries are texts that must show up nowhere, by what they are.
type canaries map[string]string

func (c canaries) with(what, text string) canaries {
	more := maps.Clone(c)
	more[what] = text
	return more
}

// absent looks for every canary, as it is and in the codings it may travel in.
func (c canaries) absent(t *testing.T, where, text string) {
	t.Helper()
	for what, canary := range c {
		require.NotEmpty(t, canary, what)
		for _, form := range []string{
			canary, url.QueryEscape(canary), base64.StdEncoding.EncodeToString([]byte(canary)), hex.EncodeToString([]byte(canary)),
		} {
			assert.False(t, strings.Contains(text, form), "%s holds the %s", where, what)
		}
	}
}

const secretMapping = `source: shop
provider: generic
secrets: ["${SHOP_SECRET}"]
event: {id: $.id, type: $.type, object: $.charge}
routes:
  - name: charge
    when: {type: charge}
    records:
      - object: Payment__c
        key: {field: Stripe_Charge_Id__c, from: $.charge}
        fields: {Amount__c: {from: $.amount, as: number}, Origin__c: header.X-Origin}
`

// login is one way to log in, with what only it keeps secret.
type login struct {
	auth   string
	org    []string // arguments of the org
	env    map[string]string
	secret canaries
	fails  bool // the org refuses it
}

func logins(t *testing.T) map[string]login {
	t.Helper()
	key, keyFile, cert := keyPair(t)
	return map[string]login{
		"client credentials": {
			auth: `{flow: client_credentials, client_id: sim, client_secret: "${CLIENT}"}`, org: []string{"--client-secret", canaryClient},
			env: map[string]string{"CLIENT": canaryClient}, secret: canaries{"client secret": canaryClient},
		},
		"wrong client secret": {
			auth: `{flow: client_credentials, client_id: sim, client_secret: "${CLIENT}"}`,
			env:  map[string]string{"CLIENT": canaryClient}, secret: canaries{"client secret": canaryClient}, fails: true,
		},
		"jwt": {
			auth: fmt.Sprintf(`{flow: jwt, client_id: sim, username: u@example.test, private_key_file: %s}`, keyFile),
			org:  []string{"--jwt-cert", cert}, secret: canaries{"private key": key},
		},
		"password": {
			auth: `{flow: password, username: u@example.test, password: "${PASSWORD}", token: "${TOKEN}"}`,
			env:  map[string]string{"PASSWORD": canaryPassword, "TOKEN": canaryToken}, fails: true,
			secret: canaries{"password": canaryPassword, "security token": canaryToken},
		},
		"session": {
			auth: `{flow: session, access_token: "${SESSION}", instance_url: "${INSTANCE}"}`,
			env:  map[string]string{"SESSION": canarySession}, secret: canaries{"access token": canarySession}, fails: true,
		},
	}
}

// keyPair makes a private key; it returns a line from its middle and the files
// of key and certificate.
func keyPair(t *testing.T) (line, keyFile, certFile string) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	dir := t.TempDir()
	keyFile, certFile = filepath.Join(dir, "server.key"), filepath.Join(dir, "server.crt")
	text := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})
	require.NoError(t, os.WriteFile(keyFile, text, 0o600))
	require.NoError(t, os.WriteFile(certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}), 0o600))
	return strings.Split(string(text), "\n")[5], keyFile, certFile
}

// No secret of any kind shows in the output of the service at debug level, its
// metrics, its health or a stored row: whichever way it logs in, when the login
// works, when its refusal echoes the request, when the connection ends, when the
// service panics, and when it is made to dump its state.
func TestH01NoSecretShows(t *testing.T) {
	t.Parallel()
	for name, l := range logins(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			org := harness.StartOrg(t, append([]string{"--samples"}, l.org...)...)
			wire := harness.StartWire(t, org)
			env := map[string]string{"SHOP_SECRET": canaryHook, "ADMIN": canaryAdmin, "INSTANCE": wire.URL}
			maps.Copy(env, l.env)
			service := harness.Prepare(t, harness.Config{
				Org: org, Via: wire, Debug: true, Program: harness.BuildProgram(t, "sfbridge/test/crash/poisoned"),
				Mappings: map[string]string{"shop.yaml": secretMapping}, Env: env, Auth: l.auth,
				Admin: `{listen: 127.0.0.1:0, token: "${ADMIN}"}`,
			})
			secret := l.secret.with("webhook secret", canaryHook).with("admin token", canaryAdmin)
			shown := exercise(t, service, wire, l)
			for _, c := range wire.Calls(harness.Logins) {
				secret = secret.with("assertion", or(form(c.Body).Get("assertion"), "none"))
			}
			for _, token := range accessTokens(t, wire) {
				secret = secret.with("access token "+token[:8], token)
			}
			outside := secret.with("payload", canaryPayload).with("header", canaryHeader).with("query", canaryURL)
			for where, text := range shown {
				if where == "stored rows" {
					secret.with("header", canaryHeader).absent(t, where, text)
					continue
				}
				outside.absent(t, where, text)
			}
		})
	}
}

// exercise leads the service through success and failure and gathers all that
// it shows.
func exercise(t *testing.T, service *harness.Bridge, wire *harness.Wire, l login) map[string]string {
	t.Helper()
	shown := map[string]string{}
	if l.fails {
		service.Launch(t)
	} else {
		service.Start(t)
	}
	for _, body := range []string{
		`{"id":"e1","type":"charge","charge":"ch_1","amount":1,"note":"` + canaryPayload + `"}`,
		`{"id":"e2","type":"other","charge":"ch_2","note":"` + canaryPayload + `"}`,
		`{"id":"e3","type":"PANIC","charge":"ch_3","note":"` + canaryPayload + `"}`,
		`{"id":"` + canaryPayload, // not JSON
	} {
		for _, secret := range []string{canaryHook, "wrong"} {
			shown["answer to "+body+" "+secret] = deliver(t, service, secret, body)
		}
	}
	if !l.fails {
		service.Config.Org.Settle(t)
		shown["first log"] = service.Log().String()
		shown["log of upset logins"] = upsetLogins(t, service, wire)
	}
	for _, path := range []string{"/healthz", "/readyz", "/metrics", "/admin/v1/events"} {
		shown[path] = get(t, service.AdminURL()+path)
	}
	if !l.fails {
		rows := service.Config.Org.Query(t, "SELECT FIELDS(ALL) FROM Inbound_Event__c LIMIT 200")
		text, err := json.Marshal(rows)
		require.NoError(t, err)
		shown["stored rows"] = string(text)
	}
	service.Signal(t, syscall.SIGQUIT) // the runtime dumps every goroutine
	assert.NotZero(t, service.ExitCode(t))
	shown["standard output"] = service.Output().String()
	shown["standard error"] = service.Log().String()
	assert.Contains(t, shown["standard error"], "goroutine ")
	return shown
}

// upsetLogins has the session of one run after the other end, while the login's
// answer echoes the request, is no JSON, or never comes. It returns what these
// runs have logged; another one is running then.
func upsetLogins(t *testing.T, service *harness.Bridge, wire *harness.Wire) string {
	t.Helper()
	var logs strings.Builder
	for _, reply := range []func(*harness.Call){
		func(c *harness.Call) {
			text, _ := json.Marshal(map[string]string{"error": "invalid_grant", "error_description": "refused: " + string(c.Body)})
			c.Reply(harness.Answer{Status: http.StatusBadRequest, Header: http.Header{"Content-Type": {"application/json"}}, Body: text})
		},
		func(c *harness.Call) {
			c.Reply(harness.Answer{Status: http.StatusBadRequest, Header: http.Header{"Content-Type": {"text/html"}}, Body: append([]byte("<p>"), c.Body...)})
		},
		(*harness.Call).Cut,
	} {
		call := wire.Trap(harness.Logins)
		mark := service.Log().Mark()
		service.Config.Org.Plant(t, harness.Fault{"operation": "composite", "fault": "expire_session"})
		reply(call(t))
		_, ok := service.Log().Wait(harness.Patient(t), mark, "salesforce token: ")
		require.True(t, ok, "the failure must be told")
		service.Kill(t)
		logs.WriteString(service.Log().String())
		service.Config.Org.ClearFaults(t)
		service.Start(t)
	}
	return logs.String()
}

func deliver(t *testing.T, service *harness.Bridge, secret, body string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, service.URL()+"/webhooks/shop?token="+canaryURL, strings.NewReader(body))
	require.NoError(t, err)
	req.Header = http.Header{
		"X-Signature": {harness.HMACHex(secret, []byte(body))}, "Content-Type": {"application/json"},
		"Authorization": {"Bearer " + canaryHeader}, "Cookie": {"session=" + canaryHeader}, "X-Origin": {"test"},
	}
	return do(t, req)
}

func get(t *testing.T, address string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	require.NoError(t, err)
	return do(t, req)
}

func form(body []byte) url.Values {
	values, err := url.ParseQuery(string(body))
	if err != nil {
		return url.Values{}
	}
	return values
}

func or(text, other string) string {
	if text == "" {
		return other + "-such-text"
	}
	return text
}

// accessTokens are the tokens that the org has given out.
func accessTokens(t *testing.T, wire *harness.Wire) []string {
	t.Helper()
	var tokens []string
	for _, c := range wire.Calls(harness.Logins) {
		answer, ok := c.Answer()
		if !ok || answer.Status != http.StatusOK {
			continue
		}
		var given struct {
			AccessToken string `json:"access_token"`
		}
		require.NoError(t, json.Unmarshal(answer.Body, &given))
		tokens = append(tokens, given.AccessToken)
	}
	return slices.Compact(tokens)
}

// Secrets that stand where they must not, or that can't be used, are refused
// by the name of their place; a dump of the settings shows the reference.
func TestH01RefusalsShowNoSecret(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ old, new, says string }{
		"secret in the settings":  {`"${CLIENT}"`, canaryClient, "client_secret"},
		"Redis password":          {"{dir: ./data}", `{redis: "redis://:` + canaryPassword + `@127.0.0.1:1/0"}`, "store"},
		"secret in the mapping":   {`"${SHOP_SECRET}"`, canaryHook, "secrets"},
		"secret that can't work":  {"provider: generic", "provider: standard-webhooks", "secrets"},
		"unset reference":         {"${CLIENT}", "${NOT_SET}", "NOT_SET"},
		"key that is no key":      {`flow: client_credentials, client_id: sim, client_secret: "${CLIENT}"`, `flow: jwt, client_id: sim, username: u, private_key_file: bad.key`, "private"},
		"password in the address": {"login_url: ", "login_url: http://u:" + canaryPassword + "@", "login_url"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			settings := fmt.Sprintf("listen: 127.0.0.1:0\nsalesforce:\n  login_url: %s\n  allow_http: true\n  auth: {%s}\nstore: {dir: ./data}\nmappings: [shop.yaml]\n",
				"http://127.0.0.1:9", `flow: client_credentials, client_id: sim, client_secret: "${CLIENT}"`)
			require.True(t, strings.Contains(settings, c.old) || strings.Contains(secretMapping, c.old), "nothing to change")
			write(t, dir, "bridge.yaml", strings.Replace(settings, c.old, c.new, 1))
			write(t, dir, "shop.yaml", strings.Replace(secretMapping, c.old, c.new, 1))
			write(t, dir, "bad.key", "-----BEGIN PRIVATE KEY-----\n"+canarySession+"\n-----END PRIVATE KEY-----\n")
			env := []string{"CLIENT=" + canaryClient, "SHOP_SECRET=whsec_!!" + canaryHook}
			all := canaries{"client secret": canaryClient, "webhook secret": canaryHook, "password": canaryPassword, "key": canarySession}
			for _, command := range []string{"serve", "check"} {
				r := harness.Invoke(t, env, command, "--config", filepath.Join(dir, "bridge.yaml"))
				all.absent(t, command, r.Out+r.Err)
				if command == "serve" {
					assert.Equal(t, 1, r.Code, r.Err)
					assert.Contains(t, r.Err, c.says)
				}
			}
		})
	}
}
