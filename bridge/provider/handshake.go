package provider

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"sfbridge/mapping/path"
)

// Handshake is a request that is answered at once and never becomes an event.
type Handshake struct {
	Name     string
	Methods  []string
	Unsigned bool // it comes without a signature; otherwise only a rightly signed one is answered
	When     []Condition
	Keeps    *path.Path // the secret that it brings; answered only while the source has none
	Do       string     // what only code can; see do
	Answer   *HandshakeAnswer
}

// Condition holds when the value at Path is the text Is; "*" is any text.
type Condition struct {
	Path path.Path
	Is   string
}

// HandshakeAnswer is an answer that is made from the request.
type HandshakeAnswer struct {
	Status      int
	ContentType string
	Body        path.Template
	JSON        map[string]path.Template // instead of Body
	Headers     map[string]path.Template
	Fixed       map[string]string // headers that are always the same
	Empty       bool
}

// Ask is a request that may be a handshake.
type Ask struct {
	Method  string
	Query   url.Values
	Header  http.Header
	Value   any    // the decoded body; nil when it is none
	Body    []byte // as it came
	Signed  bool   // the signature was right
	Secret  string // the secret that verified, else the first; "" without
	NoneYet bool   // the source has no secret yet
	Params  map[string]string
}

// Reply is what a handshake leads to.
type Reply struct {
	Name    string
	Answer  *Answer // nil: answered as what is ignored
	Refused bool    // Answer says no
	Keep    string  // a secret to keep before the answer is given
	Confirm string  // an address to call before the answer is given
}

// maxRepeated bounds what a stranger can have repeated.
const maxRepeated = 1024

// Handshake finds the handshake that the request is.
func (p *Preset) Handshake(a Ask) (Reply, bool) {
	query := map[string]any{}
	for name := range a.Query {
		query[name] = a.Query.Get(name)
	}
	header := map[string]any{}
	for name := range a.Header {
		header[strings.ToLower(name)] = a.Header.Get(name)
	}
	outer := path.Delivery{Body: map[string]any{"query": query, "header": header}, Header: a.Header}
	scope := path.Scope{Event: a.Value, Outer: outer}
	for _, h := range p.Handshakes {
		if !slices.Contains(h.Methods, a.Method) || (!h.Unsigned && !a.Signed) || !h.holds(scope) {
			continue
		}
		if reply, ok := h.reply(a, scope); ok {
			reply.Name = h.Name
			return reply, true
		}
	}
	return Reply{}, false
}

// Methods lists the methods besides POST that handshakes use.
func (p *Preset) Methods() []string {
	var list []string
	for _, h := range p.Handshakes {
		for _, m := range h.Methods {
			if m != http.MethodPost && !slices.Contains(list, m) {
				list = append(list, m)
			}
		}
	}
	return list
}

func (h Handshake) holds(scope path.Scope) bool {
	for _, c := range h.When {
		v, _ := c.Path.Get(scope)
		text, ok := path.Text(v)
		if !ok || text == "" || (c.Is != "*" && text != c.Is) {
			return false
		}
	}
	return true
}

func (h Handshake) reply(a Ask, scope path.Scope) (Reply, bool) {
	var reply Reply
	if h.Keeps != nil {
		secret, ok := h.secret(a, scope)
		if !ok {
			return Reply{}, false
		}
		reply.Keep = secret
	}
	if h.Do != "" {
		return do[h.Do](a)
	}
	if h.Answer == nil {
		return reply, true
	}
	answer, ok := h.Answer.expand(scope)
	reply.Answer = answer
	return reply, ok
}

// secret is the secret that the handshake brings, if it is one and none is
// known yet: else anybody could plant another.
func (h Handshake) secret(a Ask, scope path.Scope) (string, bool) {
	v, _ := h.Keeps.Get(scope)
	text, ok := v.(string)
	plain := !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
	return text, ok && a.NoneYet && plain && len(text) >= 8 && len(text) <= 512
}

