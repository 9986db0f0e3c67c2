package salesforce

import (
	"fmt"
	"net/url"
	"strings"
)

const upperHex = "0123456789ABCDEF"

// segment writes a value as one segment of a path. Everything but letters,
// digits, '-', '_', '.' and '~' is percent-encoded, so that no hop reads '+' as
// a blank or '/' as a separator; "." and ".." would be resolved away by hops
// and are refused.
func segment(value string) (string, error) {
	if value == "" || value == "." || value == ".." {
		return "", fmt.Errorf("%q can't be part of an address", value)
	}
	var b strings.Builder
	b.Grow(len(value))
	for i := range len(value) {
		if c := value[i]; unreserved(c) {
			b.WriteByte(c)
		} else {
			b.WriteByte('%')
			b.WriteByte(upperHex[c>>4])
			b.WriteByte(upperHex[c&15])
		}
	}
	return b.String(), nil
}

func unreserved(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
		c == '-' || c == '_' || c == '.' || c == '~'
}

// plainSegment reports whether Salesforce is known to take a value in a path: it
// answers 404 for values that end like a file name and is unreliable with
// slashes.
func plainSegment(value string) bool {
	return !strings.ContainsAny(value, "./\\")
}

// rowPath joins segments below sobjects/.
func rowPath(segments ...string) (string, error) {
	path := "sobjects"
	for _, s := range segments {
		escaped, err := segment(s)
		if err != nil {
			return "", err
		}
		path += "/" + escaped
	}
	return path, nil
}

func escapeQuery(value string) string { return url.QueryEscape(value) }
