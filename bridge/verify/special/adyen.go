package special

import (
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

// adyenItem is what Adyen signs of one notification item, and the signature.
type adyenItem struct {
	PSPReference      string `json:"pspReference"`
	OriginalReference string `json:"originalReference"`
	MerchantAccount   string `json:"merchantAccountCode"`
	MerchantReference string `json:"merchantReference"`
	Amount            struct {
		Value    json.Number `json:"value"`
		Currency string      `json:"currency"`
	} `json:"amount"`
	EventCode  string `json:"eventCode"`
	Success    string `json:"success"`
	Additional struct {
		Signature string `json:"hmacSignature"`
	} `json:"additionalData"`
}

func (i adyenItem) text() string {
	return strings.Join([]string{i.PSPReference, i.OriginalReference, i.MerchantAccount, i.MerchantReference,
		i.Amount.Value.String(), i.Amount.Currency, i.EventCode, i.Success}, ":")
}

// adyenItems checks every item; one bad item fails the delivery, and a
// delivery without items proves nothing.
func adyenItems(in verify.Input) verify.Reason {
	var body struct {
		Items []struct {
			Item adyenItem `json:"NotificationRequestItem"`
		} `json:"notificationItems"`
	}
	if !json.Valid(in.Request.Body) {
		return verify.NotJSON
	}
	if err := json.Unmarshal(in.Request.Body, &body); err != nil {
		return verify.MalformedHeader
	}
	if len(body.Items) == 0 {
		return verify.MissingHeader
	}
	for _, wrapped := range body.Items {
		if reason := checkItem(in.Key.([]byte), wrapped.Item); reason != verify.OK {
			return reason
		}
	}
	return verify.OK
}

func checkItem(key []byte, item adyenItem) verify.Reason {
	if item.Additional.Signature == "" {
		return verify.MissingHeader
	}
	signature, ok := decodeBase64(item.Additional.Signature)
	if !ok {
		return verify.MalformedHeader
	}
	h := hmac.New(sha256.New, key)
	_, _ = h.Write([]byte(item.text()))
	if !hmac.Equal(h.Sum(nil), signature) {
		return verify.BadSignature
	}
	return verify.OK
}
