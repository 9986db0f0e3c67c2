package event

import (
	"encoding/base64"
	"errors"
	"fmt"
	"unicode"
	"unicode/utf8"
)

// Encoding is how Payload__c holds the event's bytes.
type Encoding string

const (
	Plain   Encoding = "Plain"   // the text itself
	Base64  Encoding = "Base64"  // text would not survive storage
	Chunked Encoding = "Chunked" // in Inbound_Event_Chunk__c rows, each Base64
)

var encodings = []Encoding{Plain, Base64, Chunked}

// Encodings returns the values of Payload_Encoding__c in picklist order.
func Encodings() []Encoding { return append([]Encoding(nil), encodings...) }

const (
	// PayloadLimit is the length of Payload__c and Data__c in characters.
	PayloadLimit = 131072
	// ContextLimit is the length of Context__c in characters.
	ContextLimit = 32768
	// ChunkBytes is how many bytes one chunk row holds as Base64.
	ChunkBytes = PayloadLimit / 4 * 3
	// MaxChunks is how many chunk rows fit beside their event into one
	// composite call of 25 subrequests.
	MaxChunks = 24
	// MaxPayload is the largest event that can be staged, in bytes.
	MaxPayload = ChunkBytes * MaxChunks
)

// ErrTooLarge says that an event is larger than MaxPayload.
var ErrTooLarge = errors.New("the event is larger than the staging object can hold")

// StoredPayload is an event's bytes in the form in which Salesforce keeps
// them. Text is empty and Chunks is set when Encoding is Chunked.
type StoredPayload struct {
	Encoding Encoding
	Text     string
	Chunks   []string
}

// EncodePayload chooses the form that survives storage byte for byte.
func EncodePayload(raw []byte) (StoredPayload, error) {
	if survives(raw) && UTF16Len(string(raw)) <= PayloadLimit {
		return StoredPayload{Encoding: Plain, Text: string(raw)}, nil
	}
	if !survives(raw) && base64.StdEncoding.EncodedLen(len(raw)) <= PayloadLimit {
		return StoredPayload{Encoding: Base64, Text: base64.StdEncoding.EncodeToString(raw)}, nil
	}
	if len(raw) > MaxPayload {
		return StoredPayload{}, ErrTooLarge
	}
	s := StoredPayload{Encoding: Chunked}
	for len(raw) > 0 {
		n := min(ChunkBytes, len(raw))
		s.Chunks = append(s.Chunks, base64.StdEncoding.EncodeToString(raw[:n]))
		raw = raw[n:]
	}
	return s, nil
}

// DecodePayload is the reverse of EncodePayload. chunks are in order of
// Index__c and only looked at when the encoding is Chunked.
func DecodePayload(enc Encoding, text string, chunks []string) ([]byte, error) {
	switch enc {
	case Plain:
		return []byte(text), nil
	case Base64:
		raw, err := base64.StdEncoding.Strict().DecodeString(text)
		if err != nil {
			return nil, fmt.Errorf("Payload__c is no Base64: %w", err)
		}
		return raw, nil
	case Chunked:
		var raw []byte
		for i, c := range chunks {
			part, err := base64.StdEncoding.Strict().DecodeString(c)
			if err != nil {
				return nil, fmt.Errorf("chunk %d is no Base64: %w", i, err)
			}
			raw = append(raw, part...)
		}
		return raw, nil
	}
	return nil, fmt.Errorf("unknown Payload_Encoding__c %q", enc)
}

// survives says whether Salesforce keeps raw as text exactly: valid UTF-8, no
// control character but TAB and LF, no white space at either end (it trims).
func survives(raw []byte) bool {
	if len(raw) == 0 || !utf8.Valid(raw) {
		return false
	}
	first, _ := utf8.DecodeRune(raw)
	last, _ := utf8.DecodeLastRune(raw)
	if unicode.IsSpace(first) || unicode.IsSpace(last) {
		return false
	}
	for _, r := range string(raw) {
		if unicode.IsControl(r) && r != '\t' && r != '\n' {
			return false
		}
		if r == 0xFFFE || r == 0xFFFF || r == 0xFEFF {
			return false // non-characters, and a byte order mark that a parser may swallow
		}
	}
	return true
}
