package truth_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"sfbridge/test/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

const (
	secret  = "shop-secret"
	token   = "operators-token"
	mapping = `source: shop
provider: generic
secrets: ["${SHOP_SECRET}"]
event: {id: $.id, type: $.type, object: $.charge.id, order: {from: $.at, as: unix_s}}
reconcile: {list: "%s/charges", items: "$.data[*]", next: $.next, type: charge.listed, into: $.charge, order: {from: "@.updated", as: unix_s}, auth: "Bearer ${SHOP_KEY}", repair: %t}
routes:
  - name: charge
    when: {type: charge.*}
    records:
      - object: Payment__c
        key: {field: Stripe_Charge_Id__c, from: $.charge.id}
        order: true
        state: {field: Status__c, allow: {Pending: [Succeeded]}}
        fields: {Amount__c: {from: $.charge.amount, as: number}, Status__c: $.charge.status}
`
)

// charge is an object of the provider.
type charge struct {
	ID      string  `json:"id"`
	Amount  float64 `json:"amount"`
	Status  string  `json:"status"`
	Updated int64   `json:"updated"`
}

const start = int64(1767225600)

// shop lists charges, two a page, to who has the key.
type shop struct {
	*httptest.Server
	mu      sync.Mutex
	charges []charge
	asked   int
}

func newShop(t *testing.T, charges ...charge) *shop {
	t.Helper()
	s := &shop{charges: charges}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.asked++
		if r.Header.Get("Authorization") != "Bearer shop-key" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		var from int
		_, _ = fmt.Sscanf(r.URL.Query().Get("from"), "%d", &from)
		page := map[string]any{"data": s.charges[from:min(from+2, len(s.charges))], "next": nil}
		if from+2 < len(s.charges) {
			page["next"] = fmt.Sprintf("/charges?from=%d", from+2)
		}
		_ = json.NewEncoder(w).Encode(page)
	}))
	t.Cleanup(s.Close)
	return s
}

// config is a bridge in front of the shop.
func config(org *harness.Org, s *shop, repair bool) harness.Config {
	return harness.Config{
		Org: org, Mappings: map[string]string{"shop.yaml": fmt.Sprintf(mapping, s.URL, repair)},
		Env:      map[string]string{"SHOP_SECRET": secret, "SHOP_KEY": "shop-key", "ADMIN_TOKEN": token},
		Admin:    `{listen: 127.0.0.1:0, token: "${ADMIN_TOKEN}"}`,
		Outbound: fmt.Sprintf("{allow: [%q]}", strings.TrimPrefix(s.URL, "http://")),
	}
}

// deliver sends the event of a charge.
func deliver(t *testing.T, b *harness.Bridge, id string, c charge) {
	t.Helper()
	object, err := json.Marshal(c)
	require.NoError(t, err)
	body := fmt.Appendf(nil, `{"id":%q,"type":"charge.updated","at":%d,"charge":%s}`, id, c.Updated, object)
	header := http.Header{"X-Signature": {harness.HMACHex(secret, body)}, "Content-Type": {"application/json"}}
	answer, err := b.Post(t.Context(), "shop", header, body)
	require.NoError(t, err)
	require.True(t, answer.OK(), "%d: %s", answer.Status, answer.Body)
}

// admin asks the admin API and reads the answer.
func admin(t *testing.T, b *harness.Bridge, method, path, body string, into any) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, b.AdminURL()+"/admin/v1"+path, strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("X-Actor", "ada")
	reply, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	require.NoError(t, err)
	if into != nil {
		require.NoError(t, json.Unmarshal(text, into), "%s", text)
	}
	return reply.StatusCode
}
