package harness

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
)

// HMACHex signs a body as the generic preset expects it by default.
func HMACHex(secret string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return hex.EncodeToString(mac.Sum(nil))
}
