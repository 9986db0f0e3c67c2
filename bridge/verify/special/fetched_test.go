package special_test

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"hash/crc32"
	"math/big"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/verify"
	"sfbridge/bridge/verify/special"
)

// authority issues certificates.
type authority struct {
	key  *rsa.PrivateKey
	cert *x509.Certificate
}

func (a *authority) issue(t *testing.T, template x509.Certificate) (*rsa.PrivateKey, *x509.Certificate) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	template.SerialNumber = big.NewInt(now.UnixNano())
	if template.NotAfter.IsZero() {
		template.NotBefore, template.NotAfter = now.Add(-time.Hour), now.Add(time.Hour)
	}
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = &template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, &template, parent, &key.PublicKey, signer)
	require.NoError(t, err)
	cert, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	return key, cert
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{}
	a.key, a.cert = a.issue(t, x509.Certificate{Subject: pkix.Name{CommonName: "root"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign})
	return a
}

func chain(certs ...*x509.Certificate) []byte {
	var out []byte
	for _, c := range certs {
		out = append(out, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})...)
	}
	return out
}

// served is a fetcher that serves one thing.
type served struct {
	data  []byte
	err   error
	asked []string
}

func (s *served) Fetch(f verify.Fetch) ([]byte, error) {
	s.asked = append(s.asked, f.URL)
	return s.data, s.err
}

func TestPayPalWithAFetchedCertificate(t *testing.T) {
	t.Parallel()
	const address = "https://api.sandbox.paypal.com/v1/notifications/certs/CERT-1"
	root := newAuthority(t)
	between := &authority{}
	between.key, between.cert = root.issue(t, x509.Certificate{Subject: pkix.Name{CommonName: "between"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign})
	paypal := x509.Certificate{Subject: pkix.Name{CommonName: "x"}, DNSNames: []string{"messageverificationcerts.paypal.com"}}
	key, leaf := between.issue(t, paypal)
	body := []byte(`{"id":"WH-1"}`)
	text := fmt.Sprintf("id|time|WH-9|%d", crc32.ChecksumIEEE(body))
	sum := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
	require.NoError(t, err)
	header := http.Header{"Paypal-Transmission-Id": {"id"}, "Paypal-Transmission-Time": {"time"}, "Paypal-Auth-Algo": {"SHA256withRSA"},
		"Paypal-Cert-Url": {address}, "Paypal-Transmission-Sig": {base64.StdEncoding.EncodeToString(signature)}}

	_, elsewhere := between.issue(t, x509.Certificate{DNSNames: []string{"paypal.com.evil.example"}})
	_, ended := between.issue(t, x509.Certificate{DNSNames: paypal.DNSNames, NotBefore: now.Add(-2 * time.Hour), NotAfter: now.Add(-time.Hour)})
	_, stranger := newAuthority(t).issue(t, paypal)
	_, other := between.issue(t, paypal)
	for name, c := range map[string]struct {
		serve   served
		address string
		want    verify.Reason
		asked   int
	}{
		"right":                  {served{data: chain(leaf, between.cert)}, address, verify.OK, 1},
		"chain incomplete":       {served{data: chain(leaf)}, address, verify.UntrustedURL, 1},
		"another name":           {served{data: chain(elsewhere, between.cert)}, address, verify.UntrustedURL, 1},
		"ended":                  {served{data: chain(ended, between.cert)}, address, verify.UntrustedURL, 1},
		"another root":           {served{data: chain(stranger)}, address, verify.UntrustedURL, 1},
		"another key":            {served{data: chain(other, between.cert)}, address, verify.BadSignature, 1},
		"no certificate":         {served{data: []byte("<html>")}, address, verify.BadSignature, 1},
		"broken certificate":     {served{data: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("x")})}, address, verify.BadSignature, 1},
		"not there":              {served{err: verify.ErrNoSuchKey}, address, verify.BadSignature, 1},
		"can't be had now":       {served{err: errors.New("down")}, address, verify.KeyUnavailable, 1},
		"foreign host":           {served{data: chain(leaf, between.cert)}, "https://api.paypal.com.evil.example/v1/notifications/certs/C", verify.UntrustedURL, 0},
		"another path":           {served{data: chain(leaf, between.cert)}, "https://api.paypal.com/v1/x/C", verify.UntrustedURL, 0},
		"out of the path":        {served{data: chain(leaf, between.cert)}, "https://api.paypal.com/v1/notifications/certs/../../x", verify.UntrustedURL, 0},
		"plain http":             {served{data: chain(leaf, between.cert)}, "http://api.paypal.com/v1/notifications/certs/C", verify.UntrustedURL, 0},
		"credentials in the way": {served{data: chain(leaf, between.cert)}, "https://a@api.paypal.com/v1/notifications/certs/C", verify.UntrustedURL, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			roots := x509.NewCertPool()
			roots.AddCert(root.cert)
			table, err := verify.LoadTable()
			require.NoError(t, err)
			v, err := verify.New(verify.Config{
				Rules: []verify.Rule{table["paypal"]}, Schemes: special.Schemes(), Params: map[string]string{"webhook_id": "WH-9"},
				Fetcher: &c.serve, Roots: roots,
			})
			require.NoError(t, err)
			h := header.Clone()
			h.Set("PayPal-Cert-Url", c.address)
			assert.Equal(t, c.want, v.Verify(verify.Request{Header: h, Body: body, Now: now}).Reason)
			assert.Len(t, c.serve.asked, c.asked)
		})
	}
}

func TestWithoutSecretOrFetcherNothingStarts(t *testing.T) {
	t.Parallel()
	table, err := verify.LoadTable()
	require.NoError(t, err)
	start := func(rule string, params map[string]string, f verify.Fetcher) error {
		_, err := verify.New(verify.Config{Rules: []verify.Rule{table[rule]}, Schemes: special.Schemes(), Params: params, Fetcher: f})
		return err
	}
	assert.ErrorContains(t, start("paypal", map[string]string{"webhook_id": "x"}, nil), "no secret is configured")
	assert.ErrorContains(t, start("paypal", nil, &served{}), "params.webhook_id is missing")
	assert.ErrorContains(t, start("aws-sns", nil, &served{}), "params.topics is missing")
	assert.ErrorContains(t, start("stripe", nil, &served{}), "no secret is configured")
	assert.ErrorContains(t, start("plaid", nil, &served{}), "no secret is configured")
}
