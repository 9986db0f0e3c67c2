package special

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"slices"
	"strings"

	"sfbridge/bridge/verify"
)

// fetched gets what an address serves, or why there is nothing to verify with.
func fetched(in verify.Input, f verify.Fetch) ([]byte, verify.Reason) {
	if in.Fetcher == nil {
		return nil, verify.NoSecret
	}
	data, err := in.Fetcher.Fetch(f)
	switch {
	case errors.Is(err, verify.ErrNoSuchKey):
		return nil, verify.BadSignature
	case err != nil:
		return nil, verify.KeyUnavailable
	}
	return data, verify.OK
}

// maxChain bounds the certificates that are read of one answer.
const maxChain = 5

// fetchCertificates reads a PEM chain, the signing certificate first.
func fetchCertificates(in verify.Input, address string) ([]*x509.Certificate, verify.Reason) {
	data, reason := fetched(in, verify.Fetch{URL: address})
	if reason != verify.OK {
		return nil, reason
	}
	var chain []*x509.Certificate
	for len(chain) < maxChain {
		var block *pem.Block
		if block, data = pem.Decode(data); block == nil {
			break
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, verify.BadSignature
		}
		chain = append(chain, c)
	}
	if len(chain) == 0 {
		return nil, verify.BadSignature
	}
	return chain, verify.OK
}

// named says whether the certificate is for a name that ends so.
func named(c *x509.Certificate, suffixes ...string) bool {
	for _, name := range append(slices.Clone(c.DNSNames), c.Subject.CommonName) {
		if slices.ContainsFunc(suffixes, func(s string) bool { return strings.HasSuffix(name, s) }) {
			return true
		}
	}
	return false
}

func rsaKey(c *x509.Certificate) (*rsa.PublicKey, verify.Reason) {
	key, ok := c.PublicKey.(*rsa.PublicKey)
	if !ok {
		return nil, verify.BadSignature
	}
	return key, verify.OK
}
