package simorg_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/salesforce/simorg"
)

func TestControlIsForLoopback(t *testing.T) {
	t.Parallel()
	srv, err := simorg.New(simorg.Config{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, srv.Close()) })
	for peer, want := range map[string]int{"127.0.0.1:1": 200, "[::1]:1": 200, "10.1.2.3:1": 403, "nonsense": 403} {
		r := httptest.NewRequest("GET", "/_sim/stats", nil)
		r.RemoteAddr = peer
		r.Header.Set("X-Forwarded-For", "127.0.0.1")
		w := httptest.NewRecorder()
		srv.Handler().ServeHTTP(w, r)
		assert.Equal(t, want, w.Code, peer)
	}
}

func TestConfigIsChecked(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]simorg.Config{
		"latency": {Latency: -1}, "daily limit": {DailyLimit: -1}, "page size": {PageSize: 2001},
	} {
		_, err := simorg.New(cfg)
		require.ErrorContains(t, err, name)
	}
	srv, err := simorg.New(simorg.Config{Listen: "256.0.0.1:0"})
	require.NoError(t, err)
	require.ErrorContains(t, srv.Start(), "listening on 256.0.0.1:0")
	require.NoError(t, srv.Close())
	srv, err = simorg.New(simorg.Config{})
	require.NoError(t, err)
	require.NoError(t, srv.Start())
	require.ErrorContains(t, srv.Start(), "already started")
	require.NoError(t, srv.Close())
}

// Whatever is asked, the org answers, and never with a fault of its own.
func FuzzHandler(f *testing.F) {
	for _, seed := range [][3]string{
		{"POST", base + "/composite", composite(true, step("PATCH", upsertPayments, "a", records("Payment__c", false, charge("x"))), step("GET", "query?q=SELECT+Id+FROM+Payment__c+WHERE+Id='@{a[0].id}'", "b", ""))},
		{"POST", base + "/composite/graph", `{"graphs":[` + graphOf("g", step("POST", "sobjects/Payment__c", "p", `{"Note__c":"@{q.records[0].Id}"}`)) + `]}`},
		{"POST", base + "/composite/tree/Customer__c", `{"records":[{"attributes":{"type":"Customer__c","referenceId":"c1"},"Payments__r":{"records":[{"attributes":{"type":"Payment__c","referenceId":"p"}}]}}]}`},
		{"POST", base + "/composite/batch", `{"batchRequests":[{"method":"GET","url":"v65.0/limits"}]}`},
		{"PATCH", base + "/" + upsertPayments, records("Payment__c", true, charge("x")+`,"Customer__r":{"Stripe_Customer_Id__c":"y"}`)},
		{"DELETE", base + "/composite/sobjects?ids=a06000000000001AAA,x", ""},
		{"PATCH", base + "/sobjects/Payment__c/Stripe_Charge_Id__c/a%2Fb?_HttpMethod=PATCH", `{"Amount__c":1e999,"Paid_At__c":"2026-01-01T00:00Z"}`},
		{"GET", base + "/query/01g-5", ""},
		{"POST", base + "/jobs/ingest", upsertJob},
		{"POST", "/services/Soap/u/64.0", soapLogin("a", "sim")},
		{"POST", "/services/oauth2/token", "grant_type=" + bearerGrant + "&assertion=a.b.c"},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	srv, err := simorg.New(simorg.Config{Samples: true})
	require.NoError(f, err)
	f.Cleanup(func() { _ = srv.Close() })
	f.Fuzz(func(t *testing.T, method, target, body string) {
		u, err := url.ParseRequestURI(target)
		if err != nil || strings.ContainsAny(method, " \t\r\n") || method == "" {
			return
		}
		r, err := http.NewRequest(method, "http://127.0.0.1"+u.RequestURI(), strings.NewReader(body))
		if err != nil {
			return
		}
		r.RequestURI = u.RequestURI()
		r.Header.Set("Authorization", "Bearer "+srv.AccessToken())
		if strings.HasPrefix(u.Path, "/services/oauth2/") {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		w := httptest.NewRecorder()
		srv.Handler().ServeHTTP(w, r)
		if w.Code == http.StatusInternalServerError && !strings.Contains(w.Body.String(), "soapenv:Fault") {
			t.Fatalf("%s %s: %s", method, target, w.Body)
		}
	})
}
