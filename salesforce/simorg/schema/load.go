package schema

import "io/fs"

// Source is one SFDX source folder.
type Source struct {
	Name string // names it in errors: "product", a directory
	FS   fs.FS
}

// Load reads the sources in order. The error joins one *Error for each thing
// that is wrong.
func Load(sources ...Source) (*Schema, error) { return nil, nil }

// Error says what is wrong with a metadata file.
type Error struct {
	File    string // source and path
	Element string // the element it is about; may be empty
	Problem string
}

func (e *Error) Error() string { return e.File + ": " + e.Element + ": " + e.Problem }
