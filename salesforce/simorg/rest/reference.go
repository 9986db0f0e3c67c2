package rest

import (
	"regexp"
	"strconv"
	"strings"

	"sfbridge/salesforce/simorg/jsonin"
	"sfbridge/salesforce/simorg/org"
)

var (
	referenceText = regexp.MustCompile(`@\{([^{}]+)\}`)
	referencePart = regexp.MustCompile(`^([^\[\].]+)?((?:\[\d+\])*)$`)
)

// resolve puts the values of @{ref.field} references into a subrequest.
func resolve(n node, before []answered) (node, *apiError) {
	var err *apiError
	expand := func(text string) string {
		if !strings.Contains(text, "@{") {
			return text
		}
		return referenceText.ReplaceAllStringFunc(text, func(found string) string {
			value, ok := lookUp(found[2:len(found)-1], before)
			if !ok && err == nil {
				expression := found[2 : len(found)-1]
				ref, _, _ := strings.Cut(strings.ReplaceAll(expression, "[", "."), ".")
				err = bad(org.CodeHalted, "Invalid reference specified. No value for "+expression+" found in "+ref)
			}
			return value
		})
	}
	n.url = expand(n.url)
	if n.body != nil {
		body := expandValue(*n.body, expand)
		n.body = &body
	}
	return n, err
}

// expandValue copies a value with its strings expanded.
func expandValue(v jsonin.Value, expand func(string) string) jsonin.Value {
	if v.Kind == jsonin.String {
		v.Text = expand(v.Text)
	}
	if v.Items != nil {
		items := make([]jsonin.Value, len(v.Items))
		for i, item := range v.Items {
			items[i] = expandValue(item, expand)
		}
		v.Items = items
	}
	if v.Members != nil {
		members := make([]jsonin.Member, len(v.Members))
		for i, m := range v.Members {
			members[i] = jsonin.Member{Name: m.Name, Value: expandValue(m.Value, expand)}
		}
		v.Members = members
	}
	return v
}

// lookUp finds the value a reference names in the answers before it.
func lookUp(expression string, before []answered) (string, bool) {
	parts := strings.Split(expression, ".")
	for i := range before {
		one := &before[i]
		rest, found := strings.CutPrefix(parts[0], one.ref)
		if !found || rest != "" && rest[0] != '[' || one.reply.failed() {
			continue
		}
		if one.value == nil {
			parsed, err := jsonin.Parse(one.reply.body)
			if err != nil {
				return "", false
			}
			one.value = &parsed
		}
		return descend(one.value, append([]string{rest}, parts[1:]...))
	}
	return "", false
}

// descend follows names and [n] indexes through a value to a scalar.
func descend(v *jsonin.Value, parts []string) (string, bool) {
	for _, part := range parts {
		m := referencePart.FindStringSubmatch(part)
		if m == nil {
			return "", false
		}
		if m[1] != "" {
			if v = member(v, m[1]); v == nil {
				return "", false
			}
		}
		for _, index := range strings.FieldsFunc(m[2], func(r rune) bool { return r == '[' || r == ']' }) {
			n, err := strconv.Atoi(index)
			if err != nil || n >= len(v.Items) {
				return "", false
			}
			v = &v.Items[n]
		}
	}
	switch v.Kind {
	case jsonin.String, jsonin.Number, jsonin.Bool:
		return v.Literal(), true
	}
	return "", false
}

// member finds a member in any case, as references are written id and Id.
func member(v *jsonin.Value, name string) *jsonin.Value {
	for i := range v.Members {
		if strings.EqualFold(v.Members[i].Name, name) {
			return &v.Members[i].Value
		}
	}
	return nil
}
