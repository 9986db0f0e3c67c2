package verify

import "strings"

// matchToken compares one header, whole, with the secrets.
func (c *check) matchToken(r *request) (Reason, int) {
	value, reason := Required(r.Header, c.rule.Sig.Headers[0])
	if reason != OK {
		return reason, -1
	}
	return c.matchText(value)
}

// matchBasic compares HTTP Basic credentials with "user:password" secrets.
func (c *check) matchBasic(r *request) (Reason, int) {
	value, reason := Required(r.Header, "Authorization")
	if reason != OK {
		return reason, -1
	}
	scheme, encoded, ok := strings.Cut(value, " ")
	if !ok || !strings.EqualFold(scheme, "Basic") || strings.ContainsAny(encoded, "\r\n") {
		return MalformedHeader, -1
	}
	credentials, err := strictBase64.DecodeString(strings.Trim(encoded, optionalSpace))
	if err != nil {
		return MalformedHeader, -1
	}
	return c.matchText(string(credentials))
}

func (c *check) matchText(value string) (Reason, int) {
	position := -1
	for _, k := range c.keys {
		if sameText(value, k.secret) && position < 0 {
			position = k.position
		}
	}
	if position < 0 {
		return BadSignature, -1
	}
	return OK, position
}
