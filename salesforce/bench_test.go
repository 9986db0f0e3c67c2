package salesforce_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sfbridge/salesforce"
)

// BenchmarkUpsertAll measures the client's own cost of a full collection over a
// connection to this machine.
func BenchmarkUpsertAll(b *testing.B) {
	answer := "[" + strings.TrimSuffix(strings.Repeat(`{"id":"a01000000000001AAA","success":true,"errors":[],"created":true},`, 200), ",") + "]"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, answer)
	}))
	defer server.Close()
	client, err := salesforce.New(salesforce.Config{Sessions: sessionsAt(server.URL)})
	if err != nil {
		b.Fatal(err)
	}
	defer client.CloseIdle()
	rows := rowsOf(200)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := client.UpsertAll(b.Context(), chargeKey, rows, false); err != nil {
				b.Error(err)
			}
		}
	})
	b.ReportMetric(float64(200*b.N)/b.Elapsed().Seconds(), "rows/s")
}
