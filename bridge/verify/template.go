package verify

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

type partKind int

const (
	partLiteral partKind = iota
	partBody
	partTS
	partMethod
	partURL
	partSecret
	partHeader // {h:NAME}
	partJSON   // {j:a.b}
)

// part is one piece of the signed bytes; text is the literal, the header's
// name or the member's path.
type part struct {
	kind partKind
	text string
}

var placeholders = map[string]partKind{
	"body": partBody, "ts": partTS, "method": partMethod, "url": partURL, "secret": partSecret,
}

// Placeholders lists what may stand in braces in Rule.Signed.
func Placeholders() []string {
	return []string{"{body}", "{ts}", "{method}", "{url}", "{secret}", "{h:NAME}", "{j:json.path}"}
}

func isPart(kind partKind) func(part) bool {
	return func(p part) bool { return p.kind == kind }
}

func (p part) name() string {
	switch p.kind {
	case partHeader:
		return "h:" + p.text
	case partJSON:
		return "j:" + p.text
	}
	for name, kind := range placeholders {
		if kind == p.kind {
			return name
		}
	}
	return p.text
}

// parseTemplate reads a template such as "{ts}.{body}".
func parseTemplate(s string) ([]part, error) {
	if s == "" {
		return nil, errors.New(`the template is empty: write "{body}" or "{ts}.{body}"`)
	}
	var parts []part
	for s != "" {
		open := strings.IndexByte(s, '{')
		if open != 0 {
			literal := s
			if open > 0 {
				literal = s[:open]
			}
			parts = append(parts, part{partLiteral, literal})
			s = s[len(literal):]
			continue
		}
		end := strings.IndexByte(s, '}')
		if end < 0 {
			return nil, errors.New("a placeholder is not closed: a } is missing")
		}
		p, err := parsePlaceholder(s[1:end])
		if err != nil {
			return nil, err
		}
		parts = append(parts, p)
		s = s[end+1:]
	}
	if !slices.ContainsFunc(parts, func(p part) bool { return p.kind != partLiteral }) {
		return nil, errors.New(`the template has no placeholder: write "{body}" or "{ts}.{body}"`)
	}
	return parts, nil
}

func parsePlaceholder(name string) (part, error) {
	if kind, ok := placeholders[name]; ok {
		return part{kind: kind}, nil
	}
	if header, ok := strings.CutPrefix(name, "h:"); ok && header != "" {
		return part{partHeader, header}, nil
	}
	if member, ok := strings.CutPrefix(name, "j:"); ok && member != "" {
		return part{partJSON, member}, nil
	}
	return part{}, fmt.Errorf("{%s} is unknown: use one of %s", name, strings.Join(Placeholders(), " "))
}
