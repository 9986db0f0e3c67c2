package verify_test

import (
	"fmt"
	"net/http"
	"time"

	"sfbridge/bridge/verify"
)

// A delivery of GitHub, and the same one after somebody changed it.
func Example() {
	table, err := verify.LoadTable()
	if err != nil {
		panic(err)
	}
	v, err := verify.New(verify.Config{Rules: []verify.Rule{table["github"]}, Secrets: []string{"demo-secret-two"}})
	if err != nil {
		panic(err)
	}
	delivery := verify.Request{
		Header: http.Header{"X-Hub-Signature-256": {"sha256=b1fb7a37fb6d00ce87cd8b494e8b5e8add8aaef36bbd8e725f7507fa48b6beb6"}},
		Body:   []byte(`{"id":"ev-77","title":"Gold tier 🥇","qty":2}`),
		Now:    time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
	}
	fmt.Println(v.Verify(delivery).Reason)
	delivery.Body = append(delivery.Body, '\n')
	fmt.Println(v.Verify(delivery).Reason)
	// Output:
	// ok
	// bad_signature
}
