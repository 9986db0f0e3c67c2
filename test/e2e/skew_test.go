package e2e_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/test/harness"
)

// skewed is a process whose clock is off.
func skewed(t *testing.T, org *harness.Org, name string, off time.Duration) (b *harness.Bridge, set func(time.Duration)) {
	t.Helper()
	points := t.TempDir()
	set = func(off time.Duration) {
		require.NoError(t, os.WriteFile(filepath.Join(points, "clock"), []byte(off.String()), 0o600))
	}
	set(off)
	return harness.StartBridge(t, harness.Config{
		Name: name, Org: org, Program: harness.BuildTagged(t, "failpoint"), Mappings: map[string]string{"stripe.yaml": stripeMapping},
		Env: map[string]string{"STRIPE_SECRET": secret, "BRIDGE_FAILPOINTS": points},
	}), set
}

// The clocks of two processes are eight minutes apart. They take copies of the
// same events in any order, rows are locked meanwhile, and the slow one is killed
// and comes back with its clock set right: the order is the provider's, so the
// last word on each charge stands, and no attempt is charged.
func TestClockSkew(t *testing.T) {
	t.Parallel()
	org := harness.StartOrg(t, "--samples")
	fast, _ := skewed(t, org, "fast", 4*time.Minute)
	slow, set := skewed(t, org, "slow", -4*time.Minute)
	org.Plant(t, harness.Fault{"operation": "*", "object": "Payment__c", "fault": "lock_row", "times": 5})
	sent := charges(10)
	for i, c := range sent {
		if i == len(sent)/2 {
			slow.Kill(t)
			set(0)
			slow.Start(t)
		}
		for _, b := range []*harness.Bridge{fast, slow} {
			status, body := deliverOne(t, b, c)
			require.Contains(t, []int{http.StatusOK, http.StatusAccepted}, status, body)
		}
	}
	org.Settle(t)
	rows := org.Query(t, "SELECT Event_Id__c, Status__c, Attempts__c FROM Inbound_Event__c")
	assert.Len(t, rows, len(sent))
	for _, r := range rows {
		assert.Equal(t, "Completed 0", fmt.Sprintf("%v %.0f", r["Status__c"], number(t, r["Attempts__c"])), r["Event_Id__c"])
	}
	checkRecords(t, org, latest(sent))
	fast.Stop(t)
	slow.Stop(t)
}

// A clock that is off by more than a signature may be old refuses everything and
// stores nothing. The provider sends again, and once the clock is right the event
// is taken.
func TestClockThatIsFarOff(t *testing.T) {
	t.Parallel()
	org := harness.StartOrg(t, "--samples")
	wrong, set := skewed(t, org, "wrong", 2*time.Hour)
	c := charges(1)[0]
	status, body := deliverOne(t, wrong, c)
	assert.Equal(t, http.StatusUnauthorized, status, body)
	assert.Zero(t, org.Count(t, "SELECT COUNT() FROM Inbound_Event__c"))
	wrong.Kill(t)
	set(0)
	wrong.Start(t)
	status, body = deliverOne(t, wrong, c)
	assert.Equal(t, http.StatusAccepted, status, body)
	org.Settle(t)
	checkRecords(t, org, latest([]charge{c}))
	wrong.Stop(t)
}

func number(t *testing.T, v any) float64 {
	t.Helper()
	n, is := v.(interface{ Float64() (float64, error) })
	require.True(t, is, "%T", v)
	f, err := n.Float64()
	require.NoError(t, err)
	return f
}
