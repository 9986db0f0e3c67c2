package cases_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/test/harness"
)

// A login host that can't serve the flow is refused before anything runs, with
// the address to use.
func TestE05HostOfClientCredentials(t *testing.T) {
	t.Parallel()
	for _, host := range []string{"https://login.salesforce.com", "https://test.salesforce.com", "https://acme.lightning.force.com"} {
		dir := t.TempDir()
		write(t, dir, "bridge.yaml", "listen: 127.0.0.1:0\nsalesforce:\n  login_url: "+host+`
  auth: {flow: client_credentials, client_id: c, client_secret: "${CLIENT}"}
store: {dir: ./data}
mappings: [shop.yaml]
`)
		write(t, dir, "shop.yaml", generic("shop", things))
		for _, command := range []string{"check", "serve"} {
			r := harness.Invoke(t, []string{"CLIENT=c", "HOOK=" + hookSecret}, command, "--config", dir+"/bridge.yaml")
			assert.Equal(t, 1, r.Code, "%s %s", command, host)
			assert.Contains(t, r.Out+r.Err, ".my.salesforce.com", "%s %s", command, host)
		}
	}
}

// The login answers with a page at first: a failure like any other, told in a
// few words and tried again; deliveries are refused so that they come again.
func TestE08LoginAnswersHTML(t *testing.T) {
	t.Parallel()
	w := prepare(t, overWire(t), generic("shop", things))
	answer := w.answering(harness.Logins, http.StatusOK, "text/html", "<html><body>"+repeat("Down for maintenance. ", 200)+"</body></html>")
	w.bridge.Launch(t)
	answer()
	assert.Less(t, len(w.rests(0)), 1000)
	w.org.Eventually(t, "the login must be tried again", w.bridge.Readiness(http.StatusOK))
	w.accepted("shop", `{"id":"a"}`)
	w.completed(w.settled()["shop:a"], "Created")
}

// The API is switched off for the org or the user: no reason to log in again.
func TestE10NoAccess(t *testing.T) {
	t.Parallel()
	w := prepare(t, func(c *harness.Config) { overWire(t)(c); c.Only = []string{"process"} }, generic("shop", things))
	w.staged("shop", `{"id":"a"}`)
	answer := w.answering(harness.Commits, http.StatusForbidden, "application/json",
		`[{"errorCode":"API_DISABLED_FOR_ORG","message":"The REST API is not enabled for this Organization."}]`)
	w.bridge.Start(t)
	answer()
	line := w.rests(0)
	assert.Contains(t, line, "API_DISABLED_FOR_ORG")
	assert.Len(t, w.wire.Calls(harness.Logins), 1)
	row := w.events()["shop:a"]
	assert.Equal(t, "Received", row["Status__c"])
	assert.Zero(t, attempts(t, row))
	require.False(t, strings.Contains(line, "data"), line)
}
