package scaffold

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"sfbridge/internal/metadata"
)

const (
	fieldSuffix = ".field-meta.xml"
	ruleSuffix  = ".validationRule-meta.xml"
	permSuffix  = ".permissionset-meta.xml"
	projectFile = "sfdx-project.json"
)

// folder is the source folder with what it holds already. Names below it are
// written with /.
type folder struct {
	dir     string            // as given
	base    string            // where new files go, below dir
	files   map[string]string // "payment__c/fields/a__c.field-meta.xml" in lower case -> path
	objects map[string]string // folders of objects: "payment__c" -> path
}

func openFolder(dir string) (*folder, error) {
	f := &folder{dir: dir, files: map[string]string{}, objects: map[string]string{}}
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist) && name == dir:
			return fs.SkipAll // it is made when something is written
		case err != nil:
			return err
		case entry.IsDir() && name != dir && (entry.Name() == "node_modules" || strings.HasPrefix(entry.Name(), ".")):
			return fs.SkipDir
		case entry.IsDir():
			return nil
		}
		rel, err := filepath.Rel(dir, name)
		if err == nil {
			f.note(filepath.ToSlash(rel))
		}
		return err
	})
	if err == nil {
		f.base, err = projectBase(dir)
	}
	return f, err
}

// note keeps the first file of each name; folders are walked in order.
func (f *folder) note(name string) {
	parts := strings.Split(strings.ToLower(name), "/")
	for i, part := range parts {
		if part == "objects" && i+2 < len(parts) {
			keep(f.files, strings.Join(parts[i+1:], "/"), name)
			keep(f.objects, parts[i+1], strings.Join(strings.Split(name, "/")[:i+2], "/"))
		}
	}
	if strings.HasSuffix(name, permSuffix) {
		keep(f.files, parts[len(parts)-1], name)
	}
}

func keep(m map[string]string, key, value string) {
	if _, known := m[key]; !known {
		m[key] = value
	}
}

// projectBase is where an SFDX project keeps its source; a folder that is no
// project is the place itself.
func projectBase(dir string) (string, error) {
	data, err := os.ReadFile(filepath.Join(dir, projectFile))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	var project struct {
		PackageDirectories []struct {
			Path    string `json:"path"`
			Default bool   `json:"default"`
		} `json:"packageDirectories"`
	}
	if err == nil {
		err = json.Unmarshal(data, &project)
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", filepath.Join(dir, projectFile), err)
	}
	base := ""
	for _, p := range project.PackageDirectories {
		if p.Default || len(project.PackageDirectories) == 1 {
			base = path.Join(p.Path, "main", "default")
		}
	}
	if !filepath.IsLocal(base) {
		return "", fmt.Errorf("%s names no default package directory inside the project", filepath.Join(dir, projectFile))
	}
	return base, nil
}

// part is a file below the folder of an object.
func (f *folder) part(object, name string) string {
	if found, known := f.files[strings.ToLower(object+"/"+name)]; known {
		return found
	}
	if home, known := f.objects[strings.ToLower(object)]; known {
		return path.Join(home, name)
	}
	return path.Join(f.base, "objects", object, name)
}

func (f *folder) permissionSet(name string) string {
	if found, known := f.files[strings.ToLower(name+permSuffix)]; known {
		return found
	}
	return path.Join(f.base, "permissionsets", name+permSuffix)
}

// read gives a file as metadata of that type; nil when there is none.
func (f *folder) read(name, root string) (*metadata.Document, error) {
	file := filepath.Join(f.dir, filepath.FromSlash(name))
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	d, err := metadata.Parse(data)
	if err == nil && d.Root() != root {
		err = fmt.Errorf("is a %s, not a %s", d.Root(), root)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return d, nil
}
