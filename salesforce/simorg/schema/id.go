package schema

import "strings"

const (
	base62   = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	checksum = "ABCDEFGHIJKLMNOPQRSTUVWXYZ012345"
)

// NewID returns the 18 character id of the n-th record under a key prefix.
func NewID(prefix string, n uint64) string {
	var b [18]byte
	copy(b[:], prefix)
	for i := 14; i >= 3; i-- {
		b[i] = base62[n%62]
		n /= 62
	}
	appendChecksum(b[:15], b[15:])
	return string(b[:])
}

// ID18 brings an id of 15 or 18 characters to 18; ok is false for anything
// that is no id.
func ID18(id string) (full string, ok bool) {
	if len(id) != 15 && len(id) != 18 {
		return "", false
	}
	for i := range len(id) {
		if !strings.Contains(base62, id[i:i+1]) {
			return "", false
		}
	}
	var b [18]byte
	copy(b[:], id[:15])
	appendChecksum(b[:15], b[15:])
	if len(id) == 18 && id != string(b[:]) {
		return "", false
	}
	return string(b[:]), true
}

// appendChecksum writes one character per five: which of them are upper case.
func appendChecksum(id, out []byte) {
	for chunk := range 3 {
		n := 0
		for i := range 5 {
			if c := id[chunk*5+i]; c >= 'A' && c <= 'Z' {
				n |= 1 << i
			}
		}
		out[chunk] = checksum[n]
	}
}

// keyPrefix returns the n-th prefix for custom objects: a00, a01, ... aZZ.
func keyPrefix(n int) string {
	return "a" + string(base62[n/62%62]) + string(base62[n%62])
}
