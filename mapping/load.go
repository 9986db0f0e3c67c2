package mapping

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"sfbridge/internal/strictyaml"
	"sfbridge/mapping/path"
	"sfbridge/mapping/transform"
)

// Load reads and compiles a mapping file. Its error is a *Problems that holds
// every mistake at once.
func Load(file string) (*File, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		report := strictyaml.NewReport(file)
		report.At(nil, "can't be read: "+reason(err).Error(), "check the name and the rights")
		return nil, report.Err()
	}
	return Parse(file, data)
}

// Parse compiles the text of a mapping file. Name stands in messages, and
// relative paths in the file start at its directory.
func Parse(name string, data []byte) (*File, error) {
	return parse(name, data, func(*strictyaml.Node, *strictyaml.Report) {})
}

// Outline is what the loader asks of a text. The JSON Schema of mapping files
// is made of it.
func Outline(name string, data []byte) (*strictyaml.Outline, error) {
	var outline *strictyaml.Outline
	_, err := parse(name, data, func(root *strictyaml.Node, report *strictyaml.Report) { outline = report.Outline(root) })
	return outline, err
}

// parse compiles a text; before sees it first.
func parse(name string, data []byte, before func(*strictyaml.Node, *strictyaml.Report)) (*File, error) {
	l := &loader{
		Report:  strictyaml.NewReport(name),
		dir:     filepath.Dir(name),
		file:    &File{Name: name},
		warn:    strictyaml.NewReport(name),
		context: map[string]path.Path{},
		unsure:  map[*Route]bool{},
		places:  map[*spec]*strictyaml.Node{},

		effectNames: map[string]bool{},
	}
	if root := strictyaml.Parse(data, l.Report); root != nil {
		before(root, l.Report)
		l.top(root)
	}
	if err := l.Err(); err != nil {
		return nil, err
	}
	if err := l.seal(); err != nil {
		return nil, err
	}
	return l.file, nil
}

// loader turns the YAML tree into a File. Every method reports what is wrong
// and goes on.
type loader struct {
	*strictyaml.Report
	dir     string
	file    *File
	warn    *strictyaml.Report
	places  map[*spec]*strictyaml.Node // where records stand
	unsure  map[*Route]bool            // routes whose when could not be read
	digits  transform.Currencies
	context map[string]path.Path // header and $$ paths, by context key

	effectNames map[string]bool
	fallback    *Authority         // of routes without one of their own
	compared    []*strictyaml.Node // where the types of comparisons stand
}

var (
	sourcePattern = regexp.MustCompile(`^[a-z][a-z0-9-]{0,39}$`)
	topKeys       = []string{
		"source", "provider", "secrets", "params", "verify", "event", "processor", "unmatched",
		"on_conflict", "limits", "currencies", "routes", "authority", "reconcile",
	}
)

func (l *loader) top(root *strictyaml.Node) {
	m := root.Map(l.Report, topKeys...)
	for _, e := range root.Entries {
		// A key that isn't known is reported as such, and nothing else of it.
		if slices.Contains(topKeys, e.Key) && e.Key != "secrets" && e.Key != "params" {
			l.noReferences(e.Value)
		}
	}
	f := l.file
	f.places = placesOf(l.Report, root)
	f.Source = l.name(m, "source", "write source: NAME, the last part of POST /webhooks/NAME")
	f.Provider = l.name(m, "provider", "write the provider's name, or provider: generic for any sender with an HMAC signature")
	f.Secrets = l.secrets(m.Get("secrets"))
	f.Params = l.params(m.Get("params"))
	f.Verify = l.verify(m.Get("verify"))
	f.Event = l.event(m)
	f.Processor = Processor(m.Enum("processor", string(ProcessorBridge), string(ProcessorOrg)))
	f.Unmatched = Unmatched(m.Enum("unmatched", string(UnmatchedReview), string(UnmatchedIgnore)))
	f.OnConflict = OnConflict(m.Enum("on_conflict", string(ConflictKeep), string(ConflictReject)))
	f.Limits = l.limits(m.Get("limits"))
	f.Currencies = l.currencies(m.Get("currencies"))
	l.judgeAuthority(m)
	l.fallback = l.authority(m.Get("authority"))
	l.reconcile(m.Get("reconcile"))
	l.routes(m)
	l.judgeReconciles()
}

