package identify

import (
	"bytes"
	"encoding/base64"
	"errors"
	"mime"
	"net/url"
	"strings"

	"sfbridge/bridge/event"
	"sfbridge/mapping/path"
	"sfbridge/mapping/view"
)

const formType = "application/x-www-form-urlencoded"

// body returns what a delivery carries: its body, or the field of a form that
// holds the event.
func (c Content) body(d Delivery) ([]byte, error) {
	declared := d.Header.Get("Content-Type")
	kind, _, err := mime.ParseMediaType(declared)
	if declared != "" && err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) {
		return nil, &Refusal{Unsupported, "the content type can't be read: send " + c.wanted()}
	}
	form := kind == formType && (c.FormMember != "" || c.Form)
	if !form && !c.takes(kind) {
		return nil, &Refusal{Unsupported, "this content type is not taken here: send " + c.wanted()}
	}
	if len(bytes.TrimSpace(d.Body)) == 0 {
		return nil, &Refusal{Empty, "empty body"}
	}
	if !form || c.FormMember == "" {
		return d.Body, nil
	}
	member, err := formField(d.Body, c.FormMember)
	if err != nil || !c.Base64 {
		return member, err
	}
	return decodeMember(member, c.FormMember)
}

// takes says whether a content type other than a form is read. What a body is
// in the end is told by the body.
func (c Content) takes(kind string) bool {
	switch kind {
	case "text/xml", "application/xml":
		return c.XML
	case "application/x-ndjson", "application/jsonl", "application/x-jsonlines":
		return c.Lines
	}
	return kind == "" || kind == "application/json" || kind == "text/plain" || strings.HasSuffix(kind, "+json")
}

func (c Content) wanted() string {
	switch {
	case c.XML:
		return "text/xml"
	case c.Form:
		return formType
	}
	return "application/json"
}

func decodeMember(text []byte, name string) ([]byte, error) {
	compact := strings.Map(func(r rune) rune {
		if r == '\n' || r == '\r' {
			return -1
		}
		return r
	}, string(text))
	data, err := base64.StdEncoding.DecodeString(compact)
	if err != nil {
		return nil, &Refusal{NotJSON, "the form field " + name + " is not base64"}
	}
	return data, nil
}

// formField reads the one field that holds the event.
func formField(body []byte, name string) ([]byte, error) {
	rest, found := string(body), false
	var value string
	for more := true; more; {
		var pair string
		pair, rest, more = strings.Cut(rest, "&")
		key, text, _ := strings.Cut(pair, "=")
		if key, err := url.QueryUnescape(key); err != nil || key != name {
			continue
		}
		text, err := url.QueryUnescape(text)
		if err != nil {
			return nil, &Refusal{NotJSON, "the form field " + name + " is not percent-encoded"}
		}
		if found && text != value {
			return nil, &Refusal{NotJSON, "the form has several fields " + name}
		}
		found, value = true, text
	}
	if strings.TrimSpace(value) == "" {
		return nil, &Refusal{Empty, "the form has no field " + name}
	}
	return []byte(value), nil
}

// decode reads what a delivery carries.
func (c Content) decode(body []byte) (element, error) {
	kind := view.KindOf(body)
	switch {
	case kind == view.XML && (c.XML || c.Base64):
		value, err := view.DecodeXML(body)
		if err != nil {
			return element{}, contentRefusal(err)
		}
		return element{raw: body, value: value, kind: kind}, nil
	case kind == view.Form && c.Form:
		value, exact, err := view.DecodeForm(body)
		if err != nil {
			return element{}, contentRefusal(err)
		}
		return element{raw: body, value: value, kind: kind, loose: !exact}, nil
	}
	value, err := decodeJSON(body)
	if err != nil && c.Lines {
		if lines, ok, refused := decodeLines(body); ok || refused != nil {
			return lines, refused
		}
	}
	return element{raw: body, value: value}, err
}

// decodeLines reads several lines as the array of their values; ok is false when
// they are none. A line that is no JSON stands beside them, so that it is kept
// and its neighbours are not refused; at least one must be an event. Blank lines
// are none.
func decodeLines(body []byte) (whole element, ok bool, err error) {
	body = bytes.TrimSpace(body)
	if !bytes.Contains(body, []byte("\n")) {
		return element{}, false, nil
	}
	var values []any
	raw := []byte("[")
	at := 0
	for line := range bytes.SplitSeq(body, []byte("\n")) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if at == MaxEvents {
			return element{}, false, errTooMany
		}
		value, err := decodeJSON(line)
		if _, object := value.(map[string]any); err != nil || !object {
			whole.broken = append(whole.broken, brokenLine(line, at))
		} else {
			if len(values) > 0 {
				raw = append(raw, ',')
			}
			raw, values = append(raw, line...), append(values, value)
		}
		at++
	}
	whole.raw, whole.value = append(raw, ']'), values
	return whole, len(values) > 0, nil
}

// brokenLine is a line that stands under the hash of its bytes.
func brokenLine(line []byte, at int) element {
	return element{raw: line, at: at, hash: event.HashBytes(line), unsound: errors.New("this line of the delivery is no JSON object")}
}

// decodeJSON reads one JSON value. Bytes that are not UTF-8 are read as U+FFFD,
// so that the rest of the delivery can be identified; they are never stored so.
func decodeJSON(body []byte) (any, error) {
	tree, err := path.DecodeJSON(body)
	if errors.Is(err, path.ErrNotUTF8) {
		tree, err = path.DecodeJSON(bytes.ToValidUTF8(body, []byte("\uFFFD")))
	}
	if err != nil {
		return nil, contentRefusal(err)
	}
	return tree, nil
}

// contentRefusal says why a body can't be read.
func contentRefusal(err error) *Refusal {
	switch {
	case errors.Is(err, path.ErrEmpty):
		return &Refusal{Empty, "empty body"}
	case errors.Is(err, view.ErrTooMany):
		return &Refusal{TooMany, err.Error()}
	case errors.Is(err, view.ErrXML), errors.Is(err, view.ErrForm):
		return &Refusal{NotJSON, err.Error()}
	}
	return &Refusal{NotJSON, "the body is not JSON: " + err.Error()}
}
