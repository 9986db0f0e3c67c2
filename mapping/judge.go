package mapping

import (
	"fmt"
	"slices"
	"strings"

	"sfbridge/internal/strictyaml"
)

// judgeRoutes finds routes that no event reaches, and pairs between which only
// the order in the file decides.
func (l *loader) judgeRoutes(items []*strictyaml.Node) {
	for j, later := range l.file.Routes {
		for i, earlier := range l.file.Routes[:j] {
			if l.unsure[earlier] || l.unsure[later] {
				continue
			}
			if earlier.when.covers(later.when) {
				l.At(items[j], fmt.Sprintf("no event reaches the route %q: the route %q in line %d takes all of them", shorten(later.Name), shorten(earlier.Name), items[i].Line),
					"put the narrower one first, or narrow when")
				break
			}
			if !earlier.Ignore && earlier.when.meets(later.when) && !later.when.covers(earlier.when) {
				l.warn.At(items[j], fmt.Sprintf("some events fit both this route and %q in line %d; the first takes them", shorten(earlier.Name), items[i].Line),
					"narrow when so that each event fits one")
			}
		}
	}
}

// judgeRecords settles which record is the guard, and finds fields that two
// records of one target both write.
func (l *loader) judgeRecords(r *Route) {
	guarded := false
	for i, s := range r.records {
		s.target.Guard = !guarded && s.target.Order != nil && !s.target.Each
		guarded = guarded || s.target.Guard
		if s.target.Guard {
			l.judgeGuard(s)
		}
		for _, before := range r.records[:i] {
			l.judgeShared(before, s, l.places[s])
		}
	}
}

// judgeGuard warns when the guard orders another thing than the event's object.
func (l *loader) judgeGuard(s *spec) {
	if l.file.Event.Object != nil {
		l.warn.Add(s.guardFindings(l.file.Event.Object.String())...)
	}
}

// GuardFindings judges the guards of a file that leaves the event's object to
// the preset; objects are the paths that the preset finds it at.
func (f *File) GuardFindings(objects ...string) []Problem {
	var out []Problem
	if f.Event.Object != nil || len(objects) == 0 {
		return nil
	}
	for _, r := range f.Routes {
		for _, s := range r.records {
			if s.target.Guard {
				out = append(out, s.guardFindings(objects...)...)
			}
		}
	}
	return out
}

func (s *spec) guardFindings(objects ...string) []Problem {
	key := s.key.String()
	if slices.Contains(objects, key) || slices.Contains(objects, s.key.only()) {
		return nil
	}
	found := s.place
	found.What = fmt.Sprintf("the guard's key is %s, the event's object is %s: events are ordered by the object", key, strings.Join(objects, " or "))
	found.Do = "order the record that the object names, or set event.object to the key"
	return []Problem{found}
}

// judgeShared looks at two records of one object: with one key they write the
// same row, and then each field has one owner.
func (l *loader) judgeShared(a, b *spec, n *strictyaml.Node) {
	if !strings.EqualFold(a.target.Object, b.target.Object) {
		return
	}
	var shared []string
	for _, f := range b.fields {
		if slices.ContainsFunc(a.fields, func(g field) bool { return strings.EqualFold(f.Column, g.Column) }) {
			shared = append(shared, f.Name)
		}
	}
	if len(shared) == 0 {
		return
	}
	what := fmt.Sprintf("two records of %s both write %s", b.target.Object, strings.Join(shared, ", "))
	if a.target.Each == b.target.Each && strings.EqualFold(a.target.KeyField, b.target.KeyField) && a.key.String() == b.key.String() {
		l.At(n, what+" under the same key", "leave each field to one of them")
		return
	}
	l.warn.At(n, what, "make sure that their keys never meet in one event")
}

// judgeObjects warns of what takes away the promise that every order of arrival
// ends in the same records.
func (l *loader) judgeObjects() {
	first := map[string]*spec{}
	for _, r := range l.file.Routes {
		for _, s := range r.records {
			if s.target.Action == Delete {
				continue
			}
			l.judgeCreate(s)
			object := strings.ToLower(s.target.Object)
			other, seen := first[object]
			if !seen {
				first[object] = s
			} else if s.columns() != other.columns() {
				l.warn.At(l.places[s], fmt.Sprintf("it writes other fields of %s than the record in line %d: the result depends on the order of arrival", s.target.Object, l.places[other].Line),
					"map the same fields in both")
			}
		}
	}
}

// judgeCreate warns of a value that only the event that comes first can set.
func (l *loader) judgeCreate(s *spec) {
	i := slices.IndexFunc(s.fields, func(f field) bool { return f.On == OnCreate })
	if i >= 0 && s.target.Order != nil {
		l.warn.At(l.places[s], fmt.Sprintf("%s is sent on create only, beside order: its value depends on which event comes first", s.fields[i].Name),
			"leave on: create to records without order")
	}
}

// columns names the fields that a record writes, for comparison.
func (s *spec) columns() string {
	names := make([]string, len(s.fields))
	for i, f := range s.fields {
		names[i] = strings.ToLower(f.Column)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}
