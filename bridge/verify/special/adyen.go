package special

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"

	"sfbridge/bridge/verify"
)

func hexKey(secret string, _ map[string]string) (any, error) {
	key, err := hex.DecodeString(secret)
	if err != nil || len(key) == 0 {
		return nil, errors.New("it is not hexadecimal: paste the HMAC key as the provider shows it")
	}
	return key, nil
}

// adyenItems checks every item; one bad item fails the delivery, and a
// delivery without items proves nothing.
func adyenItems(in verify.Input) verify.Reason {
	if !json.Valid(in.Request.Body) {
		return verify.NotJSON
	}
	body, err := exactMembers(in.Request.Body)
	if err != nil {
		return verify.MalformedHeader
	}
	items := json.NewDecoder(bytes.NewReader(body["notificationItems"]))
	if open, err := items.Token(); err != nil || open != json.Delim('[') || !items.More() {
		return verify.MissingHeader
	}
	for items.More() {
		var wrapped json.RawMessage
		if err := items.Decode(&wrapped); err != nil {
			return verify.MalformedHeader
		}
		if reason := checkItem(in.Key.([]byte), wrapped); reason != verify.OK {
			return reason
		}
	}
	return verify.OK
}

func checkItem(key []byte, wrapped json.RawMessage) verify.Reason {
	outer, _ := exactMembers(wrapped)
	item, err := exactMembers(outer["NotificationRequestItem"])
	if err != nil {
		return verify.MissingHeader
	}
	additional, _ := exactMembers(item["additionalData"])
	given, _ := additional.text("hmacSignature")
	if given == "" {
		return verify.MissingHeader
	}
	signature, ok := decodeBase64(given)
	if !ok {
		return verify.MalformedHeader
	}
	h := hmac.New(sha256.New, key)
	_, _ = h.Write([]byte(itemText(item)))
	if !hmac.Equal(h.Sum(nil), signature) {
		return verify.BadSignature
	}
	return verify.OK
}

// itemText is what Adyen signs of an item; what is absent counts as empty.
func itemText(item members) string {
	amount, _ := exactMembers(item["amount"])
	currency, _ := amount.text("currency")
	values := make([]string, 0, 8)
	for _, name := range []string{"pspReference", "originalReference", "merchantAccountCode", "merchantReference"} {
		value, _ := item.text(name)
		values = append(values, value)
	}
	values = append(values, amount.number("value"), currency)
	for _, name := range []string{"eventCode", "success"} {
		value, _ := item.text(name)
		values = append(values, value)
	}
	return strings.Join(values, ":")
}
