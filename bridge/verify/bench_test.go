package verify_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"testing"

	"sfbridge/bridge/verify"
)

// BenchmarkVerify is a 2 KiB delivery under every rule that can be signed here.
func BenchmarkVerify(b *testing.B) {
	table, err := verify.LoadTable()
	if err != nil {
		b.Fatal(err)
	}
	for name, r := range table {
		req := verify.Request{Body: make([]byte, 2048), Now: signedNow, Method: "POST", URL: "https://hooks.example.com/webhooks/x"}
		copy(req.Body, `{"webhookTimestamp":1767225600123,"a":"`)
		for i := 39; i < 2046; i++ {
			req.Body[i] = 'a'
		}
		copy(req.Body[2046:], `"}`)
		req.Header = map[string][]string{"Webhook-Id": {"msg_1"}, "Svix-Id": {"msg_1"}}
		headers, err := verify.Sign(r, secretFor(r), req)
		if err != nil {
			continue
		}
		for h, values := range headers {
			req.Header[h] = values
		}
		v := verifier(b, []string{secretFor(r)}, r)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if result := v.Verify(req); !result.Valid {
					b.Fatal(result.Reason)
				}
			}
		})
	}
}

// BenchmarkBareHMAC is the floor to compare with.
func BenchmarkBareHMAC(b *testing.B) {
	body, key := make([]byte, 2048), []byte("a made up secret")
	for b.Loop() {
		h := hmac.New(sha256.New, key)
		h.Write(body)
		_ = h.Sum(nil)
	}
}
