package verify

import (
	"fmt"
	"slices"
)

// RuleError says what is wrong with a rule and how to put it right.
type RuleError struct{ Rule, Problem string }

func (e *RuleError) Error() string { return "signature rule " + e.Rule + ": " + e.Problem }

func (r Rule) problem(format string, args ...any) error {
	return &RuleError{Rule: r.Name, Problem: fmt.Sprintf(format, args...)}
}

// Validate checks what can be said of a row alone; its error is a *RuleError.
func (r Rule) Validate() error {
	switch r.Kind {
	case KindHMAC, KindDigest, KindECDSA:
		return r.validateSigned()
	case KindToken:
		if len(r.Sig.Headers) != 1 {
			return r.problem("a token stands in exactly one header")
		}
	case "":
		return r.problem("kind is missing")
	}
	return nil
}

func (r Rule) validateSigned() error {
	if r.Kind != KindECDSA {
		if _, ok := hashes[r.Hash]; !ok {
			return r.problem("hash %q is unknown: use sha256, sha512 or sha1", r.Hash)
		}
		if _, ok := decoders[r.Enc]; !ok {
			return r.problem("encoding %q is unknown: use hex or base64", r.Enc)
		}
	}
	if r.Kind != KindDigest {
		if _, ok := keyForms[r.Key]; !ok {
			return r.problem("key form %q is unknown: use raw, hex or whsec", r.Key)
		}
	}
	if (len(r.Sig.Headers) == 0) == (r.Sig.JSON == "") {
		return r.problem("the signature stands either in headers or in a JSON member")
	}
	for _, form := range r.URLForms {
		if _, ok := urlForms[form]; !ok {
			return r.problem("url form %q is unknown", form)
		}
	}
	return r.validateTemplate()
}

func (r Rule) validateTemplate() error {
	parts, err := parseTemplate(r.Signed)
	if err != nil {
		return r.problem("signed: %v", err)
	}
	if r.Kind == KindDigest && !slices.ContainsFunc(parts, isPart(partSecret)) {
		return r.problem("signed: a plain digest proves nothing without {secret}")
	}
	usesTS := slices.ContainsFunc(parts, isPart(partTS))
	if r.TS == nil {
		if usesTS {
			return r.problem("signed has {ts} but the rule names no timestamp")
		}
		return nil
	}
	return r.validateTimestamp(usesTS, slices.ContainsFunc(parts, isPart(partBody)))
}

func (r Rule) validateTimestamp(inTemplate, bodySigned bool) error {
	ts := r.TS
	if (ts.Header == "") == (ts.JSON == "") {
		return r.problem("the timestamp stands either in a header or in a JSON member")
	}
	if _, ok := tsUnits[ts.Unit]; !ok {
		return r.problem("timestamp unit %q is unknown: use s, ms or rfc3339", ts.Unit)
	}
	if ts.Tolerance <= 0 {
		return r.problem("the tolerance must be more than zero")
	}
	if ts.Index != nil && (ts.Split == "" || *ts.Index < 0) {
		return r.problem("the timestamp's index needs split and must not be negative")
	}
	if !inTemplate && !(ts.JSON != "" && bodySigned) {
		return r.problem(`the timestamp is not under the signature, so anyone could renew it: put {ts} into signed, as in "{ts}.{body}"`)
	}
	return nil
}

// Warnings names what is weak, though possible, in a rule that a person wrote.
func (r Rule) Warnings() []string {
	parts, err := parseTemplate(r.Signed)
	if err != nil || (r.Kind != KindHMAC && r.Kind != KindDigest) {
		return nil
	}
	var warnings []string
	if !slices.ContainsFunc(parts, isPart(partBody)) {
		warnings = append(warnings, "signed has no {body}: the signature does not cover the payload")
	}
	for i := 1; i < len(parts); i++ {
		if parts[i-1].kind != partLiteral && parts[i].kind != partLiteral {
			warnings = append(warnings, fmt.Sprintf("signed has nothing between {%s} and {%s}: characters can move from one to the other",
				parts[i-1].name(), parts[i].name()))
		}
	}
	return warnings
}

// SecretHeaders lists the headers that carry secrets or signatures, numbered
// ones with {n}; their values are never kept.
func (r Rule) SecretHeaders() []string {
	if r.Kind == KindBasic {
		return []string{"Authorization"}
	}
	return slices.Clone(r.Sig.Headers)
}
