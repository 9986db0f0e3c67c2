package scaffold

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"sfbridge/internal/metadata"
	"sfbridge/mapping"
)

// DefaultPermissionSet is the permission set that is written when none is named.
const DefaultPermissionSet = "Bridge_Targets"

// Config says what is planned.
type Config struct {
	Mappings      []*mapping.File
	Dir           string // an SFDX project or a source folder; made when it is missing
	PermissionSet string // API name; "" for DefaultPermissionSet
}

// State is what a plan does to a file.
type State string

// The states. Differs becomes Changed when existing files may be changed.
const (
	New       State = "new"       // is not there yet
	Unchanged State = "unchanged" // serves as it is
	Differs   State = "differs"   // is there and doesn't serve
	Written   State = "written"   // was new
	Changed   State = "changed"   // differed
)

// File is one metadata file of a plan.
type File struct {
	Path    string   `json:"path"` // below the plan's folder, with /
	State   State    `json:"state"`
	Differs []string `json:"differs,omitempty"` // what an existing file lacks

	content []byte
}

// Plan is what has to be written.
type Plan struct {
	Dir   string   `json:"dir"`
	Files []File   `json:"files"`
	Notes []string `json:"notes"` // what a person has to see to

	folder *folder
}

var apiName = regexp.MustCompile(`^[A-Za-z](_?[A-Za-z0-9])*$`)

// NewPlan plans. It reads the folder and writes nothing.
func NewPlan(cfg Config) (*Plan, error) {
	if cfg.PermissionSet == "" {
		cfg.PermissionSet = DefaultPermissionSet
	}
	if !apiName.MatchString(cfg.PermissionSet) {
		return nil, fmt.Errorf("%q is no API name: letters, digits and single _, beginning with a letter", cfg.PermissionSet)
	}
	f, err := openFolder(cfg.Dir)
	if err != nil {
		return nil, err
	}
	p := &Plan{Dir: cfg.Dir, Files: []File{}, Notes: []string{}, folder: f}
	list := gather(cfg.Mappings)
	for _, n := range list {
		if err := p.object(n); err != nil {
			return nil, err
		}
	}
	if err := p.permissions(cfg.PermissionSet, list); err != nil {
		return nil, err
	}
	return p, nil
}

// Write writes new files, and with overwrite also changes those that differ.
// Each file is replaced as a whole.
func (p *Plan) Write(overwrite bool) error {
	for i := range p.Files {
		f := &p.Files[i]
		if f.State != New && (f.State != Differs || !overwrite) {
			continue
		}
		if err := replace(filepath.Join(p.Dir, filepath.FromSlash(f.Path)), f.content); err != nil {
			return err
		}
		if f.State == New {
			f.State = Written
		} else {
			f.State = Changed
		}
	}
	return nil
}

// Waiting says whether files differ that were not changed.
func (p *Plan) Waiting() bool {
	for _, f := range p.Files {
		if f.State == Differs {
			return true
		}
	}
	return false
}

func replace(name string, content []byte) error {
	dir := filepath.Dir(name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	temp, err := os.CreateTemp(dir, ".scaffold-*")
	if err != nil {
		return err
	}
	_, err = temp.Write(content)
	err = errors.Join(err, temp.Chmod(0o644), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp.Name()))
	}
	return nil
}

func (p *Plan) note(format string, args ...any) {
	p.Notes = append(p.Notes, fmt.Sprintf(format, args...))
}

// add takes a file into the plan. differs says what an existing one lacks.
func (p *Plan) add(name string, exists bool, d *metadata.Document, differs []string) {
	f := File{Path: name, State: New, content: d.Bytes()}
	switch {
	case exists && len(differs) > 0:
		f.State, f.Differs = Differs, differs
	case exists:
		f.State = Unchanged
	}
	p.Files = append(p.Files, f)
}
