package special

import (
	"crypto"
	"crypto/rsa"
	"errors"
	"hash/crc32"
	"net/url"
	"strconv"
	"strings"

	"sfbridge/bridge/verify"
)

type payPalKeys struct {
	key       *rsa.PublicKey
	webhookID string
}

// payPalKey takes the certificate; the id of the webhook, which is under the
// signature but not in the delivery, comes from params.webhook_id.
func payPalKey(secret string, params map[string]string) (any, error) {
	key, err := certificateKey(secret, nil)
	if err != nil {
		return nil, err
	}
	id := params["webhook_id"]
	if id == "" {
		return nil, errors.New("params.webhook_id is missing: it stands beside the webhook in the provider's dashboard")
	}
	return payPalKeys{key.(*rsa.PublicKey), id}, nil
}

// payPal checks an RSA signature over ids, time and the CRC-32 of the body.
func payPal(in verify.Input) verify.Reason {
	keys := in.Key.(payPalKeys)
	values := make(map[string]string)
	for _, name := range []string{"TRANSMISSION-ID", "TRANSMISSION-TIME", "TRANSMISSION-SIG", "CERT-URL", "AUTH-ALGO"} {
		value, reason := verify.Required(in.Request.Header, "PAYPAL-"+name)
		if reason != verify.OK {
			return reason
		}
		values[name] = value
	}
	if !payPalCertURL(values["CERT-URL"]) {
		return verify.UntrustedURL
	}
	if values["AUTH-ALGO"] != "SHA256withRSA" {
		return verify.MalformedHeader
	}
	text := strings.Join([]string{values["TRANSMISSION-ID"], values["TRANSMISSION-TIME"], keys.webhookID,
		strconv.FormatUint(uint64(crc32.ChecksumIEEE(in.Request.Body)), 10)}, "|")
	return checkRSA(keys.key, crypto.SHA256, text, values["TRANSMISSION-SIG"])
}

// payPalCertURL accepts exactly the hosts that serve the certificates. The
// address stands in a header that anyone can write.
func payPalCertURL(raw string) bool {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "https" || u.User != nil {
		return false
	}
	return (u.Host == "api.paypal.com" || u.Host == "api.sandbox.paypal.com") &&
		strings.HasPrefix(u.Path, "/v1/notifications/certs/") && !strings.Contains(u.Path, "..")
}
