package special

import (
	"crypto"
	"crypto/rsa"
	"crypto/x509"
	"errors"
	"hash/crc32"
	"net/url"
	"strconv"
	"strings"

	"sfbridge/bridge/verify"
)

type payPalKeys struct {
	key       *rsa.PublicKey // nil: that of the certificate which the delivery names
	webhookID string
}

// payPalKey takes the certificate; the id of the webhook, which is under the
// signature but not in the delivery, comes from params.webhook_id.
func payPalKey(secret string, params map[string]string) (any, error) {
	key, err := certificateKey(secret, nil)
	if err != nil {
		return nil, err
	}
	made, err := payPalFetched(params)
	if err != nil {
		return nil, err
	}
	keys := made.(payPalKeys)
	keys.key = key.(*rsa.PublicKey)
	return keys, nil
}

func payPalFetched(params map[string]string) (any, error) {
	id := params["webhook_id"]
	if id == "" {
		return nil, errors.New("params.webhook_id is missing: it stands beside the webhook in the provider's dashboard")
	}
	return payPalKeys{webhookID: id}, nil
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
	key := keys.key
	if key == nil {
		var reason verify.Reason
		if key, reason = payPalCertificate(in, values["CERT-URL"]); reason != verify.OK {
			return reason
		}
	}
	text := strings.Join([]string{values["TRANSMISSION-ID"], values["TRANSMISSION-TIME"], keys.webhookID,
		strconv.FormatUint(uint64(crc32.ChecksumIEEE(in.Request.Body)), 10)}, "|")
	return checkRSA(key, crypto.SHA256, text, values["TRANSMISSION-SIG"])
}

// payPalCertificate fetches a certificate and follows its chain to a root.
func payPalCertificate(in verify.Input, address string) (*rsa.PublicKey, verify.Reason) {
	chain, reason := fetchCertificates(in, address)
	if reason != verify.OK {
		return nil, reason
	}
	between := x509.NewCertPool()
	for _, c := range chain[1:] {
		between.AddCert(c)
	}
	_, err := chain[0].Verify(x509.VerifyOptions{
		Roots: in.Roots, Intermediates: between, CurrentTime: in.Request.Now, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny},
	})
	if err != nil || !named(chain[0], ".paypal.com") {
		return nil, verify.UntrustedURL
	}
	return rsaKey(chain[0])
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
