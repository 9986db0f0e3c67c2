package special

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"sfbridge/bridge/verify"
)

const formType = "application/x-www-form-urlencoded"

// signNothing leaves a delivery as it is, where nothing is signed.
func signNothing(_ string, req verify.Request) (verify.Request, error) { return req, nil }

// signAdyen signs every item of a notification.
func signAdyen(secret string, req verify.Request) (verify.Request, error) {
	key, err := hexKey(secret, nil)
	if err != nil {
		return req, err
	}
	body, err := exactMembers(req.Body)
	var items []json.RawMessage
	if err != nil || json.Unmarshal(body["notificationItems"], &items) != nil || len(items) == 0 {
		return req, errors.New("the body has no notificationItems to be signed")
	}
	for i, wrapped := range items {
		outer, _ := exactMembers(wrapped)
		item, err := exactMembers(outer["NotificationRequestItem"])
		if err != nil {
			return req, errors.New("an item of the notification has no NotificationRequestItem")
		}
		h := hmac.New(sha256.New, key.([]byte))
		_, _ = h.Write([]byte(itemText(item)))
		signature, _ := json.Marshal(base64.StdEncoding.EncodeToString(h.Sum(nil)))
		if items[i], err = verify.SetMember(wrapped, "NotificationRequestItem.additionalData.hmacSignature", signature); err != nil {
			return req, err
		}
	}
	list, err := json.Marshal(items)
	if err != nil {
		return req, err
	}
	req.Body, err = verify.SetMember(req.Body, "notificationItems", list)
	return req, err
}

// signTwilio signs a form, or names the hash of another body in the URL.
func signTwilio(secret string, req verify.Request) (verify.Request, error) {
	fields := ""
	if strings.HasPrefix(req.Header.Get("Content-Type"), formType) {
		list, ok := parseForm(string(req.Body))
		if !ok {
			return req, errors.New("the body is no form")
		}
		fields = sortedFields(list)
	} else if len(req.Body) > 0 {
		u, err := url.Parse(req.URL)
		if err != nil {
			return req, err
		}
		sum := sha256.Sum256(req.Body)
		u.RawQuery = strings.TrimPrefix(u.RawQuery+"&bodySHA256="+hex.EncodeToString(sum[:]), "&")
		req.URL = u.String()
	}
	req.Header.Set("X-Twilio-Signature", base64.StdEncoding.EncodeToString(hmacSHA1([]byte(secret), req.URL+fields)))
	return req, nil
}

// signBraintree wraps a notification, as XML or in its form already, and signs it.
func signBraintree(secret string, req verify.Request) (verify.Request, error) {
	made, err := braintreeKey(secret, nil)
	if err != nil {
		return req, err
	}
	keys := made.(braintreeKeys)
	payload := ""
	if body := bytes.TrimSpace(req.Body); len(body) > 0 && body[0] == '<' {
		payload = base64.StdEncoding.EncodeToString(body) + "\n"
	} else if fields, ok := parseForm(string(req.Body)); ok {
		payload, _ = one(fields, "bt_payload")
	}
	if payload == "" {
		return req, errors.New("the body is neither a notification in XML nor a form with bt_payload")
	}
	form := url.Values{
		"bt_payload":   {payload},
		"bt_signature": {keys.public + "|" + hex.EncodeToString(hmacSHA1(keys.key, payload))},
	}
	req.Header.Set("Content-Type", formType)
	req.Body = []byte(form.Encode())
	return req, nil
}

// tokenLife is how long the token of a test delivery is good.
const tokenLife = 5 * time.Minute

// signCaller adds a token that proves who calls.
func signCaller(secret string, req verify.Request) (verify.Request, error) {
	token := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{
		"iat": req.Now.Unix(), "exp": req.Now.Add(tokenLife).Unix(), "aud": req.URL,
	})
	text, err := token.SignedString([]byte(secret))
	req.Header.Set("Authorization", text)
	return req, err
}
