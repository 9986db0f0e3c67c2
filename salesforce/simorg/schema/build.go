package schema

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

func quote(s string) string { return fmt.Sprintf("%q", s) }

// build turns the drafts into objects, checking each against the rules of the
// platform and the references against each other.
func (l *loader) build() *Schema {
	s := &Schema{byName: map[string]*Object{}, prefix: map[string]*Object{}}
	for _, o := range standardObjects() {
		s.add(o)
	}
	custom := 0
	for _, d := range l.drafts() {
		o := s.Object(d.name)
		if o == nil {
			o = l.newObject(d, keyPrefix(custom))
			if o == nil {
				continue
			}
			custom++
			s.add(o)
		}
		l.addFields(o, d)
	}
	slices.SortFunc(s.objects, func(a, b *Object) int { return strings.Compare(a.Name, b.Name) })
	for _, o := range s.objects {
		o.index()
	}
	l.link(s)
	for _, d := range l.drafts() {
		if o := s.Object(d.name); o != nil {
			l.addRules(o, d)
		}
	}
	return s
}

func (s *Schema) add(o *Object) {
	s.objects = append(s.objects, o)
	s.byName[o.Name], s.byName[strings.ToLower(o.Name)] = o, o
	s.prefix[o.KeyPrefix] = o
}

// newObject makes a custom object with its standard fields.
func (l *loader) newObject(d *draft, prefix string) *Object {
	switch {
	case strings.HasSuffix(d.name, "__e"):
		return l.newEvent(d, prefix)
	case !strings.HasSuffix(d.name, "__c"):
		l.problem(d.file, d.name, "this standard object is not simulated")
		return nil
	case d.meta == nil:
		d.meta = assumed(d.name)
	case d.meta.SettingType != "":
		l.problem(d.file, "customSettingsType", "custom settings are not simulated")
		return nil
	case d.meta.Label == "" || d.meta.PluralLabel == "":
		l.problem(d.file, "label", "label and pluralLabel are required")
		return nil
	}
	o := &Object{
		Name: d.name, Label: d.meta.Label, PluralLabel: d.meta.PluralLabel,
		KeyPrefix: prefix, Custom: true,
	}
	name := l.nameField(d)
	if name == nil {
		return nil
	}
	detail := false
	for _, f := range d.fields {
		detail = detail || Type(f.value.Type) == MasterDetail
	}
	o.Fields = systemFields(name, !detail)
	return o
}

// newEvent makes a platform event: it can be published, and nothing else.
func (l *loader) newEvent(d *draft, prefix string) *Object {
	if d.meta == nil || d.meta.Label == "" || d.meta.PluralLabel == "" {
		l.problem(d.file, "label", "label and pluralLabel are required")
		return nil
	}
	return &Object{
		Name: d.name, Label: d.meta.Label, PluralLabel: d.meta.PluralLabel, KeyPrefix: "e" + prefix[1:], Custom: true, Event: true,
		Fields: systemFields(&Field{Name: "EventUuid", Label: "Event UUID", Type: Text, Length: 36}, false),
	}
}

// assumed is what is known of an object that the sources only add to.
func assumed(name string) *xmlObject {
	return &xmlObject{Label: name, PluralLabel: name, NameField: &xmlField{Label: "Name", Type: string(Text)}}
}

func (l *loader) nameField(d *draft) *Field {
	x := d.meta.NameField
	if x == nil {
		l.problem(d.file, "nameField", "is required")
		return nil
	}
	f := &Field{Name: "Name", Label: x.Label, Type: Type(x.Type), Createable: true, Updateable: true}
	switch f.Type {
	case Text:
		f.Length = 80
	case AutoNumber:
		f.Length, f.Format = 80, x.DisplayFormat
		f.Createable, f.Updateable = false, false
		if err := checkFormat(f.Format); err != nil {
			l.problem(d.file, "nameField.displayFormat", err.Error())
			return nil
		}
	default:
		l.problem(d.file, "nameField.type", quote(x.Type)+" is neither Text nor AutoNumber")
		return nil
	}
	return f
}

func (l *loader) addFields(o *Object, d *draft) {
	for _, key := range slices.Sorted(maps.Keys(d.fields)) {
		x := d.fields[key]
		if !strings.HasSuffix(x.value.FullName, "__c") {
			if !o.Custom && o.has(x.value.FullName) {
				continue // settings of a standard field
			}
			l.problem(x.file, "fullName", quote(x.value.FullName)+" is no custom field name (it must end with __c)")
			continue
		}
		if f := l.customField(x); f != nil {
			o.Fields = append(o.Fields, f)
		}
	}
}

func (o *Object) has(name string) bool {
	return slices.ContainsFunc(o.Fields, func(f *Field) bool { return strings.EqualFold(f.Name, name) })
}

// index gives every field its slot and makes the lookups by name.
func (o *Object) index() {
	o.byName, o.byParent = map[string]*Field{}, map[string]*Field{}
	for i, f := range o.Fields {
		f.Object, f.Slot = o, i
		o.byName[f.Name], o.byName[strings.ToLower(f.Name)] = f, f
		if f.Parent != "" {
			o.byParent[f.Parent], o.byParent[strings.ToLower(f.Parent)] = f, f
		}
	}
}

// link checks where lookups lead and tells the parents of their children.
func (l *loader) link(s *Schema) {
	for _, o := range s.objects {
		for _, f := range o.Fields {
			for i, target := range f.ReferenceTo {
				parent := s.Object(target)
				if parent == nil {
					l.problem(l.fileOf(f), "referenceTo", "there is no object "+quote(target))
					continue
				}
				f.ReferenceTo[i] = parent.Name
				f.targets = append(f.targets, parent)
				l.adopt(parent, f)
			}
		}
	}
}

func (l *loader) adopt(parent *Object, f *Field) {
	c := Child{Object: f.Object, Field: f, Name: f.ChildName}
	if f.Custom && c.Name != "" {
		c.Name += "__r"
	}
	for _, other := range parent.Children {
		if c.Name != "" && strings.EqualFold(other.Name, c.Name) {
			l.problem(l.fileOf(f), "relationshipName", fmt.Sprintf(
				"%q is already the name of %s.%s on %s", f.ChildName, other.Object.Name, other.Field.Name, parent.Name))
			return
		}
	}
	parent.Children = append(parent.Children, c)
}

func (l *loader) fileOf(f *Field) string {
	if d := l.objects[strings.ToLower(f.Object.Name)]; d != nil {
		return d.fields[strings.ToLower(f.Name)].file
	}
	return f.Object.Name
}

func (l *loader) addRules(o *Object, d *draft) {
	for _, key := range slices.Sorted(maps.Keys(d.rules)) {
		x := d.rules[key]
		if !x.value.Active {
			continue
		}
		r := Rule{Name: x.value.FullName, Formula: x.value.Formula, Message: x.value.Message, File: x.file}
		switch {
		case strings.TrimSpace(r.Formula) == "":
			l.problem(x.file, "errorConditionFormula", "is required")
			continue
		case r.Message == "" || len([]rune(r.Message)) > 255:
			l.problem(x.file, "errorMessage", "is required and has at most 255 characters")
			continue
		}
		if x.value.DisplayField != "" {
			f := o.Field(x.value.DisplayField)
			if f == nil {
				l.problem(x.file, "errorDisplayField", "there is no field "+quote(x.value.DisplayField)+" on "+o.Name)
				continue
			}
			r.DisplayField = f.Name
		}
		o.Rules = append(o.Rules, r)
	}
}
