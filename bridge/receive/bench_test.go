package receive

import (
	"net/http/httptest"
	"strings"
	"testing"
)

// BenchmarkDelivery measures a delivery without the network and the org:
// signature, JSON, identity, hash and log line.
func BenchmarkDelivery(b *testing.B) {
	r := setup(b, nil)
	body := `{"id":"e1","type":"charge.succeeded","data":{"object":{"id":"ch_1","amount":1250,"currency":"eur","notes":"` +
		strings.Repeat("x", 600) + `"}}}`
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		w := httptest.NewRecorder()
		r.handler.ServeHTTP(w, post(body))
		if w.Code != 202 {
			b.Fatal(w.Body)
		}
		r.stager.staged, r.stager.rejects = r.stager.staged[:0], r.stager.rejects[:0]
		r.log.Reset()
	}
}
