package provider

import (
	"fmt"
	"net/http"

	"sfbridge/mapping/path"
)

// Handshake is a request that is answered at once and never becomes an event.
type Handshake struct {
	Name   string
	Method string
	Signed bool // only a delivery whose signature is right is answered
	When   []Condition
	Answer *HandshakeAnswer // nil: answered as what is ignored
}

// Condition holds when the value at Path is the text Is.
type Condition struct {
	Path path.Path
	Is   string
}

// HandshakeAnswer is an answer whose body is made from the request.
type HandshakeAnswer struct {
	Status      int
	ContentType string
	Body        path.Template
}

// Ask is a request that may be a handshake.
type Ask struct {
	Method string
	Header http.Header
	Value  any  // the decoded body; nil when it is none
	Signed bool // the signature was right
}

// Handshake finds the handshake that the request is. A nil answer means that it
// is answered as what is ignored.
func (p *Preset) Handshake(a Ask) (name string, answer *Answer, found bool) {
	scope := path.Scope{Event: a.Value, Outer: path.Delivery{Body: a.Value, Header: a.Header}}
	for _, h := range p.Handshakes {
		if h.Method != a.Method || (h.Signed && !a.Signed) || !h.holds(scope) {
			continue
		}
		if h.Answer == nil {
			return h.Name, nil, true
		}
		body, _, err := h.Answer.Body.Expand(scope)
		if err != nil {
			continue // what should be repeated is no text
		}
		return h.Name, &Answer{Status: h.Answer.Status, ContentType: h.Answer.ContentType, Body: body}, true
	}
	return "", nil, false
}

func (h Handshake) holds(scope path.Scope) bool {
	for _, c := range h.When {
		v, _ := c.Path.Get(scope)
		if text, ok := path.Text(v); !ok || text != c.Is {
			return false
		}
	}
	return true
}

type handshakeEntry struct {
	Name   string            `yaml:"name"`
	Signed bool              `yaml:"signed"`
	Method string            `yaml:"method"`
	When   map[string]string `yaml:"when"`
	Answer *Answer           `yaml:"answer"`
}

func (r *reader) handshake(e handshakeEntry) Handshake {
	h := Handshake{Name: e.Name, Method: e.Method, Signed: e.Signed}
	r.check(e.Name != "" && e.Method != "" && len(e.When) > 0, "a handshake has name, method and when")
	for text, is := range e.When {
		h.When = append(h.When, Condition{r.paths([]string{text})[0], is})
	}
	if e.Answer == nil {
		return h
	}
	h.Answer = &HandshakeAnswer{Status: e.Answer.Status, ContentType: e.Answer.ContentType}
	r.check(e.Answer.Status >= 200 && e.Answer.Status < 300, "handshake %s: status %d is no success", e.Name, e.Answer.Status)
	body, err := path.ParseTemplate(e.Answer.Body, path.Field)
	if err != nil {
		r.problems = append(r.problems, fmt.Errorf("handshake %s: %w", e.Name, err))
	}
	h.Answer.Body = body
	return h
}
