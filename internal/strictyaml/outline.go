package strictyaml

// Asked is one thing that a reader asks of a place in a file. The readers of
// this package tell a report's Outline what they ask; the JSON Schemas that
// editors check by are made of it, and so can't differ from what is read.
type Asked struct {
	Kind Want
	// Keys are the known keys of a map.
	Keys []string
	// Words are what an Enum takes.
	Words []string
	// Low and High bound an Int, Number or Size; nil for everything else.
	Low, High any
	// Default is what is read when the key is left out; nil when that is not one
	// plain value, or when the place was never left out.
	Default any
}

// Want is the kind of value that is asked for.
type Want string

// The kinds of values.
const (
	WantMap     Want = "map"    // with known keys
	WantAnyMap  Want = "anymap" // with keys of any name
	WantList    Want = "list"
	WantText    Want = "text"
	WantSecret  Want = "secret"  // one reference
	WantLiteral Want = "literal" // text, number, true, false or null
	WantBool    Want = "bool"
	WantEnum    Want = "enum"
	WantInt     Want = "int"
	WantNumber  Want = "number"
	WantSpan    Want = "span" // of time
	WantSize    Want = "size"
)

// Outline is what readers asked of one file, by path.
type Outline struct {
	Root   *Node
	Asked  map[string][]Asked
	Needed map[string]bool // paths that must not be left out
}

// Outline makes the report keep what is asked of its file from now on.
func (r *Report) Outline(root *Node) *Outline {
	r.outline = &Outline{Root: root, Asked: map[string][]Asked{}, Needed: map[string]bool{}}
	return r.outline
}

// asked notes a question about a node.
func (r *Report) asked(n *Node, a Asked) {
	if r.outline != nil && n != nil {
		r.outline.Asked[n.Path] = append(r.outline.Asked[n.Path], a)
	}
}

// asked notes a question about the value of a key, which may be left out.
func (m Map) asked(key string, a Asked) {
	if m.node == nil || m.report.outline == nil {
		return
	}
	if m.Has(key) {
		a.Default = nil
	}
	o, path := m.report.outline, ChildPath(m.node.Path, key)
	o.Asked[path] = append(o.Asked[path], a)
}

// needed notes that a key must not be left out.
func (m Map) needed(key string) {
	if m.node != nil && m.report.outline != nil {
		m.report.outline.Needed[ChildPath(m.node.Path, key)] = true
	}
}
