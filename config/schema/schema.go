package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sfbridge/config"
	"sfbridge/internal/strictyaml"
	"sfbridge/mapping"
)

// Schema is one format.
type Schema struct {
	File    string // name of the JSON Schema
	Title   string
	samples []string
	outline func(name string, data []byte) (*strictyaml.Outline, error)
	words   words
	shared  []string // keys that mean the same wherever they stand
	// references: any value may be a ${…} that is filled in later.
	references bool
}

// All are the formats that there are schemas of.
func All() []Schema {
	return []Schema{
		{
			File: "mapping.json", Title: "Mapping file of one source", outline: mapping.Outline, words: mappingWords(),
			samples: []string{"mapping.yaml", "least.yaml", "ordered.yaml"}, shared: []string{"authority", "fields", "key", "reconcile"},
		},
		{
			File: "settings.json", Title: "Settings of the bridge (bridge.yaml)", outline: config.Outline, words: settingsWords(), references: true,
			samples: []string{"settings.yaml", "settings-client_credentials.yaml", "settings-password.yaml", "settings-session.yaml"},
		},
	}
}

// JSON makes the schema of the samples below dir.
func (s Schema) JSON(dir string) ([]byte, error) {
	w, out, err := s.write(dir)
	if err != nil {
		return nil, err
	}
	if len(w.wordless) > 0 {
		return nil, fmt.Errorf("%s: nothing is said to people about %s", s.File, strings.Join(w.wordless, ", "))
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err = e.Encode(out)
	return b.Bytes(), err
}

func (s Schema) write(dir string) (*writer, object, error) {
	root, shared := &place{}, map[string]*place{}
	for _, key := range s.shared {
		shared[key] = &place{shared: key}
	}
	for _, name := range s.samples {
		file := filepath.Join(dir, "samples", name)
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, nil, err
		}
		o, err := s.outline(file, data)
		if err != nil {
			return nil, nil, err
		}
		root.merge(merger{o, shared}, o.Root, "")
	}
	w := &writer{Schema: s, used: map[string]bool{}}
	out := w.schema(root, "")
	if definitions := w.definitions(shared); len(definitions) > 0 {
		out["definitions"] = definitions
	}
	out["$schema"], out["title"] = "http://json-schema.org/draft-07/schema#", s.Title
	return w, out, nil
}

type object = map[string]any

// writer turns places into JSON Schema.
type writer struct {
	Schema
	wordless []string        // places without a description
	unasked  []string        // known keys that no sample has, or that are refused
	used     map[string]bool // words that were said
}

// definitions are the schemas of shared places.
func (w *writer) definitions(shared map[string]*place) object {
	out := object{}
	for _, key := range slices.Sorted(maps.Keys(shared)) {
		out[key] = w.inline(shared[key], key)
	}
	return out
}

// schema is the schema of a place, or leads to it.
func (w *writer) schema(p *place, path string) object {
	if p.shared != "" {
		return object{"$ref": "#/definitions/" + p.shared}
	}
	return w.inline(p, path)
}

// inline is the schema of a place. Path has dots between keys, * for a key of
// any name and [] for items.
func (w *writer) inline(p *place, path string) object {
	said, end := w.words.find(path)
	w.used[end] = true
	if path != "" && said.text == "" {
		w.wordless = append(w.wordless, path)
	}
	if said.anything {
		return object{"description": said.text}
	}
	var forms []object
	for _, a := range p.kinds {
		forms = append(forms, w.form(p, a, path)...)
	}
	if p.item != nil && !slices.ContainsFunc(p.kinds, func(a strictyaml.Asked) bool { return a.Kind == strictyaml.WantList }) {
		forms = append(forms, w.list(p, path))
	}
	if w.references && slices.ContainsFunc(p.kinds, filled) {
		forms = append(forms, object{"type": "string", "pattern": reference})
	}
	out := object{"anyOf": forms}
	if len(forms) == 1 {
		out = forms[0]
	}
	said.refine(out)
	return out
}

// reference is what stands for a value that is filled in later.
const reference = `\$\{[^}]+\}`

// filled are the kinds of value that a reference may stand for and that aren't
// text of any kind.
func filled(a strictyaml.Asked) bool {
	switch a.Kind {
	case strictyaml.WantBool, strictyaml.WantEnum, strictyaml.WantInt, strictyaml.WantNumber, strictyaml.WantSpan, strictyaml.WantSize:
		return true
	}
	return false
}

func (w *writer) list(p *place, path string) object {
	out := object{"type": "array"}
	if p.item != nil {
		out["items"] = w.schema(p.item, path+"[]")
	}
	return out
}

// form is what a value looks like that answers one question.
func (w *writer) form(p *place, a strictyaml.Asked, path string) []object {
	switch a.Kind {
	case strictyaml.WantMap:
		return []object{w.known(p, path)}
	case strictyaml.WantAnyMap:
		out := object{"type": "object"}
		if p.entry != nil {
			out["additionalProperties"] = w.schema(p.entry, join(path, "*"))
		}
		return []object{out}
	case strictyaml.WantList:
		return []object{w.list(p, path)}
	}
	forms := scalar(a)
	if a.Default != nil {
		forms[0]["default"] = a.Default
	}
	return forms
}

// known is a map with known keys. A key that nothing is asked about is one that
// is refused.
func (w *writer) known(p *place, path string) object {
	members, needed := object{}, []string{}
	for _, key := range slices.Sorted(maps.Keys(p.members)) {
		child := p.members[key]
		if said, _ := w.words.find(join(path, key)); child.silent() && !said.anything {
			w.unasked = append(w.unasked, join(path, key))
			continue
		}
		members[key] = w.schema(child, join(path, key))
		if p.needed[key] == p.maps {
			needed = append(needed, key)
		}
	}
	out := object{"type": "object", "properties": members, "additionalProperties": false}
	if len(needed) > 0 {
		out["required"] = needed
	}
	return out
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// Spans of time and sizes, as people write them.
const (
	span = `^([0-9]+d)?(([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|ms|s|m|h))*$`
	size = `^[0-9]+ *(B|kB|KB|KiB|MB|MiB|GB|GiB)$`
)

func scalar(a strictyaml.Asked) []object {
	switch a.Kind {
	case strictyaml.WantBool:
		return []object{{"type": "boolean"}}
	case strictyaml.WantEnum:
		return []object{{"enum": a.Words}}
	case strictyaml.WantInt:
		return []object{{"type": "integer", "minimum": a.Low, "maximum": a.High}}
	case strictyaml.WantNumber:
		return []object{{"type": "number", "minimum": a.Low, "maximum": a.High}}
	case strictyaml.WantSpan:
		return []object{{"type": "string", "pattern": span}, {"const": 0}}
	case strictyaml.WantSize:
		return []object{{"type": "string", "pattern": size}, {"type": "integer", "minimum": a.Low, "maximum": a.High}}
	case strictyaml.WantSecret:
		return []object{{"type": "string", "pattern": "^" + reference + "$"}}
	case strictyaml.WantLiteral:
		return []object{{"type": []string{"string", "number", "boolean", "null"}}}
	}
	return []object{{"type": []string{"string", "number", "boolean"}}} // text as it is spelled
}
