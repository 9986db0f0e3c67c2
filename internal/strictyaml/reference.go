package strictyaml

import (
	"fmt"
	"regexp"
	"strings"
)

// Reference stands in a scalar for a value that is not in the file: ${NAME}
// for an environment variable, ${file:/path} for the content of a file.
type Reference struct {
	Text string // as written, ${…}
	Name string // of the environment variable, "" for a file
	File string // the path, "" for a variable
}

var (
	referencePattern = regexp.MustCompile(`\$\{[^}]*\}`)
	namePattern      = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// References finds the references in a text; an error tells of one that isn't
// well formed. Text with none is no error.
func References(text string) ([]Reference, error) {
	var out []Reference
	for _, found := range referencePattern.FindAllString(text, -1) {
		inside := found[2 : len(found)-1]
		path, isFile := strings.CutPrefix(inside, "file:")
		switch {
		case isFile && path != "":
			out = append(out, Reference{Text: found, File: path})
		case namePattern.MatchString(inside):
			out = append(out, Reference{Text: found, Name: inside})
		default:
			return nil, fmt.Errorf("%s is not a reference: write ${NAME} or ${file:/path}", shorten(found))
		}
	}
	if rest := referencePattern.ReplaceAllString(text, ""); strings.Contains(rest, "${") {
		return nil, fmt.Errorf("a reference is not closed: write ${NAME} or ${file:/path}")
	}
	return out, nil
}

// AsSecret is a scalar that is one reference and nothing else, because secrets
// never stand in files. What it refuses is never repeated in the message.
func (n *Node) AsSecret(report *Report) (string, bool) {
	report.asked(n, Asked{Kind: WantSecret})
	if n.silent() {
		return "", false
	}
	const do = `write "${NAME}" for an environment variable or "${file:/path}" for a file`
	if n.Kind != Scalar || n.isNull() {
		report.At(n, "must be a reference to a secret", do)
		return "", false
	}
	found, err := References(n.Spelled)
	if err != nil || len(found) != 1 || found[0].Text != n.Spelled {
		report.At(n, "a secret must not stand in the file", do)
		return "", false
	}
	return n.Text, true
}

// Unfilled tells whether a scalar still holds references instead of values. The
// typed readers take such a scalar for one that is left out.
func (n *Node) Unfilled() bool {
	return n != nil && n.Kind == Scalar && n.Text == n.Spelled && strings.Contains(n.Text, "${")
}

// Fill puts the values that lookup knows in the place of references, in every
// scalar at and below n. A value that is missing, empty or blank is reported.
// Filled text is never typed and never shows in messages.
func (n *Node) Fill(report *Report, lookup func(Reference) (string, error)) {
	for _, e := range n.Members() {
		e.Value.Fill(report, lookup)
	}
	if n == nil {
		return
	}
	for _, item := range n.Items {
		item.Fill(report, lookup)
	}
	if !n.Unfilled() {
		return
	}
	found, err := References(n.Text)
	if err != nil {
		report.At(n, err.Error(), "")
		return
	}
	values := map[string]string{}
	for _, ref := range found {
		value, err := lookup(ref)
		switch {
		case err != nil:
			report.At(n, ref.Text+" "+err.Error(), "set it, or leave the key out to switch the setting off")
		case strings.TrimSpace(value) == "":
			report.At(n, ref.Text+" is empty", "give it a value, or leave the key out to switch the setting off")
		}
		values[ref.Text] = value
	}
	n.Text = referencePattern.ReplaceAllStringFunc(n.Text, func(ref string) string { return values[ref] })
}
