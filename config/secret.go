package config

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"sfbridge/internal/strictyaml"
)

// Secret is a value that must not show. Whatever prints it, prints the
// reference it stands for.
type Secret struct {
	reference string
	value     string
}

// NewSecret is a secret with a value that doesn't come from a file, for tests
// and built-in set-ups.
func NewSecret(value string) Secret { return Secret{reference: "(secret)", value: value} }

// IsSet tells whether the setting is given, filled in or not.
func (s Secret) IsSet() bool { return s.reference != "" }

// Value is the secret itself, "" until it was filled in.
func (s Secret) Value() string { return s.value }

// String is the reference, never the value.
func (s Secret) String() string { return s.reference }

// GoString is the reference, never the value.
func (s Secret) GoString() string { return s.reference }

// Format keeps every verb of fmt away from the value.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.reference) }

// MarshalText keeps encoders away from the value.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.reference), nil }

// LogValue keeps loggers away from the value.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.reference) }

// Env is where the values of references come from.
type Env struct {
	Lookup   func(name string) (string, bool)  // environment variables
	ReadFile func(name string) ([]byte, error) // files
}

// OS is the environment of the process.
func OS() Env { return Env{Lookup: os.LookupEnv, ReadFile: os.ReadFile} }

// Expand fills the references in a text. Relative files start at dir. A value
// that is unset, empty or blank is an error, which names the reference and
// never a value.
func (e Env) Expand(text, dir string) (string, error) {
	n := &strictyaml.Node{Kind: strictyaml.Scalar, Text: text, Spelled: text}
	report := strictyaml.NewReport("")
	n.Fill(report, e.in(dir))
	var first string
	for _, p := range report.List() {
		if first == "" {
			first = p.What
		}
	}
	if first != "" {
		return "", errors.New(first)
	}
	return n.Text, nil
}

// in looks references up, with relative files below dir.
func (e Env) in(dir string) func(strictyaml.Reference) (string, error) {
	return func(ref strictyaml.Reference) (string, error) {
		if ref.File == "" {
			value, ok := e.Lookup(ref.Name)
			if !ok {
				return "", errors.New("is not set")
			}
			return value, nil
		}
		data, err := e.ReadFile(below(dir, ref.File))
		if err != nil {
			return "", fmt.Errorf("can't be read: %w", withoutPath(err))
		}
		return dropNewline(string(data)), nil
	}
}

func below(dir, file string) string {
	if file == "" || filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(dir, file)
}

// dropNewline drops one trailing newline, which editors add.
func dropNewline(text string) string {
	trimmed := strings.TrimSuffix(text, "\n")
	if trimmed != text {
		trimmed = strings.TrimSuffix(trimmed, "\r")
	}
	return trimmed
}

func withoutPath(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
