package trial

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"sfbridge/bridge/verify"
)

const reencoded = ": something in front re-encoded it"

// bodyVariants are what becomes of a body on its way through proxies, consoles
// and frameworks.
func bodyVariants(body []byte) []variant {
	var list []variant
	add := func(what string, other []byte) {
		if !bytes.Equal(other, body) {
			list = append(list, variant{"signature matches the body " + what, func(_ *verify.Rule, d *Delivery) { d.Request.Body = other }})
		}
	}
	add("without its final newline"+reencoded, bytes.TrimRight(body, "\r\n"))
	add("with a final newline, which is missing here"+reencoded, append(bytes.Clone(body), '\n'))
	add("with a final line break (CR LF), which is missing here"+reencoded, append(bytes.TrimRight(body, "\r\n"), "\r\n"...))
	add("without the white space around it"+reencoded, bytes.TrimSpace(body))
	add("with LF for its line ends"+reencoded, bytes.ReplaceAll(body, []byte("\r\n"), []byte("\n")))
	add("with CR LF for its line ends"+reencoded, bytes.ReplaceAll(bytes.ReplaceAll(body, []byte("\r\n"), []byte("\n")), []byte("\n"), []byte("\r\n")))
	add("without its byte order mark"+reencoded, bytes.TrimPrefix(body, []byte("\xEF\xBB\xBF")))
	add("when it is empty: it was lost or added on the way", nil)
	if json.Valid(body) {
		jsonVariants(body, add)
	}
	return list
}

// jsonVariants are the same JSON, written by another encoder.
func jsonVariants(body []byte, add func(what string, other []byte)) {
	var compact bytes.Buffer
	_ = json.Compact(&compact, body) // it is valid
	for _, b := range [][]byte{body, compact.Bytes()} {
		add("as compact JSON"+reencoded, b)
		add(`with "/" for "\/"`+reencoded, bytes.ReplaceAll(b, []byte(`\/`), []byte(`/`)))
		add(`with "\/" for "/"`+reencoded, bytes.ReplaceAll(b, []byte(`/`), []byte(`\/`)))
		add(`with \u escapes for what is not ASCII`+reencoded, escaped(b))
		add(`without \u escapes`+reencoded, unescaped(b))
	}
	add("with a space after each comma and colon"+reencoded, spaced(compact.Bytes()))
	for _, indent := range []string{"  ", "    ", "\t"} {
		var out bytes.Buffer
		_ = json.Indent(&out, compact.Bytes(), "", indent)
		add("as indented JSON"+reencoded, out.Bytes())
	}
}

// escaped writes what isn't ASCII as \u escapes.
func escaped(body []byte) []byte {
	var out bytes.Buffer
	for _, r := range string(body) {
		switch {
		case r < utf8.RuneSelf:
			out.WriteRune(r)
		case r > 0xFFFF:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&out, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.Bytes()
}

// unescaped writes \u escapes as the characters that they stand for, but for
// those that JSON needs.
func unescaped(body []byte) []byte {
	text := string(body)
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			out.WriteByte(text[i])
			continue
		}
		n := 2
		if text[i+1] == 'u' {
			n = 6
			if strings.HasPrefix(text[min(i+6, len(text)):], `\u`) {
				n = 12
			}
		}
		escape := text[i:min(i+n, len(text))]
		var plain string
		if json.Unmarshal([]byte(`"`+escape+`"`), &plain) == nil && n > 2 && plain >= " " && !strings.ContainsAny(plain, `"\`) {
			out.WriteString(plain)
		} else {
			escape = escape[:2]
			out.WriteString(escape)
		}
		i += len(escape) - 1
	}
	return []byte(out.String())
}

// spaced puts a space after each comma and colon outside of texts.
func spaced(compact []byte) []byte {
	var out bytes.Buffer
	inText := false
	for i := 0; i < len(compact); i++ {
		c := compact[i]
		out.WriteByte(c)
		switch {
		case inText && c == '\\' && i+1 < len(compact):
			i++
			out.WriteByte(compact[i])
		case c == '"':
			inText = !inText
		case !inText && (c == ',' || c == ':'):
			out.WriteByte(' ')
		}
	}
	return out.Bytes()
}
