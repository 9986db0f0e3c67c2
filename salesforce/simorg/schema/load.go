package schema

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Source is one SFDX source folder.
type Source struct {
	Name string // names it in errors: "product", a directory
	FS   fs.FS
}

// File name endings of the source format.
const (
	objectFile = ".object-meta.xml"
	fieldFile  = ".field-meta.xml"
	ruleFile   = ".validationRule-meta.xml"
)

// Load reads the sources in order. The error joins one *Error for each thing
// that is wrong.
func Load(sources ...Source) (*Schema, error) {
	l := &loader{objects: map[string]*draft{}}
	for _, src := range sources {
		l.read(src)
	}
	s := l.build()
	if len(l.problems) > 0 {
		return nil, errors.Join(l.problems...)
	}
	return s, nil
}

// draft is what the files say of one object, before it is checked.
type draft struct {
	name   string
	meta   *xmlObject // nil: no object file (yet)
	file   string     // of meta, else of the first field or rule
	fields map[string]located[xmlField]
	rules  map[string]located[xmlRule]
}

type located[T any] struct {
	file  string
	value T
}

type loader struct {
	objects  map[string]*draft // by name in lower case
	problems []error
}

func (l *loader) problem(file, element, text string) {
	l.problems = append(l.problems, &Error{File: file, Element: element, Problem: text})
}

func (l *loader) read(src Source) {
	err := fs.WalkDir(src.FS, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if skipDir(d.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		l.readFile(src, p)
		return nil
	})
	if err != nil {
		l.problem(src.Name, "", err.Error())
	}
}

// skipDir keeps the walk out of folders that hold no source of an org.
func skipDir(name string) bool {
	return name == "node_modules" || len(name) > 1 && name[0] == '.'
}

func (l *loader) readFile(src Source, p string) {
	file := path.Join(src.Name, p)
	dir, base := path.Split(p)
	dir = path.Clean(dir)
	switch {
	case strings.HasSuffix(base, objectFile):
		l.readObject(src.FS, p, file, strings.TrimSuffix(base, objectFile))
	case strings.HasSuffix(base, fieldFile) && path.Base(dir) == "fields":
		l.readField(src.FS, p, file, path.Base(path.Dir(dir)))
	case strings.HasSuffix(base, ruleFile) && path.Base(dir) == "validationRules":
		l.readRule(src.FS, p, file, path.Base(path.Dir(dir)))
	}
}

// draft returns the draft of an object, nil for objects that hold no rows.
func (l *loader) draft(name, file string) *draft {
	if strings.HasSuffix(name, "__mdt") {
		return nil
	}
	d := l.objects[strings.ToLower(name)]
	if d == nil {
		d = &draft{name: name, file: file, fields: map[string]located[xmlField]{}, rules: map[string]located[xmlRule]{}}
		l.objects[strings.ToLower(name)] = d
	}
	return d
}

func (l *loader) readObject(f fs.FS, p, file, name string) {
	d := l.draft(name, file)
	if d == nil {
		return
	}
	var meta xmlObject
	if err := decode(f, p, &meta); err != nil {
		l.problem(file, "CustomObject", err.Error())
		return
	}
	d.meta, d.file = &meta, file
}

func (l *loader) readField(f fs.FS, p, file, object string) {
	d := l.draft(object, file)
	if d == nil {
		return
	}
	var field xmlCustomField
	if err := decode(f, p, &field); err != nil {
		l.problem(file, "CustomField", err.Error())
		return
	}
	if want := strings.TrimSuffix(path.Base(p), fieldFile); field.FullName != want {
		l.problem(file, "fullName", quote(field.FullName)+" differs from the file's name")
		return
	}
	d.fields[strings.ToLower(field.FullName)] = located[xmlField]{file, field.xmlField}
}

func (l *loader) readRule(f fs.FS, p, file, object string) {
	d := l.draft(object, file)
	if d == nil {
		return
	}
	var rule xmlRule
	if err := decode(f, p, &rule); err != nil {
		l.problem(file, "ValidationRule", err.Error())
		return
	}
	if want := strings.TrimSuffix(path.Base(p), ruleFile); rule.FullName != want {
		l.problem(file, "fullName", quote(rule.FullName)+" differs from the file's name")
		return
	}
	d.rules[strings.ToLower(rule.FullName)] = located[xmlRule]{file, rule}
}

// drafts returns the drafts ordered by name.
func (l *loader) drafts() []*draft {
	out := make([]*draft, 0, len(l.objects))
	for _, d := range l.objects {
		out = append(out, d)
	}
	slices.SortFunc(out, func(a, b *draft) int { return strings.Compare(a.name, b.name) })
	return out
}
