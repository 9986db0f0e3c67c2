package verify

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
)

// SignRequest makes req a rightly signed delivery, for senders of test
// deliveries: with more headers, or with another body or URL where the
// signature stands there. schemes may be nil when the rule is none of them. The
// signature is made at req.Now. ErrNotSignable says that only the provider can.
func SignRequest(rule Rule, schemes Schemes, secret string, req Request) (Request, error) {
	header := http.Header{}
	for name, values := range req.Header {
		header[http.CanonicalHeaderKey(name)] = values
	}
	req.Header = header
	if scheme, ok := schemes[rule.Kind]; ok {
		if scheme.Sign == nil {
			return Request{}, ErrNotSignable
		}
		return scheme.Sign(secret, req)
	}
	var err error
	if rule.TS != nil && rule.TS.JSON != "" {
		if req.Body, err = setTime(rule, req); err != nil {
			return Request{}, err
		}
	}
	if rule.Sig.JSON != "" {
		return signBody(rule, secret, req)
	}
	signature, err := Sign(rule, secret, req)
	for name, values := range signature {
		req.Header[http.CanonicalHeaderKey(name)] = values
	}
	return req, err
}

// setTime writes the time of signing into the body: as a number where the unit
// is milliseconds, else as text.
func setTime(rule Rule, req Request) ([]byte, error) {
	text := formatTime(rule.TS.Unit, req.Now)
	value := json.RawMessage(text)
	if rule.TS.Unit != "ms" {
		value = quoted(text)
	}
	return SetMember(req.Body, rule.TS.JSON, value)
}

// signBody writes the signature into the body, and what is signed beside it
// when that isn't there yet.
func signBody(rule Rule, secret string, req Request) (Request, error) {
	c, err := compile(rule, Config{})
	if err != nil {
		return Request{}, err
	}
	k, err := c.prepare(0, secret)
	if err != nil {
		return Request{}, err
	}
	for _, p := range c.parts {
		if _, reason := (&request{req}).member(p.text); p.kind != partJSON || reason == OK {
			continue
		}
		sum := sha256.Sum256(req.Body)
		if req.Body, err = SetMember(req.Body, p.text, quoted(hex.EncodeToString(sum[:25]))); err != nil {
			return Request{}, err
		}
	}
	text, reason := c.pieces(&request{req})
	if reason != OK {
		return Request{}, errors.New("what the signature covers is not in the delivery: " + string(reason))
	}
	req.Body, err = SetMember(req.Body, rule.Sig.JSON, quoted(c.encode(c.digest(k, text, text.urls[0]))))
	return req, err
}

func quoted(text string) json.RawMessage {
	raw, _ := json.Marshal(text) // a text always marshals
	return raw
}

var errNoObject = errors.New("the body must be a JSON object to be signed")

// SetMember sets the member at a dotted path, and leaves the bytes of all other
// members as they are. Objects on the way are made when they are missing.
func SetMember(body []byte, path string, value json.RawMessage) ([]byte, error) {
	name, rest, nested := strings.Cut(path, ".")
	var object map[string]json.RawMessage
	if err := json.Unmarshal(body, &object); err != nil || object == nil {
		return nil, errNoObject
	}
	if nested {
		inner := object[name]
		if len(inner) == 0 {
			inner = json.RawMessage("{}")
		}
		var err error
		if value, err = SetMember(inner, rest, value); err != nil {
			return nil, err
		}
	}
	object[name] = value
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	err := e.Encode(object)
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), err
}
