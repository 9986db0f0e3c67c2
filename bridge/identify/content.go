package identify

import (
	"bytes"
	"errors"
	"mime"
	"net/url"
	"strings"

	"sfbridge/mapping/path"
)

const formType = "application/x-www-form-urlencoded"

// jsonOf returns the JSON of a delivery: its body, or the field of a form that
// holds it.
func (i *Identifier) jsonOf(d Delivery) ([]byte, error) {
	declared := d.Header.Get("Content-Type")
	kind, _, err := mime.ParseMediaType(declared)
	if declared != "" && err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) {
		return nil, &Refusal{Unsupported, "the content type can't be read: send application/json"}
	}
	form := kind == formType && i.content.FormMember != ""
	if !form && !isJSON(kind) {
		return nil, &Refusal{Unsupported, "this content type is not taken here: send application/json"}
	}
	if len(bytes.TrimSpace(d.Body)) == 0 {
		return nil, &Refusal{Empty, "empty body"}
	}
	if form {
		return formField(d.Body, i.content.FormMember)
	}
	return d.Body, nil
}

func isJSON(kind string) bool {
	return kind == "" || kind == "application/json" || kind == "text/plain" || strings.HasSuffix(kind, "+json")
}

// formField reads the one field that holds the JSON.
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

// decode reads one JSON value. Bytes that are not UTF-8 are read as U+FFFD, so
// that the rest of the delivery can be identified; they are never stored so.
func decode(body []byte) (any, error) {
	tree, err := path.DecodeJSON(body)
	if errors.Is(err, path.ErrNotUTF8) {
		tree, err = path.DecodeJSON(bytes.ToValidUTF8(body, []byte("\uFFFD")))
	}
	switch {
	case errors.Is(err, path.ErrEmpty):
		return nil, &Refusal{Empty, "empty body"}
	case err != nil:
		return nil, &Refusal{NotJSON, "the body is not JSON: " + err.Error()}
	}
	return tree, nil
}
