package path

// Segments returns the member names (string) and indexes (int, negative ones
// from the end) of p below its root.
func (p Path) Segments() []any {
	out := make([]any, len(p.steps))
	for i, s := range p.steps {
		if s.isIndex {
			out[i] = s.index
		} else {
			out[i] = s.name
		}
	}
	return out
}