// name reads a required name in the form of a source.
func (l *loader) name(m strictyaml.Map, key, do string) string {
	n := m.Need(key, do)
	text, ok := n.AsText(l.Report)
	if ok && !sourcePattern.MatchString(text) {
		l.At(n, fmt.Sprintf("%q is not a name", shorten(text)), "write lower-case letters, digits and -, beginning with a letter, at most 40")
	}
	return text
}

// noReferences: only what is never written to records may come from outside
// the file.
func (l *loader) noReferences(n *strictyaml.Node) {
	if n.Unfilled() && !filledElsewhere.MatchString(n.Path) {
		l.At(n, "a reference is not filled here", "write the value itself; references stand in secrets and params")
	}
	for _, e := range n.Members() {
		l.noReferences(e.Value)
	}
	for _, item := range n.Items {
		l.noReferences(item)
	}
}

func (l *loader) secrets(n *strictyaml.Node) []string {
	var out []string
	if n != nil && n.Kind == strictyaml.Scalar {
		// What stands here may be the secret itself: the message must not show it.
		l.At(n, "must be a list", `write secrets: ["${NAME}"]`)
		return nil
	}
	for _, item := range n.AsList(l.Report) {
		if ref, ok := item.AsSecret(l.Report); ok {
			if slices.Contains(out, ref) {
				l.At(item, "the secret stands twice", "keep one")
			}
			out = append(out, ref)
		}
	}
	return out
}

// params are values or lists of values; what they mean is the preset's matter.
func (l *loader) params(n *strictyaml.Node) map[string]any {
	out := map[string]any{}
	for _, e := range n.AnyMap(l.Report).Entries() {
		if e.Value.Kind == strictyaml.Sequence {
			list := []any{}
			for _, item := range e.Value.Items {
				list = append(list, l.param(item))
			}
			out[e.Key] = list
			continue
		}
		out[e.Key] = l.param(e.Value)
	}
	return out
}

func (l *loader) param(n *strictyaml.Node) any {
	value, ok := n.AsLiteral(l.Report)
	if text, is := value.(string); ok && is {
		if _, err := strictyaml.References(text); err != nil {
			l.At(n, err.Error(), "")
		}
	}
	return value
}

func (l *loader) limits(n *strictyaml.Node) Limits {
	m := n.Map(l.Report, "max_body", "rate", "encodings")
	out := Limits{
		MaxBody: m.Size("max_body", 0, 1, 64<<20),
		Rate:    m.Number("rate", 0, 0, 1e6),
	}
	for _, item := range m.Get("encodings").AsList(l.Report) {
		name, ok := item.AsText(l.Report)
		if ok && name != "gzip" {
			l.At(item, fmt.Sprintf("%q is not a content encoding that can be read", shorten(name)), "write gzip")
		}
		out.Encodings = append(out.Encodings, name)
	}
	return out
}

func (l *loader) currencies(n *strictyaml.Node) map[string]int {
	out := map[string]int{}
	given := map[string]int{}
	m := n.AnyMap(l.Report)
	for _, e := range m.Entries() {
		code := strings.ToUpper(e.Key)
		given[e.Key] = m.Int(e.Key, 2, 0, 6)
		out[code] = given[e.Key]
	}
	digits, err := transform.NewCurrencies(given)
	var problems transform.Problems
	if errors.As(err, &problems) {
		for _, p := range problems {
			l.Key(m.Entry(p.Key), p.What, p.Fix)
		}
	}
	l.digits = digits
	return out
}

// bad reports an error of the packages that compile paths, templates and
// transforms.
func (l *loader) bad(n *strictyaml.Node, err error) {
	var p *path.ParseError
	if errors.As(err, &p) {
		l.At(n, strings.TrimSpace(shorten(p.Text)+" "+p.What), p.Fix)
		return
	}
	l.At(n, err.Error(), "")
}

// seal computes what depends on the whole file.
func (l *loader) seal() error {
	for _, key := range sortedKeys(l.context) {
		l.file.contextPaths = append(l.file.contextPaths, l.context[key])
	}
	compiled, err := canonical(l.file)
	if err != nil {
		l.At(nil, "a text can't be written as JSON: "+err.Error(), "remove characters that aren't valid Unicode")
		return l.Err()
	}
	l.file.canonical, l.file.version = compiled, version(compiled)
	l.file.warnings = l.warn.List()
	return nil
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// shorten cuts text for a message.
func shorten(text string) string {
	const limit = 60
	runes := []rune(text)
	if len(runes) <= limit {
		return text
	}
	return string(runes[:limit]) + "…"
}
