package path

import (
	"slices"
	"strings"
)

func parseHeader(text string) (Path, error) {
	name := text[len(headerPrefix):]
	if !isToken(name) {
		return Path{}, &ParseError{Text: text, What: "isn't a header's name", Fix: "write it like header.X-Shopify-Topic"}
	}
	if secretHeader(name) {
		return Path{}, &ParseError{Text: text, What: "holds a secret or a signature and is never kept",
			Fix: "use another header or a value of the payload"}
	}
	return Path{text: text, root: RootHeader, header: strings.ToLower(name)}, nil
}

// secretHeader reports whether a header carries credentials or a signature,
// judged by its name, so that it can't get into stored rows. Names that don't
// show it are known only to the provider's rule.
func secretHeader(name string) bool {
	name = strings.ToLower(name)
	if slices.Contains([]string{"api-key", "x-api-key"}, name) {
		return true
	}
	secret := []string{"authorization", "cookie", "cookie2", "signature", "signatures", "sig", "hmac",
		"token", "secret", "password", "apikey", "verification"}
	return slices.ContainsFunc(strings.FieldsFunc(name, func(r rune) bool { return r == '-' || r == '_' }),
		func(part string) bool { return slices.Contains(secret, part) })
}

// isToken reports whether s is a header name as HTTP defines it.
func isToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !isLetterOrDigit(c) && !strings.ContainsRune("!#$%&'*+-.^_`|~", rune(c)) {
			return false
		}
	}
	return s != ""
}

func isLetterOrDigit(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}
