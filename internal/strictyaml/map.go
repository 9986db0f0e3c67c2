package strictyaml

import (
	"fmt"
	"strings"
)

// Map reads a mapping whose keys are known. The zero Map is empty, so a reader
// can go on after a problem.
type Map struct {
	node   *Node
	report *Report
	byKey  map[string]Entry
}

// Map reads a node as a mapping; keys that aren't known are reported with the
// nearest known one. A nil node gives an empty Map.
func (n *Node) Map(report *Report, known ...string) Map {
	report.asked(n, Asked{Kind: WantMap, Keys: known})
	m := n.anyMap(report)
	for _, e := range m.Entries() {
		found := false
		for _, k := range known {
			found = found || k == e.Key
		}
		if !found {
			report.Key(e, fmt.Sprintf("unknown key %q", shorten(e.Key)), Suggest(e.Key, known))
			delete(m.byKey, e.Key)
		}
	}
	return m
}

// AnyMap reads a node as a mapping with keys of any name.
func (n *Node) AnyMap(report *Report) Map {
	report.asked(n, Asked{Kind: WantAnyMap})
	return n.anyMap(report)
}

func (n *Node) anyMap(report *Report) Map {
	m := Map{node: n, report: report, byKey: map[string]Entry{}}
	if n == nil || n.Kind == refusedKind {
		return m
	}
	if n.Kind != Mapping {
		report.At(n, "must be a map, not "+n.kindName(), "write key: value lines below it or {key: value}")
		return m
	}
	for _, e := range n.Entries {
		m.byKey[e.Key] = e
	}
	return m
}

// Node is the mapping itself, for problems that concern all of it.
func (m Map) Node() *Node { return m.node }

// Entries are the keys in file order.
func (m Map) Entries() []Entry {
	if m.node == nil {
		return nil
	}
	return m.node.Entries
}

// Has tells whether the key is there.
func (m Map) Has(key string) bool {
	_, ok := m.byKey[key]
	return ok
}

// Entry is the key with its value; the zero Entry (Value nil) when left out.
func (m Map) Entry(key string) Entry { return m.byKey[key] }

// Get is the value of a key, nil when left out.
func (m Map) Get(key string) *Node { return m.byKey[key].Value }

// Need is like Get and reports a key that is left out.
func (m Map) Need(key, do string) *Node {
	m.needed(key)
	n := m.Get(key)
	if n == nil && m.node != nil && m.node.Kind == Mapping {
		m.report.At(m.node, fmt.Sprintf("%s is missing", key), do)
	}
	return n
}

// Text is the text of a key, fallback when it is left out or wrong.
func (m Map) Text(key, fallback string) string {
	a := Asked{Kind: WantText}
	if fallback != "" {
		a.Default = fallback
	}
	m.asked(key, a)
	if text, ok := m.Get(key).asText(m.report); ok {
		return text
	}
	return fallback
}

// Bool is true or false, fallback when it is left out or wrong.
func (m Map) Bool(key string, fallback bool) bool {
	m.asked(key, Asked{Kind: WantBool, Default: fallback})
	if b, ok := m.Get(key).asBool(m.report); ok {
		return b
	}
	return fallback
}

// Enum is one of the words, the first one when it is left out or wrong.
func (m Map) Enum(key string, words ...string) string {
	m.asked(key, Asked{Kind: WantEnum, Words: words, Default: words[0]})
	n := m.Get(key)
	text, ok := n.asText(m.report)
	if !ok || n.Unfilled() {
		return words[0]
	}
	for _, w := range words {
		if w == text {
			return w
		}
	}
	m.report.At(n, fmt.Sprintf("%q is not one of %s", n.shown(), strings.Join(words, ", ")), Suggest(n.shown(), words))
	return words[0]
}

// Texts is a list of text; nil when it is left out.
func (m Map) Texts(key string) []string {
	var out []string
	for _, n := range m.Get(key).AsList(m.report) {
		if text, ok := n.AsText(m.report); ok {
			out = append(out, text)
		}
	}
	return out
}
