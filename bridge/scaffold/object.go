package scaffold

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"sfbridge/internal/metadata"
)

// ownField is a custom field without a package's namespace: only such can be
// added.
var ownField = regexp.MustCompile(`^[A-Za-z](_?[A-Za-z0-9])*__[cC]$`)

// Objects that differ: fields of activities stand on an object of their own.
var onActivity = map[string]bool{"task": true, "event": true}

// object plans the fields and rules of one object.
func (p *Plan) object(n *need) error {
	lower := strings.ToLower(n.object)
	switch {
	case len(n.keys)+len(n.orders) == 0:
		return nil
	case onActivity[lower]:
		p.note("%s: custom fields of tasks and events are fields of Activity: add %s there by hand", n.object, strings.Join(fieldNames(n), ", "))
		return nil
	}
	for _, kind := range []struct {
		names map[string]string
		spec  fieldSpec
	}{{n.keys, keySpec}, {n.orders, orderSpec}, {n.ids, idSpec}} {
		for _, name := range ordered(kind.names) {
			if err := p.field(n.object, name, kind.spec); err != nil {
				return err
			}
		}
	}
	for _, g := range ordered(n.guards) {
		if err := p.rule(n, g); err != nil {
			return err
		}
	}
	return nil
}

func fieldNames(n *need) []string {
	return append(append(ordered(n.keys), ordered(n.orders)...), ordered(n.ids)...)
}

// fieldSpec is a field as it has to be.
type fieldSpec struct {
	kind        string            // the type
	elements    map[string]string // of a new field, besides name, label and type
	description string
	judge       func(d *metadata.Document) []change // what an existing one lacks
}

// change is an element that has to change, and why.
type change struct{ element, text, why string }

var keySpec = fieldSpec{
	kind:        "Text",
	description: "External ID: names the record that the bridge writes.",
	elements:    map[string]string{"caseSensitive": "true", "externalId": "true", "length": "255", "required": "false", "unique": "true"},
	judge: func(d *metadata.Document) []change {
		return lacking(d,
			change{"externalId", "true", "it is no external ID"},
			change{"unique", "true", "it is not unique"},
			change{"caseSensitive", "true", "keys that differ in letter case would be one record"})
	},
}

// orderDigits are what the largest order value, 2^53, needs.
const orderDigits = 16

var orderSpec = fieldSpec{
	kind:        "Number",
	description: "Order of the event that wrote the record last.",
	elements:    map[string]string{"externalId": "false", "precision": "18", "required": "false", "scale": "0", "unique": "false"},
	judge: func(d *metadata.Document) []change {
		if number(d, "precision")-number(d, "scale") >= orderDigits {
			return nil
		}
		return []change{{"precision", "18", "it is too small for an order value"}, {"scale", "0", ""}}
	},
}

const idLength = 255

var idSpec = fieldSpec{
	kind:        "Text",
	description: "Id of an event, see the rule Refuse Moved.",
	elements:    map[string]string{"externalId": "false", "length": "255", "required": "false", "unique": "false"},
	judge: func(d *metadata.Document) []change {
		if number(d, "length") >= idLength {
			return nil
		}
		return []change{{"length", "255", "it is too short for an event id"}}
	},
}

func lacking(d *metadata.Document, wanted ...change) []change {
	var out []change
	for _, w := range wanted {
		if strings.TrimSpace(d.Text(w.element)) != w.text {
			out = append(out, w)
		}
	}
	return out
}

func number(d *metadata.Document, element string) int {
	n, _ := strconv.Atoi(strings.TrimSpace(d.Text(element))) // 0, too small, for what is no number
	return n
}

// field plans one field.
func (p *Plan) field(object, name string, spec fieldSpec) error {
	if !ownField.MatchString(name) {
		p.note("%s.%s is no custom field of yours, so it can't be written here: it has to be %s", object, name, spec.words())
		return nil
	}
	file := p.folder.part(object, "fields/"+name+fieldSuffix)
	d, err := p.folder.read(file, "CustomField")
	if err != nil {
		return err
	}
	if d == nil {
		p.add(file, false, spec.newField(name), nil)
		return nil
	}
	if kind := strings.TrimSpace(d.Text("type")); kind != spec.kind {
		p.note("%s.%s is of type %s, and has to be %s: change it by hand", object, name, kind, spec.words())
		return nil
	}
	p.add(file, true, d, mend(d, spec.judge(d)))
	return nil
}

// mend makes the changes and gives their reasons.
func mend(d *metadata.Document, changes []change) []string {
	var why []string
	for _, c := range changes {
		d.Set(c.element, c.text)
		if c.why != "" {
			why = append(why, c.why)
		}
	}
	return why
}

func (s fieldSpec) newField(name string) *metadata.Document {
	d := metadata.New("CustomField")
	d.Set("fullName", name)
	d.Set("description", s.description)
	d.Set("label", label(name))
	d.Set("type", s.kind)
	for element, text := range s.elements {
		d.Set(element, text)
	}
	return d
}

// words tells people what kind of field it is.
func (s fieldSpec) words() string {
	switch {
	case s.kind == "Number":
		return "Number(18, 0)"
	case s.elements["unique"] == "true":
		return "Text(255), an external ID, unique and case sensitive"
	}
	return fmt.Sprintf("%s(%d)", s.kind, idLength)
}

// label is the API name as people read it.
func label(name string) string {
	return strings.TrimSpace(strings.ReplaceAll(name[:len(name)-len("__c")], "_", " "))
}
