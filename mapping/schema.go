package mapping

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	pathpkg "path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// schema is a compiled JSON Schema with the file it was read from.
type schema struct {
	file     string // as written in the mapping
	digest   string // hex SHA-256 of the file
	compiled *jsonschema.Schema
}

// loadSchema compiles the schema in a file. References may lead to other files
// but never to the network.
func loadSchema(file, dir string) (*schema, error) {
	name := file
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("can't be read: %w", reason(err))
	}
	if !json.Valid(data) {
		return nil, errors.New("is not JSON")
	}
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(jsonschema.FileLoader{})
	compiled, err := compiler.Compile(name)
	if err != nil {
		return nil, schemaError(err)
	}
	sum := sha256.Sum256(data)
	return &schema{file: file, digest: hex.EncodeToString(sum[:]), compiled: compiled}, nil
}

// reason is the cause of a file error without the path, which the problem
// names already.
func reason(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// schemaError says what is wrong with a schema, without the machine's paths.
func schemaError(err error) error {
	var load *jsonschema.LoadURLError
	var invalid *jsonschema.SchemaValidationError
	var failed *jsonschema.ValidationError
	switch {
	case errors.As(err, &load):
		return fmt.Errorf("leads to %q, which can't be read: references go to files only", pathpkg.Base(load.URL))
	case errors.As(err, &invalid) && errors.As(invalid.Err, &failed):
		fault := leaves(failed, nil)[0]
		return fmt.Errorf("is not a JSON Schema: %s %s", fault.path, fault.rule)
	}
	return errors.New("is not a usable JSON Schema")
}

// Bounds of what a schema check looks at and tells.
const (
	maxSchemaFaults   = 20
	maxSchemaExponent = 400
)

// check gives each failing path with the rule it fails. Values of the event are
// not repeated, since what is said here is stored and logged.
func (s *schema) check(event any) []schemaFault {
	if location, found := hugeNumber(event); found {
		slices.Reverse(location)
		return []schemaFault{{instancePath(location), "the number is out of range"}}
	}
	err := s.compiled.Validate(event)
	if err == nil {
		return nil
	}
	var failed *jsonschema.ValidationError
	if !errors.As(err, &failed) {
		return []schemaFault{{"$", "can't be checked against the schema"}}
	}
	faults := leaves(failed, nil)
	slices.SortFunc(faults, func(a, b schemaFault) int { return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(a.rule, b.rule)) })
	faults = slices.Compact(faults)
	if len(faults) > maxSchemaFaults {
		faults = append(faults[:maxSchemaFaults], schemaFault{"$", fmt.Sprintf("and %d more", len(faults)-maxSchemaFaults)})
	}
	return faults
}

// schemaFault is a path of the event and the rule it fails.
type schemaFault struct{ path, rule string }

func leaves(e *jsonschema.ValidationError, faults []schemaFault) []schemaFault {
	below := func(names []string, rule string) []schemaFault {
		for _, name := range names {
			faults = append(faults, schemaFault{instancePath(append(slices.Clone(e.InstanceLocation), name)), rule})
		}
		return faults
	}
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		return below(k.Missing, "is missing")
	case *kind.AdditionalProperties:
		return below(k.Properties, "is not allowed")
	case *kind.FalseSchema:
		return append(faults, schemaFault{instancePath(e.InstanceLocation), "is not allowed"})
	}
	if len(e.Causes) == 0 {
		return append(faults, schemaFault{instancePath(e.InstanceLocation), "fails " + strings.Join(e.ErrorKind.KeywordPath(), "/")})
	}
	for _, cause := range e.Causes {
		faults = leaves(cause, faults)
	}
	return faults
}

// instancePath writes where in the event the failing value is.
func instancePath(location []string) string {
	var b strings.Builder
	b.WriteByte('$')
	for _, part := range location {
		switch {
		case isIndex(part):
			b.WriteString("[" + part + "]")
		case plainMember(part):
			b.WriteString("." + part)
		default:
			b.WriteString("[" + strconv.Quote(shorten(part)) + "]")
		}
	}
	return b.String()
}

func isIndex(part string) bool {
	_, err := strconv.ParseUint(part, 10, 32)
	return err == nil
}

func plainMember(part string) bool {
	for _, r := range part {
		if r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') {
			return false
		}
	}
	return part != "" && len(part) <= 60
}

// hugeNumber finds a number whose exponent is so large that exact arithmetic
// on it, which schema rules may ask for, would cost more than the event is
// worth. It returns where the number is, innermost part first.
func hugeNumber(value any) (location []string, found bool) {
	switch v := value.(type) {
	case map[string]any:
		for _, name := range sortedKeys(v) {
			if location, found = hugeNumber(v[name]); found {
				return append(location, name), true
			}
		}
	case []any:
		for i, item := range v {
			if location, found = hugeNumber(item); found {
				return append(location, strconv.Itoa(i)), true
			}
		}
	case json.Number:
		if i := strings.IndexAny(string(v), "eE"); i >= 0 {
			exponent, err := strconv.Atoi(strings.TrimPrefix(string(v)[i+1:], "+"))
			return nil, err != nil || exponent > maxSchemaExponent || exponent < -maxSchemaExponent
		}
	}
	return nil, false
}
