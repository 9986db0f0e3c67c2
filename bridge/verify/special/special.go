// Package special holds the signature schemes that no row of the rule table
// can express. Each is one Scheme; Schemes is the registry that a
// verify.Config takes.
//
//	v, err := verify.New(verify.Config{Rules: rules, Secrets: secrets, Schemes: special.Schemes()})
//
// The certificate or public key that PayPal, SNS and Plaid sign with is given as
// the secret, or fetched through verify.Config's Fetcher from the address that
// a delivery names, after that address was judged.
package special

import (
	"crypto"
	"crypto/hmac"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"strings"

	"sfbridge/bridge/verify"
)

// NothingSigned is the kind of rules for senders that sign nothing.
const NothingSigned = "none-fetch"

// Schemes returns the registry, by the kinds of the rule table.
func Schemes() verify.Schemes {
	return verify.Schemes{
		"adyen-items":       {Trust: verify.SignedPartial, Key: hexKey, Check: adyenItems, Sign: signAdyen},
		"twilio":            {Trust: verify.SignedBody, Key: rawKey, Check: twilio, Sign: signTwilio},
		"braintree":         {Trust: verify.SignedBody, Key: braintreeKey, Check: braintree, Sign: signBraintree},
		"paypal-rsa":        {Trust: verify.SignedBody, Key: payPalKey, Fetched: payPalFetched, Check: payPal},
		"sns-rsa":           {Trust: verify.SignedPartial, Key: certificateKey, Fetched: snsFetched, Check: sns},
		"jwt-es256-bodysha": {Trust: verify.SignedBody, Key: plaidKey, Check: bodyToken},
		"jwt-hs256":         {Trust: verify.AuthenticatedCaller, Key: rawKey, Check: callerToken, Sign: signCaller},
		"none-orgid":        {Trust: verify.Unsigned, Key: rawKey, Check: organisation, Sign: signNothing},
		NothingSigned:       {Trust: verify.Unsigned, Key: rawKey, Check: nothingSigned, Sign: signNothing},
	}
}

// nothingSigned is for senders that sign nothing: no delivery can be verified.
func nothingSigned(verify.Input) verify.Reason { return verify.NoSecret }

func rawKey(secret string, _ map[string]string) (any, error) { return []byte(secret), nil }

// certificateKey reads the RSA key of a PEM certificate.
func certificateKey(secret string, _ map[string]string) (any, error) {
	block, _ := pem.Decode([]byte(secret))
	if block == nil || block.Type != "CERTIFICATE" {
		return nil, errors.New("it is no PEM certificate")
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, errors.New("the certificate can't be read")
	}
	key, ok := cert.PublicKey.(*rsa.PublicKey)
	if !ok {
		return nil, errors.New("the certificate has no RSA key")
	}
	return key, nil
}

// checkRSA judges a base64 PKCS #1 v1.5 signature over text.
func checkRSA(key *rsa.PublicKey, hash crypto.Hash, text, signature string) verify.Reason {
	raw, ok := decodeBase64(signature)
	if !ok {
		return verify.MalformedHeader
	}
	h := hash.New()
	_, _ = h.Write([]byte(text))
	if rsa.VerifyPKCS1v15(key, hash, h.Sum(nil), raw) != nil {
		return verify.BadSignature
	}
	return verify.OK
}

// decodeBase64 is strict: padding, no line breaks, no stray bits.
func decodeBase64(text string) ([]byte, bool) {
	if strings.ContainsAny(text, "\r\n") {
		return nil, false
	}
	raw, err := base64.StdEncoding.Strict().DecodeString(text)
	return raw, err == nil
}

func hmacSHA1(key []byte, text string) []byte {
	h := hmac.New(sha1.New, key)
	_, _ = h.Write([]byte(text))
	return h.Sum(nil)
}
