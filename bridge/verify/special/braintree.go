package special

import (
	"crypto/hmac"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"strings"

	"sfbridge/bridge/verify"
)

type braintreeKeys struct {
	public string
	key    []byte
}

// braintreeKey takes "public key:private key"; the HMAC key is the SHA-1 of
// the private one.
func braintreeKey(secret string, _ map[string]string) (any, error) {
	public, private, ok := strings.Cut(secret, ":")
	if !ok || public == "" || private == "" {
		return nil, errors.New(`write it as "public_key:private_key"`)
	}
	sum := sha1.Sum([]byte(private))
	return braintreeKeys{public, sum[:]}, nil
}

// braintree signs the text of bt_payload; bt_signature holds pairs
// "public key|signature", of which ours counts.
func braintree(in verify.Input) verify.Reason {
	keys := in.Key.(braintreeKeys)
	fields, ok := parseForm(string(in.Request.Body))
	if !ok {
		return verify.MalformedHeader
	}
	pairs, _ := one(fields, "bt_signature")
	payload, _ := one(fields, "bt_payload")
	if pairs == "" || payload == "" {
		return verify.MissingHeader
	}
	signature, ok := ownSignature(pairs, keys.public)
	if !ok {
		return verify.MalformedHeader
	}
	// Form decoding on the way may have lost the payload's last line break.
	for _, text := range []string{payload, payload + "\n"} {
		if hmac.Equal(hmacSHA1(keys.key, text), signature) {
			return verify.OK
		}
	}
	return verify.BadSignature
}

func ownSignature(pairs, public string) ([]byte, bool) {
	for more := true; more; {
		var pair string
		pair, pairs, more = strings.Cut(pairs, "&")
		name, text, ok := strings.Cut(pair, "|")
		if !ok || name != public {
			continue
		}
		raw, err := hex.DecodeString(text)
		return raw, err == nil
	}
	return nil, false
}
