package propose

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"sfbridge/mapping/path"
)

// place is a path of member names below the event.
type place struct{ steps []string }

func (p place) member(name string) place {
	return place{append(slices.Clone(p.steps), name)}
}

var plainMember = regexp.MustCompile(`^[A-Za-z_][0-9A-Za-z_]*$`)

// String writes the place as a path.
func (p place) String() string {
	var b strings.Builder
	b.WriteByte('$')
	for _, name := range p.steps {
		if plainMember.MatchString(name) {
			b.WriteString("." + name)
			continue
		}
		quoted, _ := json.Marshal(name)
		inner := strings.ReplaceAll(string(quoted[1:len(quoted)-1]), `\"`, `"`)
		b.WriteString("['" + strings.ReplaceAll(inner, "'", `\'`) + "']")
	}
	return b.String()
}

// in looks the place up.
func (p place) in(tree any) (any, bool) {
	for _, name := range p.steps {
		m, ok := tree.(map[string]any)
		if !ok {
			return nil, false
		}
		if tree, ok = m[name]; !ok {
			return nil, false
		}
	}
	return tree, true
}

// location is the object of an event and the member that holds its id.
type location struct {
	at place
	id string
}

// rootOf finds the object that the samples are about: what holds its id, the
// same place in all of them. The event itself when there is none.
func rootOf(samples []Sample) location {
	var common []place
	for i, s := range samples {
		found := search(s.Value, s.ObjectID, place{})
		if i == 0 {
			common = found
			continue
		}
		common = slices.DeleteFunc(common, func(p place) bool {
			return !slices.ContainsFunc(found, func(q place) bool { return slices.Equal(p.steps, q.steps) })
		})
	}
	if len(common) == 0 {
		return location{}
	}
	best := slices.MinFunc(common, func(a, b place) int {
		if byDepth := len(a.steps) - len(b.steps); byDepth != 0 {
			return byDepth
		}
		return strings.Compare(a.String(), b.String())
	})
	last := len(best.steps) - 1
	return location{place{best.steps[:last]}, best.steps[last]}
}

// maxDepth bounds how deep objects are looked into.
const maxDepth = 6

// search lists the places whose text form is the id.
func search(tree any, id string, at place) []place {
	m, ok := tree.(map[string]any)
	if !ok || id == "" || len(at.steps) >= maxDepth {
		return nil
	}
	var found []place
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if !writable(name) {
			continue
		}
		here := at.member(name)
		if got, ok := path.Text(m[name]); ok && got == id {
			found = append(found, here)
		}
		found = append(found, search(m[name], id, here)...)
	}
	return found
}

// leaf is a place that holds values, with those of all samples.
type leaf struct {
	at     place
	values []any
}

func (l leaf) name() string { return l.at.steps[len(l.at.steps)-1] }

// nested is how deep below the root leaves are looked for.
const nested = 2

// leavesOf lists the leaves below the root in text order.
func leavesOf(samples []Sample, root location) []leaf {
	found := map[string]*leaf{}
	for _, s := range samples {
		if tree, ok := root.at.in(s.Value); ok {
			collect(tree, root.at, nested, found)
		}
	}
	var out []leaf
	for _, key := range slices.Sorted(maps.Keys(found)) {
		out = append(out, *found[key])
	}
	return out
}

func collect(tree any, at place, depth int, found map[string]*leaf) {
	if m, ok := tree.(map[string]any); ok {
		if depth == 0 {
			return
		}
		for name, v := range m {
			if writable(name) {
				collect(v, at.member(name), depth-1, found)
			}
		}
		return
	}
	if len(at.steps) == 0 {
		return
	}
	key := at.String()
	if found[key] == nil {
		found[key] = &leaf{at: at}
	}
	found[key].values = append(found[key].values, tree)
}

// writable says whether a mapping file can name a member: half characters can't
// be written, and ${ begins a reference to a secret.
func writable(name string) bool {
	return utf8.ValidString(name) && !strings.Contains(name, "${")
}

// wordsOf splits a name into its words in lower case: receipt_url, receiptURL
// and Receipt-Url are one.
func wordsOf(name string) []string {
	var words []string
	var word []rune
	flush := func() {
		if len(word) > 0 {
			words = append(words, strings.ToLower(string(word)))
		}
		word = nil
	}
	runes := []rune(name)
	for i, r := range runes {
		switch {
		case r >= unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r):
			flush()
			continue
		case unicode.IsUpper(r) && i > 0 && unicode.IsLower(runes[i-1]):
			flush()
		}
		word = append(word, r)
	}
	flush()
	return words
}

var plainScalar = regexp.MustCompile(`^[$A-Za-z_][0-9A-Za-z_.$/ -]*$`)

// scalar writes text as YAML: plain where that is safe, else quoted.
func scalar(text string) string {
	if plainScalar.MatchString(text) && !strings.HasSuffix(text, " ") && !slices.Contains([]string{"true", "false", "null"}, strings.ToLower(text)) {
		return text
	}
	quoted, _ := json.Marshal(text)
	return string(quoted)
}
