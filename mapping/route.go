package mapping

import (
	"strings"

	"sfbridge/mapping/path"
	"sfbridge/mapping/transform"
)

// Route is what a mapping file says about one kind of event.
type Route struct {
	Name   string
	Ignore bool // events of it are answered and forgotten

	when      when
	schema    *schema
	records   []*spec
	effects   []*effect
	authority *Authority
}

// Route finds the first route that fits the event.
func (f *File) Route(in Input) (*Route, bool) {
	for _, r := range f.Routes {
		if r.when.fits(in) {
			return r, true
		}
	}
	return nil, false
}

// Deletes tells whether any route deletes records of the object. Such a
// mapping asks for more care before it creates one.
func (f *File) Deletes(object string) bool {
	for _, r := range f.Routes {
		for _, s := range r.records {
			if s.target.Action == Delete && strings.EqualFold(s.target.Object, object) {
				return true
			}
		}
	}
	return false
}

// Target is the fixed part of a record: what it writes to, whatever the event
// says. Reads of targets, checks against the org and pauses are planned by it.
type Target struct {
	Object   string
	Action   Action
	KeyField string
	KeyPaths []path.Path // what the key is made of
	Order    *OrderFields
	State    string // field of the state, "" without
	Machine  *Machine
	Coalesce bool
	Each     bool
	Guard    bool
	Fields   []TargetField
}

// TargetField is one field that a record may write.
type TargetField struct {
	Name   string // as written; Customer__r for a lookup
	Column string // as it stands on the object: Customer__c for Customer__r
	Parent string // object a lookup points to, "" for a plain field
	By     string // external ID field of the parent
	On     string // "" for always; create or update
	As     string // the conversion, "" for none

	Max    int         // UTF-16 units that text is cut to, 0 for not at all
	Paths  []path.Path // what the value is made of, none when it is fixed
	Values []any       // what value, map, otherwise and default can give, as sent
	Open   bool        // values of the event itself can be sent
}

// When a field is sent only to a record that is created, or only to one that
// exists.
const (
	OnCreate = "create"
	OnUpdate = "update"
)

// Targets are the fixed parts of the route's records, in file order.
func (r *Route) Targets() []Target {
	out := make([]Target, len(r.records))
	for i, s := range r.records {
		out[i] = s.target
	}
	return out
}

// CheckSchema judges the event by the route's JSON Schema: one line per failing
// path, none when it fits or the route names no schema.
func (r *Route) CheckSchema(event any) []string {
	var lines []string
	for _, fault := range r.faults(event) {
		lines = append(lines, fault.path+": "+fault.rule)
	}
	return lines
}

func (r *Route) faults(event any) []schemaFault {
	if r.schema == nil {
		return nil
	}
	return r.schema.check(event)
}

// spec is a compiled record of a route.
type spec struct {
	target Target
	each   *path.List
	key    key
	fields []field // by name

	place Problem // where the record stands, for findings about it
}

// key finds the external ID: the first of several paths that has a value, or a
// template.
type key struct {
	candidates []path.Path // of from and first
	template   path.Template
}

// field is a compiled field.
type field struct {
	TargetField
	source    transform.Source
	transform *transform.Transform
	rule      fieldRule
}

// fieldRule is a field as the mapping file says it, for the compiled form.
type fieldRule struct {
	kind string // from, first, template, value
	spec transform.Spec
	raw  any // of value
}

// paths are what the key is made of.
func (k key) paths() []path.Path {
	if k.template.IsZero() {
		return k.candidates
	}
	return k.template.Paths()
}

// only is the path that the key is made of alone, "" where there are several.
// Fixed text around it, as in shop-{$.id}, names the same object.
func (k key) only() string {
	if paths := k.paths(); len(paths) == 1 {
		return paths[0].String()
	}
	return ""
}

// String names the key's source for comparison: a path alone in a template is
// the path.
func (k key) String() string {
	if !k.template.IsZero() {
		text := k.template.String()
		if paths := k.template.Paths(); len(paths) == 1 && text == "{"+paths[0].String()+"}" {
			return paths[0].String()
		}
		return text
	}
	names := make([]string, len(k.candidates))
	for i, p := range k.candidates {
		names[i] = p.String()
	}
	return strings.Join(names, ", ")
}
