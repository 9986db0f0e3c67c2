package verify

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ErrNotSignable says that a test delivery can't be signed under a rule: the
// signature needs a private key, or stands in the body.
var ErrNotSignable = errors.New("test deliveries can't be signed under this rule")

// Sign returns the headers that make req a rightly signed delivery, for
// senders of test deliveries. Headers that are under the signature, such as
// webhook-id, must already be in req.Header. The signature is made at req.Now.
func Sign(rule Rule, secret string, req Request) (http.Header, error) {
	if !slices.Contains([]string{KindHMAC, KindDigest, KindToken, KindBasic}, rule.Kind) {
		return nil, ErrNotSignable
	}
	c, err := compile(rule, Config{})
	if err != nil {
		return nil, err
	}
	k, err := c.prepare(0, secret)
	if err != nil {
		return nil, err
	}
	out := http.Header{}
	for name, value := range rule.Require {
		out.Set(name, value)
	}
	switch {
	case k.ed25519 != nil:
		return nil, ErrNotSignable
	case rule.Kind == KindToken:
		out.Set(rule.Sig.Headers[0], secret)
		return out, nil
	case rule.Kind == KindBasic:
		out.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(secret)))
		return out, nil
	case len(rule.Sig.Headers) == 0:
		return nil, ErrNotSignable
	}
	return out, c.sign(out, k, req)
}

// sign sets timestamp and signature in out.
func (c *check) sign(out http.Header, k key, req Request) error {
	name := strings.ReplaceAll(c.rule.Sig.Headers[0], "{n}", "1")
	lead := "" // the timestamp, when it stands in front of the signature in one header
	if t := c.rule.TS; t != nil && t.Header != "" {
		ts := formatTime(t.Unit, req.Now)
		if strings.EqualFold(t.Header, name) {
			lead = t.Prefix + ts + c.rule.Sig.Split
			out.Set(name, lead)
		} else {
			out.Set(t.Header, ts)
		}
	}
	r := &request{req}
	r.Header = http.Header{}
	for _, h := range []http.Header{req.Header, out} {
		for n, values := range h {
			r.Header[http.CanonicalHeaderKey(n)] = values
		}
	}
	text, reason := c.pieces(r)
	if reason != OK {
		return errors.New("what the signature covers is not in the delivery: " + string(reason))
	}
	out.Set(name, lead+c.rule.Sig.Prefix+c.encode(c.digest(k, text, text.urls[0])))
	return nil
}

func (c *check) encode(digest []byte) string {
	if c.rule.Enc == "hex" {
		return hex.EncodeToString(digest)
	}
	return base64.StdEncoding.EncodeToString(digest)
}

func formatTime(unit string, t time.Time) string {
	switch unit {
	case "ms":
		return strconv.FormatInt(t.UnixMilli(), 10)
	case "rfc3339":
		return t.UTC().Format(time.RFC3339)
	}
	return strconv.FormatInt(t.Unix(), 10)
}
