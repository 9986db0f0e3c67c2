package mapping

import (
	"fmt"
	"strings"
)

// JudgeFiles warns of guards that several sources share: order values that come
// from two clocks don't tell which of two events is newer.
func JudgeFiles(files []*File) []Problem {
	var out []Problem
	first := map[string]*File{} // by guard field
	said := map[string]bool{}
	for _, f := range files {
		for _, s := range f.ordered() {
			field := s.target.Object + "." + s.target.Order.Field
			key := strings.ToLower(field)
			other, seen := first[key]
			if !seen {
				first[key] = f
			}
			if !seen || other == f || said[key+"\n"+f.Source] {
				continue
			}
			said[key+"\n"+f.Source] = true
			found := s.place
			found.What = fmt.Sprintf("%s keeps the order of source %s too (%s): on a record that both write, events of one make those of the other stale",
				field, other.Source, other.Name)
			found.Do = "give one of them fields of its own: order: {field: …, event: …, prior: …}"
			out = append(out, found)
		}
	}
	return out
}

// ordered are the records that keep an order.
func (f *File) ordered() []*spec {
	var out []*spec
	for _, r := range f.Routes {
		for _, s := range r.records {
			if s.target.Order != nil {
				out = append(out, s)
			}
		}
	}
	return out
}
