package e2e_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/test/harness"
)

// A wrong login is said at the start, before the first event, with what to check
// and without the secret. The service serves on what is durable without
// Salesforce.
func TestAWrongLogin(t *testing.T) {
	t.Parallel()
	org := harness.StartOrg(t, "--samples")
	for name, c := range map[string]struct {
		receiver, says string
		ready, status  int
	}{
		"auto":   {"{}", "events are spooled until it works", http.StatusOK, http.StatusAccepted},
		"staged": {"{ack: staged}", "senders get 503 until it works", http.StatusServiceUnavailable, http.StatusServiceUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := harness.Prepare(t, harness.Config{
				Org: org, Only: []string{"receive"}, Receiver: c.receiver,
				Mappings: map[string]string{"stripe.yaml": stripeMapping},
				Env:      map[string]string{"STRIPE_SECRET": secret, "SF_CLIENT_SECRET": "canary-wrong"},
			})
			b.Launch(t)
			line, ok := b.Log().Wait(harness.Patient(t), 0, "the login to Salesforce fails")
			require.True(t, ok)
			assert.Contains(t, line, `"level":"ERROR"`)
			assert.Contains(t, line, c.says)
			assert.Contains(t, line, "check salesforce.auth.client_id and client_secret")
			org.Eventually(t, "readiness", b.Readiness(c.ready))
			status, body := deliverOne(t, b, charges(1)[0])
			assert.Equal(t, c.status, status, body)
			assert.NotContains(t, b.Log().String(), "canary-wrong")
		})
	}
}
