package verify

import (
	"net/http"
	"strconv"
	"strings"
)

// maxElements bounds how many signatures of one delivery are looked at, and
// how far numbered headers count.
const maxElements = 100

const optionalSpace = " \t"

// Single reads a header that may have one value only. Equal repeats are one
// value. present is false when no such line came.
func Single(h http.Header, name string) (value string, present bool, reason Reason) {
	return single(h.Values(name))
}

func single(values []string) (value string, present bool, reason Reason) {
	for i, v := range values {
		v = strings.Trim(v, optionalSpace)
		if i > 0 && v != value {
			return "", true, RepeatedHeader
		}
		value = v
	}
	return value, len(values) > 0, OK
}

// Required is Single for a header that must be there and not empty.
func Required(h http.Header, name string) (string, Reason) {
	value, _, reason := Single(h, name)
	if reason != OK {
		return "", reason
	}
	if value == "" {
		return "", MissingHeader
	}
	return value, OK
}

// received finds the signatures of a delivery: every element that begins with
// the rule's prefix, up to maxElements.
func (c *check) received(r *request) ([]signature, Reason) {
	if c.rule.Sig.JSON != "" {
		text, reason := r.member(c.rule.Sig.JSON)
		if reason != OK {
			return nil, reason
		}
		return c.elements([]string{text})
	}
	var values []string
	for _, name := range c.sigHeaders {
		found, reason := c.headerValues(r.Header[name])
		if reason != OK {
			return nil, reason
		}
		if values == nil {
			values = found
		} else {
			values = append(values, found...)
		}
	}
	if len(values) == 0 {
		return nil, MissingHeader
	}
	return c.elements(values)
}

// headerValues returns the values of one signature header that are not empty.
func (c *check) headerValues(lines []string) ([]string, Reason) {
	if c.rule.Sig.Multi {
		var values []string
		for _, line := range lines {
			if line = strings.Trim(line, optionalSpace); line != "" && len(values) < maxElements {
				values = append(values, line)
			}
		}
		return values, OK
	}
	value, _, reason := single(lines)
	if reason != OK || value == "" {
		return nil, reason
	}
	return []string{value}, OK
}

func (c *check) elements(values []string) ([]signature, Reason) {
	sig := c.rule.Sig
	var list []signature
	for _, value := range values {
		for i, more := 0, true; more && len(list) < maxElements; i++ {
			element := value
			more = false
			if sig.Split != "" {
				element, value, more = strings.Cut(value, sig.Split)
			}
			if found, ok := sig.cut(element); ok && i >= sig.Skip {
				list = append(list, found)
			}
		}
	}
	if len(list) == 0 {
		return nil, MalformedHeader
	}
	return list, OK
}

// signature is one received signature, still encoded.
type signature struct {
	text   string
	public bool // made with a private key: Ed25519
}

// cut takes the prefix off an element; ok is false for what is no signature of
// the rule.
func (s Signature) cut(element string) (found signature, ok bool) {
	if text, ok := strings.CutPrefix(element, s.Prefix); ok {
		return signature{text: text}, text != ""
	}
	if s.PublicPrefix != "" {
		text, ok := strings.CutPrefix(element, s.PublicPrefix)
		return signature{text: text, public: true}, ok && text != ""
	}
	return signature{}, false
}

// expandNumbered lists the signature headers in net/http's spelling, with
// "X-Signature-{n}" written out for 1 to maxElements.
func expandNumbered(sig Signature) []string {
	var names []string
	for _, pattern := range sig.Headers {
		if !sig.Numbered {
			names = append(names, http.CanonicalHeaderKey(pattern))
			continue
		}
		for n := 1; n <= maxElements; n++ {
			name := strings.ReplaceAll(pattern, "{n}", strconv.Itoa(n))
			names = append(names, http.CanonicalHeaderKey(name))
		}
	}
	return names
}
