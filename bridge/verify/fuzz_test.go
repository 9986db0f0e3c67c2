package verify_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/verify"
)

// seedVectors adds up to a few vectors of each scheme and case.
func seedVectors(f *testing.F, add func(verify.Vector)) {
	seen := map[string]int{}
	for _, vector := range loadVectors(f) {
		kind := vector.Scheme + "/" + vector.Case
		if seen[kind]++; seen[kind] <= 2 && !vector.Skip {
			add(vector)
		}
	}
}

// FuzzDelivery throws any headers and body at every rule. Nothing panics, a
// refusal is one of the reasons, and no signature is accepted twice: what
// passes fails with another body, when the body is signed.
func FuzzDelivery(f *testing.F) {
	run := newRun(f)
	seedVectors(f, func(v verify.Vector) {
		req, err := v.Request()
		require.NoError(f, err)
		var header strings.Builder
		_ = req.Header.Write(&header)
		f.Add(v.Scheme, v.Secret, header.String(), req.Body, v.URL, v.Now)
	})
	f.Fuzz(func(t *testing.T, scheme, secret, header string, body []byte, url string, now int64) {
		if _, ok := run.Table[scheme]; !ok {
			return
		}
		vector := verify.Vector{Scheme: scheme, Secret: secret, URL: url, Method: "POST", Body: string(body), Now: now,
			Extra: map[string]any{"webhook_id": "w"}, Headers: parseHeader(header)}
		result, err := run.Judge(vector)
		require.NoError(t, err)
		assert.Equal(t, result.Reason == verify.OK, result.Valid)
		assert.Contains(t, verify.Reasons(), result.Reason)
		if result.Valid && result.Trust == verify.SignedBody && run.Table[scheme].Kind == verify.KindHMAC {
			vector.Body += "x"
			again, err := run.Judge(vector)
			require.NoError(t, err)
			assert.False(t, again.Valid)
		}
	})
}

func parseHeader(text string) map[string]verify.HeaderLines {
	h := map[string]verify.HeaderLines{}
	for line := range strings.SplitSeq(text, "\r\n") {
		if name, value, ok := strings.Cut(line, ": "); ok {
			h[name] = append(h[name], value)
		}
	}
	return h
}

// FuzzTable reads any table; what is accepted can be compiled or names an
// unknown kind.
func FuzzTable(f *testing.F) {
	table, err := verify.LoadTable()
	require.NoError(f, err)
	for name, r := range table {
		f.Add(`{"` + name + `":{"kind":"` + r.Kind + `","signed":"` + r.Signed + `"}}`)
	}
	f.Add(`{"a":{"kind":"hmac","hash":"sha256","enc":"hex","key":"raw","signed":"{h:x}{ts}.{body}","sig":{"headers":["s"],"split":",","skip":1},"ts":{"header":"s","split":",","index":0,"unit":"ms","tolerance_s":3}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		table, err := verify.ParseTable([]byte(text))
		if err != nil {
			return
		}
		for _, r := range table {
			_, err := verify.New(verify.Config{Rules: []verify.Rule{r}, Secrets: []string{"user:secret"}})
			var problem *verify.RuleError
			var secret *verify.SecretError
			assert.True(t, err == nil || errors.As(err, &problem) || errors.As(err, &secret), err)
		}
	})
}

// TestNoDeliveryCostsMoreThanASmallMultipleOfItsSize measures what a hostile
// delivery makes the engine allocate.
func TestNoDeliveryCostsMoreThanASmallMultipleOfItsSize(t *testing.T) {
	const size = 256 << 10
	bodies := map[string]string{
		"deep":          strings.Repeat(`{"a":`, size/5),
		"wide":          `{"signature":{` + strings.Repeat(`"":1,`, size/5) + `"timestamp":"1760000000"}}`,
		"members":       `{"webhookTimestamp":1760000000000` + strings.Repeat(`,"a":0`, size/6) + `}`,
		"text":          `{"a":"` + strings.Repeat(`\u0041`, size/6) + `"}`,
		"form":          strings.Repeat("a&", size/2),
		"form fields":   strings.Repeat("%41=1&", size/6),
		"items":         `{"notificationItems":[` + strings.Repeat(`{},`, size/3) + `{}]}`,
		"XML":           strings.Repeat("<a>", size/3),
		"XML siblings":  "<x>" + strings.Repeat("<a/>", size/4) + "</x>",
		"not UTF-8":     strings.Repeat("\xFF", size),
		"one big value": `{"Message":"` + strings.Repeat("m", size) + `","Type":"Notification"}`,
	}
	run := newRun(t)
	for _, vector := range firstOfEachScheme(t) {
		for name, body := range bodies {
			vector.Body, vector.BodyBase64 = body, ""
			cost := allocated(func() { _, _ = run.Judge(vector) })
			assert.LessOrEqual(t, cost, uint64(64*len(body)+256<<10), "%s: %s", vector.Scheme, name)
		}
	}
}

func firstOfEachScheme(t testing.TB) []verify.Vector {
	t.Helper()
	var list []verify.Vector
	seen := map[string]bool{}
	for _, vector := range loadVectors(t) {
		if !seen[vector.Scheme] && len(vector.Secret) > 0 {
			seen[vector.Scheme] = true
			list = append(list, vector)
		}
	}
	return list
}

func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
