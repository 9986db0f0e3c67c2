package strictyaml

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Bounds of a file. People write far less; more is a mistake or an attack. The
// parser takes a time that grows with the square of a map's keys.
const (
	maxSize  = 512 << 10
	maxItems = 10_000
	maxDepth = 64
)

// Parse reads the text of a file into a tree whose root is a mapping. Problems
// go to the report; nil comes back when there is no tree to read on with.
func Parse(data []byte, report *Report) *Node {
	text, ok := checkText(data, report)
	if !ok {
		return nil
	}
	file, err := parseText(text)
	if err != nil {
		reportSyntax(text, err, report)
		return nil
	}
	if len(file.Docs) > 1 {
		reportDocuments(file, report)
		return nil
	}
	if len(file.Docs) == 0 || file.Docs[0].Body == nil {
		report.At(nil, "the file is empty", "write at least one key: value line")
		return nil
	}
	b := builder{report: report}
	root := b.node(file.Docs[0].Body, "", 0)
	if root.Kind != Mapping {
		if !b.refused {
			report.At(root, "the file is "+root.kindName()+", not a map", "write key: value lines at the top")
		}
		return nil
	}
	return root
}

// checkText refuses what isn't text of a sensible size, and drops a byte order
// mark and carriage returns, which editors add.
func checkText(data []byte, report *Report) (string, bool) {
	switch {
	case len(data) > maxSize:
		report.At(nil, fmt.Sprintf("the file is larger than %d bytes", maxSize), "split it")
	case !utf8.Valid(data):
		report.At(nil, "the file is not valid UTF-8", "save it as UTF-8")
	case itemsIn(data) > maxItems:
		report.At(nil, fmt.Sprintf("the file holds more than %d keys and items", maxItems), "shorten it")
	case flowDepth(data) > maxDepth:
		report.At(nil, fmt.Sprintf("brackets are nested deeper than %d", maxDepth), "flatten it")
	case strings.ContainsRune(string(data), 0):
		report.At(nil, "the file holds a NUL character", "remove it")
	default:
		text := strings.TrimPrefix(string(data), "\ufeff")
		return strings.ReplaceAll(text, "\r\n", "\n"), true
	}
	return "", false
}

// itemsIn is an upper bound of the keys of maps and the items in brackets.
func itemsIn(data []byte) int { return bytes.Count(data, []byte(":")) + bytes.Count(data, []byte(",")) }

// flowDepth is an upper bound of how deep flow brackets nest, so that the
// recursive parser is never handed more than it can take.
func flowDepth(data []byte) int {
	depth, deepest := 0, 0
	for _, c := range data {
		switch c {
		case '[', '{':
			depth++
			deepest = max(deepest, depth)
		case ']', '}':
			depth = max(depth-1, 0)
		case '\n':
			continue
		}
	}
	return deepest
}

// parseText guards the parser: a panic of it on odd input is a syntax error of
// the file, not the end of the process.
func parseText(text string) (file *ast.File, err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("the YAML can't be read")
		}
	}()
	return parser.ParseBytes([]byte(text), 0, parser.AllowDuplicateMapKey())
}

func reportDocuments(file *ast.File, report *Report) {
	for _, doc := range file.Docs {
		if d, ok := doc.Body.(*ast.DirectiveNode); ok {
			report.At(place(d), "a YAML directive (%…) is not accepted", "remove the line")
			return
		}
	}
	at := file.Docs[1]
	n := &Node{Line: 1, Column: 1}
	if at.Start != nil {
		n.Line, n.Column = at.Start.Position.Line, at.Start.Position.Column
	} else if at.Body != nil {
		n = place(at.Body)
	}
	report.At(n, "the file holds more than one document", "keep one and remove the --- line")
}

func reportSyntax(text string, err error, report *Report) {
	var syntax yaml.Error
	if !errors.As(err, &syntax) || syntax.GetToken() == nil {
		hinted := hintLines(text, report)
		if len(hinted) == 0 {
			report.At(nil, "the YAML can't be read", "check brackets, quotes and indentation")
		}
		return
	}
	pos := syntax.GetToken().Position
	if hintLines(text, report)[pos.Line] {
		return
	}
	at := &Node{Line: pos.Line, Column: pos.Column}
	report.At(at, "not valid YAML: "+syntax.GetMessage(), "check brackets, quotes and indentation here")
}

// builder turns the parser's tree into nodes.
type builder struct {
	report  *Report
	refused bool // the root itself was refused
}

