package bare_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/bench/bare"
	"sfbridge/bridge/store/storetest"
)

func signed(secret, body string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "1767225600.%s", body)
	return "t=1767225600,v1=" + hex.EncodeToString(mac.Sum(nil))
}

func send(t *testing.T, method, url, signature, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("Stripe-Signature", signature)
	reply, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	require.NoError(t, err)
	return reply.StatusCode, string(text)
}

// What is answered 202 is rightly signed and in Redis; nothing else is.
func TestBareWritesWhatIsSigned(t *testing.T) {
	t.Parallel()
	server := storetest.StartRedis(t)
	s, err := bare.Start(t.Context(), bare.Config{Secret: "whsec", Redis: server.URL()})
	require.NoError(t, err)
	hook := s.URL() + "/webhooks/stripe"
	const body = `{"id":"evt_1"}`
	for signature, want := range map[string]int{
		signed("whsec", body): http.StatusAccepted, signed("other", body): http.StatusUnauthorized,
		signed("whsec", "x"): http.StatusUnauthorized, "": http.StatusUnauthorized, "t=1,v1=zz": http.StatusUnauthorized,
	} {
		status, _ := send(t, http.MethodPost, hook, signature, body)
		assert.Equal(t, want, status, signature)
	}
	c := redis.NewClient(&redis.Options{Addr: server.Address()})
	defer c.Close() //nolint:errcheck // a test's
	held, err := c.XRange(t.Context(), "bare", "-", "+").Result()
	require.NoError(t, err)
	require.Len(t, held, 1)
	assert.Equal(t, body, held[0].Values["d"])

	status, _ := send(t, http.MethodGet, s.URL()+"/readyz", "", "")
	assert.Equal(t, http.StatusOK, status)
	_, metrics := send(t, http.MethodGet, s.URL()+"/metrics", "", "")
	assert.Regexp(t, `^go_memstats_mallocs_total \d+\n$`, metrics)
	server.Kill(t)
	status, _ = send(t, http.MethodPost, hook, signed("whsec", body), body)
	assert.Equal(t, http.StatusServiceUnavailable, status)
	require.NoError(t, s.Close())
}

func TestBareRefusesWhatIsNoURL(t *testing.T) {
	t.Parallel()
	_, err := bare.Start(t.Context(), bare.Config{Redis: "nowhere"})
	assert.Error(t, err)
}
