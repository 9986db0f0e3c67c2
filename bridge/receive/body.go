package receive

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"strings"
)

// body is a delivery's bytes: as they came, and with the content encoding
// undone (the same when there is none).
type body struct {
	wire, plain []byte
}

// readBody reads at most the source's limit, of the wire and of what it
// expands to, and takes the memory for it as it comes. The size is judged before
// the encoding.
func readBody(r *http.Request, s *Source, held *hold) (body, error) {
	if r.ContentLength > s.MaxBody {
		return body{}, tooLarge(s)
	}
	wire, err := readAll(r.Body, s, held)
	if err != nil {
		return body{}, err
	}
	encoding, err := contentEncoding(r.Header)
	if err != nil {
		return body{}, err
	}
	if encoding == "" {
		return body{wire: wire, plain: wire}, nil
	}
	if !s.takes(encoding) || encoding != "gzip" {
		return body{}, refuse(kindUnsupported, "content encoding %q is not taken here", encoding)
	}
	plain, err := expand(wire, s, held)
	return body{wire: wire, plain: plain}, err
}

func contentEncoding(h http.Header) (string, error) {
	values := h.Values("Content-Encoding")
	encoding := strings.ToLower(strings.TrimSpace(strings.Join(values, ",")))
	switch {
	case encoding == "identity":
		return "", nil
	case len(encoding) > 20 || strings.Contains(encoding, ","):
		return "", refuse(kindUnsupported, "one content encoding at the most")
	}
	return encoding, nil
}

// firstRead is how much room a body gets before any of it has come.
const firstRead = 2 << 10

// readAll reads one byte more than allowed, so that a body of exactly the limit
// passes and nothing is ever cut. A slow sender holds no more memory than about
// twice what it has sent.
func readAll(from io.Reader, s *Source, held *hold) ([]byte, error) {
	var raw []byte
	for {
		if len(raw) == cap(raw) {
			room := min(max(firstRead, 2*int64(cap(raw))), s.MaxBody+1)
			if err := held.grow(room - int64(cap(raw))); err != nil {
				return nil, err
			}
			raw = append(make([]byte, 0, room), raw...)
		}
		n, err := from.Read(raw[len(raw):cap(raw)])
		raw = raw[:len(raw)+n]
		switch {
		case int64(len(raw)) > s.MaxBody:
			return nil, tooLarge(s)
		case errors.Is(err, io.EOF):
			return raw, nil
		case err != nil:
			return nil, refuse(kindBadRequest, "the body could not be read to its end")
		}
	}
}

func expand(wire []byte, s *Source, held *hold) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(wire))
	if err != nil {
		return nil, refuse(kindBadRequest, "the body is no gzip")
	}
	plain, err := readAll(z, s, held)
	if err != nil {
		var r *refusal
		if errors.As(err, &r) && r.kind != kindBadRequest {
			return nil, err
		}
		return nil, refuse(kindBadRequest, "the body is no gzip")
	}
	return plain, nil
}

func tooLarge(s *Source) error {
	return refuse(kindTooLarge, "the body is larger than %d bytes", s.MaxBody)
}
