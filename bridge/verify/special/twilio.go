package special

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"mime"
	"net/url"
	"slices"
	"strings"

	"sfbridge/bridge/verify"
)

// twilio signs the URL followed by every form field, sorted, or for other
// bodies the URL alone, which then names the body's SHA-256.
func twilio(in verify.Input) verify.Reason {
	header, reason := verify.Required(in.Request.Header, in.Rule.Sig.Headers[0])
	if reason != verify.OK {
		return reason
	}
	signature, ok := decodeBase64(header)
	if !ok {
		return verify.MalformedHeader
	}
	tail, reason := twilioFields(in.Request)
	if reason != verify.OK {
		return reason
	}
	for _, u := range in.Rule.URLs(in.Request.URL) {
		if hmac.Equal(hmacSHA1(in.Key.([]byte), u+tail), signature) {
			return verify.OK
		}
	}
	return verify.BadSignature
}

// twilioFields is what follows the URL in the signed text.
func twilioFields(r verify.Request) (string, verify.Reason) {
	if want, ok := bodyHash(r.URL); ok {
		sum := sha256.Sum256(r.Body)
		got, err := hex.DecodeString(want)
		if err != nil || !hmac.Equal(sum[:], got) {
			return "", verify.BadSignature
		}
		return "", verify.OK
	}
	if len(r.Body) == 0 {
		return "", verify.OK
	}
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/x-www-form-urlencoded" {
		return "", verify.BadSignature // nothing in the signature would cover this body
	}
	fields, ok := parseForm(string(r.Body))
	if !ok {
		return "", verify.MalformedHeader
	}
	return sortedFields(fields), verify.OK
}

// sortedFields writes name and value of each field by name, then value;
// a pair that comes twice counts once.
func sortedFields(fields []field) string {
	slices.SortFunc(fields, func(a, b field) int {
		if c := strings.Compare(a.name, b.name); c != 0 {
			return c
		}
		return strings.Compare(a.value, b.value)
	})
	var b strings.Builder
	for _, f := range slices.Compact(fields) {
		b.WriteString(f.name)
		b.WriteString(f.value)
	}
	return b.String()
}

func bodyHash(raw string) (string, bool) {
	u, err := url.Parse(raw)
	if err != nil || !strings.Contains(u.RawQuery, "bodySHA256=") {
		return "", false
	}
	fields, ok := parseForm(u.RawQuery)
	if !ok {
		return "", false
	}
	return one(fields, "bodySHA256")
}