func (h *HandshakeAnswer) expand(scope path.Scope) (*Answer, bool) {
	a := &Answer{Status: h.Status, ContentType: h.ContentType, Empty: h.Empty, Headers: maps.Clone(h.Fixed)}
	fill := func(t path.Template) (string, bool) {
		if t.IsZero() {
			return "", true
		}
		text, present, err := t.Expand(scope)
		return text, present && err == nil && len(text) <= maxRepeated
	}
	var ok bool
	if a.Body, ok = fill(h.Body); !ok {
		return nil, false
	}
	for name, t := range h.Headers {
		text, ok := fill(t)
		if !ok {
			return nil, false
		}
		if a.Headers == nil {
			a.Headers = map[string]string{}
		}
		a.Headers[name] = text
	}
	if h.JSON == nil {
		return a, true
	}
	members := map[string]string{}
	for name, t := range h.JSON {
		if members[name], ok = fill(t); !ok {
			return nil, false
		}
	}
	return jsonAnswer(members), true
}

func jsonAnswer(members map[string]string) *Answer {
	body, _ := json.Marshal(members) // texts always marshal
	return &Answer{Status: http.StatusOK, ContentType: "application/json", Body: string(body)}
}

type handshakeEntry struct {
	Name     string                `yaml:"name"`
	Methods  []string              `yaml:"methods"`
	Unsigned bool                  `yaml:"unsigned"`
	When     map[string]string     `yaml:"when"`
	Keeps    string                `yaml:"keeps"`
	Do       string                `yaml:"do"`
	Answer   *handshakeAnswerEntry `yaml:"answer"`
}

type handshakeAnswerEntry struct {
	Status      int               `yaml:"status"`
	ContentType string            `yaml:"content_type"`
	Body        string            `yaml:"body"`
	Empty       bool              `yaml:"empty"`
	JSON        map[string]string `yaml:"json"`
	Headers     map[string]string `yaml:"headers"`
}

func (r *reader) handshake(e handshakeEntry) Handshake {
	h := Handshake{Name: e.Name, Methods: e.Methods, Unsigned: e.Unsigned, Do: e.Do}
	r.check(e.Name != "" && len(e.Methods) > 0, "a handshake has name and methods")
	r.check(len(e.When) > 0 || e.Keeps != "" || e.Do != "" || slices.Equal(e.Methods, []string{http.MethodHead}),
		"handshake %s answers everything: say when", e.Name)
	r.check(e.Keeps == "" || e.Do == "", "handshake %s: keeps or do, not both: what is done would lose the secret that is to be kept", e.Name)
	r.check(e.Do == "" || do[e.Do] != nil, "handshake %s: %q is nothing that can be done", e.Name, e.Do)
	for text, is := range e.When {
		h.When = append(h.When, Condition{r.paths([]string{text})[0], is})
	}
	if e.Keeps != "" {
		h.Keeps = &r.paths([]string{e.Keeps})[0]
	}
	if e.Answer != nil {
		h.Answer = r.handshakeAnswer(e.Name, *e.Answer)
	}
	return h
}

func (r *reader) handshakeAnswer(name string, e handshakeAnswerEntry) *HandshakeAnswer {
	r.check(e.Status >= 200 && e.Status < 300, "handshake %s: status %d is no success", name, e.Status)
	a := &HandshakeAnswer{Status: e.Status, ContentType: e.ContentType, Empty: e.Empty}
	template := func(text string) path.Template {
		t, err := path.ParsePathOrTemplate(text, path.Field)
		if err != nil {
			r.problems = append(r.problems, fmt.Errorf("handshake %s: %w", name, err))
		}
		return t
	}
	if e.Body != "" {
		a.Body = template(e.Body)
	}
	for member, text := range e.JSON {
		if a.JSON == nil {
			a.JSON = map[string]path.Template{}
		}
		a.JSON[member] = template(text)
	}
	for header, text := range e.Headers {
		if strings.Contains(text, "{") {
			if a.Headers == nil {
				a.Headers = map[string]path.Template{}
			}
			a.Headers[header] = template(text)
			continue
		}
		if a.Fixed == nil {
			a.Fixed = map[string]string{}
		}
		a.Fixed[header] = text
	}
	return a
}
