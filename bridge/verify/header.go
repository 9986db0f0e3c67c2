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
	values := h.Values(name)
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

// signatures calls visit with every element of the delivery that carries the
// rule's prefix (cut off), until visit returns false or maxElements is
// reached. The reason is OK as soon as there was one such element.
func (v *check) signatures(r *request, visit func(s signature) bool) Reason {
	if v.rule.Sig.JSON != "" {
		text, reason := r.member(v.rule.Sig.JSON)
		if reason != OK {
			return reason
		}
		return v.elements([]string{text}, visit)
	}
	var values []string
	for _, name := range v.sigHeaders {
		found, reason := v.headerValues(r.Header, name)
		if reason != OK {
			return reason
		}
		values = append(values, found...)
	}
	if len(values) == 0 {
		return MissingHeader
	}
	return v.elements(values, visit)
}

// headerValues returns the values of one signature header that are not empty.
func (v *check) headerValues(h http.Header, name string) ([]string, Reason) {
	if v.rule.Sig.Multi {
		var values []string
		for _, value := range h.Values(name) {
			if value = strings.Trim(value, optionalSpace); value != "" && len(values) < maxElements {
				values = append(values, value)
			}
		}
		return values, OK
	}
	value, _, reason := Single(h, name)
	if reason != OK || value == "" {
		return nil, reason
	}
	return []string{value}, OK
}

func (v *check) elements(values []string, visit func(signature) bool) Reason {
	sig := v.rule.Sig
	reason, seen := MalformedHeader, 0
	for _, value := range values {
		for i, more := 0, true; more && seen < maxElements; i++ {
			element := value
			more = false
			if sig.Split != "" {
				element, value, more = strings.Cut(value, sig.Split)
			}
			if i < sig.Skip {
				continue
			}
			found, ok := sig.cut(element)
			if !ok {
				continue
			}
			reason = OK
			seen++
			if !visit(found) {
				return OK
			}
		}
	}
	return reason
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
