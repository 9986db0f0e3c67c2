package mapping

import (
	"strings"

	"sfbridge/internal/strictyaml"
)

// Place is a problem without its text at a part of the file, such as
// params.topics, for what is judged later; where that part is missing, at the
// one that it would stand in.
func (f *File) Place(part string) Problem {
	place, known := f.places[part]
	for !known && part != "" {
		part = part[:max(0, strings.LastIndexByte(part, '.'))]
		place, known = f.places[part]
	}
	return place
}

// placesOf notes where the parts of a file stand that others judge: its keys
// and what stands right below them.
func placesOf(report *strictyaml.Report, root *strictyaml.Node) map[string]Problem {
	places := map[string]Problem{"": report.Place(root)}
	for _, e := range root.Entries {
		places[e.Value.Path] = report.Place(e.Value)
		for _, below := range e.Value.Entries {
			places[below.Value.Path] = report.Place(below.Value)
		}
	}
	return places
}
