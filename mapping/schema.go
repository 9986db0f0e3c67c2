package mapping

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
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
		return nil, fmt.Errorf("is not a usable JSON Schema: %s", firstLine(err.Error()))
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

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// Bounds of what a schema check looks at and tells.
const (
	maxSchemaLines    = 20
	maxSchemaExponent = 400
)

// check gives one line per failing path: the path and the rule it fails. Values
// of the event are not repeated, since the lines are stored and logged.
func (s *schema) check(event any) []string {
	if location, found := hugeNumber(event); found {
		slices.Reverse(location)
		return []string{instancePath(location) + ": the number is out of range"}
	}
	err := s.compiled.Validate(event)
	if err == nil {
		return nil
	}
	var failed *jsonschema.ValidationError
	if !errors.As(err, &failed) {
		return []string{"$: can't be checked against the schema"}
	}
	lines := leaves(failed, nil)
	slices.Sort(lines)
	lines = slices.Compact(lines)
	if len(lines) > maxSchemaLines {
		lines = append(lines[:maxSchemaLines], fmt.Sprintf("and %d more", len(lines)-maxSchemaLines))
	}
	return lines
}

func leaves(e *jsonschema.ValidationError, lines []string) []string {
	if len(e.Causes) == 0 {
		rule := strings.Join(e.ErrorKind.KeywordPath(), "/")
		return append(lines, instancePath(e.InstanceLocation)+": fails "+rule)
	}
	for _, cause := range e.Causes {
		lines = leaves(cause, lines)
	}
	return lines
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
