package trial_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/trial"
	"sfbridge/bridge/verify"
)

// FuzzCheck explains any delivery of any provider. Nothing panics, what is
// refused is explained, and no explanation shows the secret.
func FuzzCheck(f *testing.F) {
	catalog, err := presets()
	require.NoError(f, err)
	names := catalog.Names()
	for i := range names {
		f.Add(i, "secret-of-the-fuzz", "v1=00,t=1", []byte(`{"a":"\u00f6\ud83d\ude00\/"}`), "https://a.example/x?y", int64(1767225600))
	}
	f.Add(0, "sk_live_secret-of-the-fuzz", "sha256=00", []byte("{\n \"a\" : 1}\r\n"), "http://a", int64(0))
	f.Add(3, "00ff00ff00ff", "", []byte("<a/>"), "", int64(-1))
	f.Fuzz(func(t *testing.T, which int, secret, signature string, body []byte, url string, now int64) {
		name := names[uint(which)%uint(len(names))]
		_, preset := load(t, name)
		header := http.Header{}
		for _, h := range preset.Rules[0].Sig.Headers {
			header.Set(strings.ReplaceAll(h, "{n}", "1"), signature)
		}
		report, err := trial.Check(catalog, trial.Delivery{
			Provider: name, Secrets: []string{secret}, Params: map[string]string{"webhook_id": "w", "topics": "t"},
			Request: verify.Request{Method: http.MethodPost, URL: url, Header: header, Body: body, Now: time.Unix(now, 0)},
		})
		require.NoError(t, err)
		assert.Equal(t, report.Valid, report.Hint == "", report.Reason)
		if len(secret) > 12 {
			assert.NotContains(t, report.Hint, secret)
		}
	})
}
