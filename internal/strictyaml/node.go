package strictyaml

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
)

// Kind of a node.
type Kind int

// The kinds of node. Empty is a key with nothing behind it.
const (
	Empty Kind = iota
	Scalar
	Mapping
	Sequence
	refusedKind // reported already; readers stay silent about it
)

// Node is a value of the file with its place and its path.
type Node struct {
	Kind         Kind
	Path         string
	Line, Column int
	Text         string // of a scalar, as spelled (escapes of a quoted one resolved)
	Quoted       bool   // a scalar in quotes or a block; never typed
	Spelled      string // what messages show of a scalar: as in the file, also after Fill
	Entries      []Entry
	Items        []*Node
}

// Entry is a key of a mapping with its value.
type Entry struct {
	Key          string
	Line, Column int
	Value        *Node
}

// Literal is the typed value of a scalar: unquoted true and false are bool,
// null and ~ are nil, numbers of the JSON grammar are json.Number with their
// digits kept; all else is text.
func (n *Node) Literal() any {
	if n.Quoted {
		return n.Text
	}
	switch n.Text {
	case "true":
		return true
	case "false":
		return false
	case "null", "~":
		return nil
	}
	if isNumber(n.Text) {
		return json.Number(n.Text)
	}
	return n.Text
}

// Members are the entries of a mapping; none of anything else, nil included.
func (n *Node) Members() []Entry {
	if n == nil {
		return nil
	}
	return n.Entries
}

// isNull tells an unquoted null.
func (n *Node) isNull() bool {
	return n.Kind == Scalar && !n.Quoted && (n.Text == "null" || n.Text == "~")
}

// isNumber tells whether text is a number in the grammar of JSON.
func isNumber(text string) bool {
	if text == "" || (text[0] != '-' && (text[0] < '0' || text[0] > '9')) {
		return false
	}
	return json.Valid([]byte(text))
}

// kindName names a node for people.
func (n *Node) kindName() string {
	switch n.Kind {
	case Mapping:
		return "a map"
	case Sequence:
		return "a list"
	case Empty:
		return "nothing"
	default:
		return strconv.Quote(n.shown())
	}
}

// shown is a scalar for messages: short, and never a filled-in value.
func (n *Node) shown() string { return shorten(n.Spelled) }

// item is a scalar as it can stand in a flow list.
func (n *Node) item() string {
	if plainItem.MatchString(n.Spelled) {
		return n.shown()
	}
	return strconv.Quote(n.shown())
}

// plainItem needs no quotes in a flow list.
var plainItem = regexp.MustCompile(`^[\w$.][\w$.@/-]*$`)

// ChildPath is the path of a member; a key that isn't plain is quoted.
func ChildPath(parent, key string) string {
	if !isPlainKey(key) {
		return fmt.Sprintf("%s[%s]", parent, strconv.Quote(key))
	}
	if parent == "" {
		return key
	}
	return parent + "." + key
}

func isPlainKey(key string) bool {
	for _, r := range key {
		plain := r == '_' || r == '-' || r == '*' || r >= '0' && r <= '9' ||
			r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !plain {
			return false
		}
	}
	return key != ""
}

// shorten cuts a value for a message.
func shorten(text string) string {
	const limit = 60
	runes := []rune(text)
	if len(runes) <= limit {
		return text
	}
	return string(runes[:limit]) + "…"
}