func (b *builder) node(n ast.Node, path string, depth int) *Node {
	out := place(n)
	out.Path = path
	if depth > maxDepth {
		b.refuse(out, fmt.Sprintf("nested deeper than %d", maxDepth), "flatten it")
		return out
	}
	switch x := n.(type) {
	case *ast.MappingNode:
		out.Kind = Mapping
		b.entries(out, x.Values, depth)
	case *ast.MappingValueNode:
		out.Kind = Mapping
		b.entries(out, []*ast.MappingValueNode{x}, depth)
	case *ast.SequenceNode:
		out.Kind = Sequence
		for i, item := range x.Values {
			out.Items = append(out.Items, b.node(item, fmt.Sprintf("%s[%d]", path, i), depth+1))
		}
	default:
		b.scalar(out, n)
	}
	return out
}

func (b *builder) scalar(out *Node, n ast.Node) {
	switch x := n.(type) {
	case *ast.StringNode:
		out.Kind, out.Text = Scalar, x.Value
		out.Quoted = x.Token.Type == token.SingleQuoteType || x.Token.Type == token.DoubleQuoteType
	case *ast.LiteralNode:
		out.Kind, out.Quoted, out.Text = Scalar, true, x.Value.Value
	case *ast.NullNode:
		if x.Token.Type != token.ImplicitNullType {
			out.Kind, out.Text = Scalar, x.Token.Value
		}
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		out.Kind, out.Text = Scalar, n.GetToken().Value
	case *ast.AnchorNode:
		b.refuse(out, "an anchor (&…) is not accepted", "write the value out where it is used, or quote text that begins with &")
	case *ast.AliasNode:
		b.refuse(out, "an alias (*…) is not accepted", "text that begins with * needs quotes: "+quotedRest(x.GetToken()))
	case *ast.TagNode:
		b.refuse(out, "a tag (!…) is not accepted", "remove it, or quote text that begins with !")
	default:
		b.refuse(out, "this kind of YAML value is not accepted", "write a plain value, a list or a map")
	}
	out.Spelled = out.Text
	if !utf8.ValidString(out.Text) {
		b.refuse(out, "the text holds an escape that is no character", "write the character itself")
	}
}

// quotedRest shows what follows an alias sign as the quoted text it was
// probably meant to be.
func quotedRest(star *token.Token) string {
	rest := ""
	if star.Next != nil && star.Next.Position.Line == star.Position.Line {
		rest = star.Next.Value
	}
	return fmt.Sprintf("%q", "*"+rest)
}

func (b *builder) refuse(n *Node, what, do string) {
	b.refused = b.refused || n.Path == ""
	n.Kind = refusedKind
	b.report.At(n, what, do)
}

func (b *builder) entries(out *Node, values []*ast.MappingValueNode, depth int) {
	first := map[string]Entry{}
	for _, value := range values {
		key, ok := b.key(value.Key, out.Path)
		if !ok {
			continue
		}
		e := Entry{Key: key}
		pos := value.Key.GetToken().Position
		e.Line, e.Column = pos.Line, pos.Column
		e.Value = b.node(value.Value, ChildPath(out.Path, key), depth+1)
		if before, double := first[key]; double {
			b.report.Key(e, fmt.Sprintf("the key stands twice (first in line %d)", before.Line), "keep one of them")
			continue
		}
		first[key] = e
		out.Entries = append(out.Entries, e)
	}
}

// key is the spelling of a map key.
func (b *builder) key(n ast.MapKeyNode, path string) (string, bool) {
	at := place(n)
	at.Path = path
	switch x := n.(type) {
	case *ast.MergeKeyNode:
		b.report.At(at, "a merge key (<<) is not accepted", "write the keys out")
		return "", false
	case *ast.MappingKeyNode:
		b.report.At(at, "an explicit key (? …) is not accepted", "write key: value")
		return "", false
	case *ast.NullNode:
		if text := x.GetToken().Value; text == "Null" || text == "NULL" {
			return text, true
		}
		b.report.At(at, "null can't be a key", `write "null" or "~" in quotes if the text is meant`)
		return "", false
	case *ast.StringNode:
		return x.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, true
	default:
		b.report.At(at, "this can't be a key", "write the key as text, in quotes if it begins with &, * or !")
		return "", false
	}
}

func place(n ast.Node) *Node {
	t := n.GetToken()
	if m, ok := n.(*ast.MappingNode); ok && len(m.Values) > 0 && m.Start != nil && m.Start.Type == token.MappingValueType {
		t = m.Values[0].Key.GetToken()
	}
	if m, ok := n.(*ast.MappingValueNode); ok {
		t = m.Key.GetToken()
	}
	if t == nil || t.Position == nil {
		return &Node{Line: 1, Column: 1}
	}
	return &Node{Line: t.Position.Line, Column: t.Position.Column}
}
