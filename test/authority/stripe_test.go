package authority_test

import (
	"bufio"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/test/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

const (
	mockModule  = "github.com/stripe/stripe-mock"
	mockVersion = "v0.203.0"
)

// needMock gives the program of Stripe's mock server, built once into the
// ignored folder for binaries, with a module cache of its own. Where it can't be
// had the test is skipped, or fails where everything must be tested (CI=true).
func needMock(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(harness.Root(t), "bin", "stripe-mock-"+mockVersion)
	program := filepath.Join(dir, "stripe-mock")
	if _, err := os.Stat(program); err == nil {
		return program
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	install := exec.CommandContext(ctx, "go", "install", "-modcacherw", mockModule+"@"+mockVersion)
	install.Dir = t.TempDir() // outside of this module
	install.Env = append(os.Environ(), "GOBIN="+dir, "GOMODCACHE="+t.TempDir(), "GOFLAGS=")
	if out, err := install.CombinedOutput(); err != nil {
		how := fmt.Sprintf("this test needs %s: %v\n%s", mockModule, err, out)
		if os.Getenv("CI") == "true" {
			require.Fail(t, how)
		}
		t.Skip(how)
	}
	return program
}

var listening = regexp.MustCompile(`HTTP at address: (127\.0\.0\.1:\d+)`)

// startMock runs the mock server and returns its address.
func startMock(t *testing.T) string {
	t.Helper()
	cmd := exec.Command(needMock(t), "-http-addr", "127.0.0.1:0", "-https-addr", "127.0.0.1:0")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGKILL)
		_ = cmd.Wait()
	})
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if found := listening.FindStringSubmatch(lines.Text()); found != nil {
			return found[1]
		}
	}
	require.Fail(t, "stripe-mock did not say where it listens")
	return ""
}

const secret = "whsec_authority"

func mapping(address string) string {
	return `source: stripe
provider: stripe
secrets: ["${STRIPE_SECRET}"]
routes:
  - name: charge
    when: {type: charge.*}
    authority: {get: "http://` + address + `/v1/charges/{$.data.object.id}", auth: "Bearer ${STRIPE_KEY}", into: $.data.object}
    records:
      - object: Payment__c
        key: {field: Stripe_Charge_Id__c, from: $.data.object.id}
        order: true
        fields:
          Amount__c: {from: $.data.object.amount, as: minor_units, currency: $.data.object.currency}
          Currency__c: {from: $.data.object.currency, upper: true}
          Note__c: $.data.object.billing_details.name
`
}

// deliver sends a thin event: it names a charge and lies about its amount.
func deliver(t *testing.T, b *harness.Bridge, id, charge string) {
	t.Helper()
	now := time.Now()
	body := fmt.Appendf(nil, `{"id":%q,"type":"charge.updated","created":%d,"data":{"object":{"id":%q,"amount":1,"currency":"eur"}}}`, id, now.Unix(), charge)
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "%d.%s", now.Unix(), body)
	answer, err := b.Post(t.Context(), "stripe", http.Header{
		"Content-Type":     {"application/json"},
		"Stripe-Signature": {fmt.Sprintf("t=%d,v1=%s", now.Unix(), hex.EncodeToString(mac.Sum(nil)))},
	}, body)
	require.NoError(t, err)
	require.True(t, answer.OK(), "%d: %s", answer.Status, answer.Body)
}

func start(t *testing.T, address, key, allow string) (*harness.Org, *harness.Bridge) {
	t.Helper()
	org := harness.StartOrg(t, "--samples")
	return org, harness.StartBridge(t, harness.Config{
		Org: org, Mappings: map[string]string{"stripe.yaml": mapping(address)}, Outbound: allow,
		Env: map[string]string{"STRIPE_SECRET": secret, "STRIPE_KEY": key},
	})
}

// The record shows what Stripe says, not what the event says.
func TestStripesObjectIsTheTruth(t *testing.T) {
	t.Parallel()
	address := startMock(t)
	org, bridge := start(t, address, "sk_test_123", fmt.Sprintf("{allow: [%q]}", address))
	deliver(t, bridge, "evt_1", "ch_one")
	deliver(t, bridge, "evt_2", "ch_two")
	org.Settle(t)
	rows := org.Query(t, "SELECT Stripe_Charge_Id__c, Amount__c, Currency__c, Note__c FROM Payment__c ORDER BY Stripe_Charge_Id__c")
	require.Len(t, rows, 2)
	assert.Equal(t, "ch_one", rows[0]["Stripe_Charge_Id__c"])
	assert.Equal(t, "USD", rows[0]["Currency__c"])
	assert.Equal(t, "Jenny Rosen", rows[0]["Note__c"])
	assert.Equal(t, "1.00", fmt.Sprintf("%.2f", number(t, rows[0]["Amount__c"])), "100 cents, where the event says 1")
	bridge.Stop(t)
}

func number(t *testing.T, v any) float64 {
	t.Helper()
	n, is := v.(interface{ Float64() (float64, error) })
	require.True(t, is, "%T", v)
	f, err := n.Float64()
	require.NoError(t, err)
	return f
}

// A key that Stripe refuses, or an address that is not allowed, pauses the route
// and says so; the event stays due and is charged nothing.
func TestRefusedLooksPauseTheRoute(t *testing.T) {
	t.Parallel()
	address := startMock(t)
	for name, c := range map[string]struct{ key, allow, says string }{
		"a key that is refused":          {"not a key", fmt.Sprintf("{allow: [%q]}", address), "status 401"},
		"an address that is not allowed": {"sk_test_123", "{allow: []}", "must not be called"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			org, bridge := start(t, address, c.key, c.allow)
			deliver(t, bridge, "evt_1", "ch_one")
			line, ok := bridge.Log().Wait(harness.Patient(t), 0, "route paused")
			require.True(t, ok)
			assert.Contains(t, line, c.says)
			assert.NotContains(t, bridge.Log().String(), c.key)
			rows := org.Query(t, "SELECT Status__c, Attempts__c FROM Inbound_Event__c")
			assert.Equal(t, "Received", rows[0]["Status__c"])
			assert.Zero(t, org.Count(t, "SELECT COUNT() FROM Payment__c"))
			bridge.Stop(t)
		})
	}
}
