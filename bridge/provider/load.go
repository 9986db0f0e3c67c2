package provider

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"sfbridge/bridge/identify"
	"sfbridge/bridge/verify"
	"sfbridge/internal/strictyaml"
)

//go:embed presets/*.yaml
var presetFiles embed.FS

// Catalog is the presets by provider.
type Catalog struct {
	presets map[string]*Preset
	table   verify.Table
}

// Load reads the presets that ship with the product.
func Load() (*Catalog, error) {
	table, err := verify.LoadTable()
	if err != nil {
		return nil, err
	}
	return Parse(presetFiles, table)
}

// Parse reads presets/NAME.yaml for every provider; their rules are rows of
// table. Every mistake is reported.
func Parse(files fs.FS, table verify.Table) (*Catalog, error) {
	names, err := fs.Glob(files, "presets/*.yaml")
	if err != nil {
		return nil, fmt.Errorf("reading the presets: %w", err)
	}
	c := &Catalog{presets: make(map[string]*Preset, len(names)), table: table}
	var problems []error
	for _, file := range names {
		name := strings.TrimSuffix(path.Base(file), ".yaml")
		preset, err := parse(files, file, name, table)
		if err != nil {
			problems = append(problems, fmt.Errorf("preset %s: %w", name, err))
			continue
		}
		c.presets[name] = preset
	}
	return c, errors.Join(problems...)
}

func parse(files fs.FS, file, name string, table verify.Table) (*Preset, error) {
	data, err := fs.ReadFile(files, file)
	if err != nil {
		return nil, err
	}
	var e entry
	if err := yaml.NewDecoder(bytes.NewReader(data), yaml.DisallowUnknownField()).Decode(&e); err != nil {
		return nil, err
	}
	return e.preset(name, table)
}

// Names lists the providers, sorted.
func (c *Catalog) Names() []string {
	names := make([]string, 0, len(c.presets))
	for name := range c.presets {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Preset finds a provider's preset.
func (c *Catalog) Preset(name string) (*Preset, error) {
	if p, ok := c.presets[name]; ok {
		return p, nil
	}
	return nil, fmt.Errorf("provider %q is unknown: %s", name, strictyaml.Suggest(name, c.Names()))
}

// Rule finds a row of the signature table.
func (c *Catalog) Rule(name string) (verify.Rule, error) {
	if r, ok := c.table[name]; ok {
		return r, nil
	}
	names := slices.Sorted(maps.Keys(c.table))
	return verify.Rule{}, fmt.Errorf("scheme %q is unknown: %s", name, strictyaml.Suggest(name, names))
}

// entry is a preset as the file spells it.
type entry struct {
	Title         string           `yaml:"title"`
	About         []string         `yaml:"about"`
	Secrets       string           `yaml:"secrets"`
	Rules         []string         `yaml:"rules"`
	Params        map[string]Param `yaml:"params"`
	Fetches       bool             `yaml:"fetches"`
	MayBeUnsigned bool             `yaml:"may_be_unsigned"`
	Refuse        []string         `yaml:"refuse"`
	Event         eventEntry       `yaml:"event"`
	Required      []string         `yaml:"required"`
	Content       contentEntry     `yaml:"content"`
	Once          string           `yaml:"once"`
	Signs         string           `yaml:"signs"`
	Answer        *answerEntry     `yaml:"answer"`
	Handshakes    []handshakeEntry `yaml:"handshakes"`
	Deadline      time.Duration    `yaml:"deadline"`
	Redelivery    time.Duration    `yaml:"redelivery"`
	Send          SampleHeaders    `yaml:"send"`
}

type contentEntry struct {
	Member string `yaml:"member"`
	Base64 bool   `yaml:"base64"`
	Form   bool   `yaml:"form"`
	XML    bool   `yaml:"xml"`
	Lines  bool   `yaml:"lines"`
}

type answerEntry struct {
	Status       int    `yaml:"status"`
	ContentType  string `yaml:"content_type"`
	Body         string `yaml:"body"`
	Empty        bool   `yaml:"empty"`
	BareRefusals bool   `yaml:"bare_refusals"`
}

func (e entry) preset(name string, table verify.Table) (*Preset, error) {
	r := &reader{}
	p := &Preset{
		Name: name, Title: e.Title, About: e.About, Secrets: e.Secrets,
		Fetches: e.Fetches, MayBeUnsigned: e.MayBeUnsigned, Refuse: e.Refuse, Params: e.params(),
		Identity: r.identity(e.Event), Required: e.Required, Signs: SignedBytes(e.Signs),
		Content: identify.Content{
			FormMember: e.Content.Member, Base64: e.Content.Base64,
			Form: e.Content.Form, XML: e.Content.XML, Lines: e.Content.Lines,
		},
		Deadline: e.Deadline, Redelivery: e.Redelivery, Send: e.Send,
	}
	for _, rule := range e.Rules {
		row, ok := table[rule]
		r.check(ok, "rule %q is no row of the signature table", rule)
		p.Rules = append(p.Rules, row)
	}
	for _, h := range e.Handshakes {
		p.Handshakes = append(p.Handshakes, r.handshake(h))
	}
	if e.Once != "" {
		p.Once = &r.paths([]string{e.Once})[0]
	}
	if a := e.Answer; a != nil {
		p.Answer = &Answer{Status: a.Status, ContentType: a.ContentType, Body: a.Body, Empty: a.Empty, BareRefusals: a.BareRefusals}
		r.check(a.Status >= 200 && a.Status < 300, "answer: status %d is no success", a.Status)
	}
	r.complete(e)
	p.Trust = LeastTrust(p.Rules)
	return p, errors.Join(r.problems...)
}

// complete checks that nothing is left out.
func (r *reader) complete(e entry) {
	r.check(e.Title != "", "title is missing")
	r.check(e.Secrets != "", "secrets is missing: say what the secret is")
	r.check(len(e.Rules) > 0, "rules is missing")
	r.check(SignedBytes(e.Signs) == Wire || SignedBytes(e.Signs) == Decoded, "signs is %q: use wire or content", e.Signs)
	r.check(e.Deadline > 0, "deadline is missing")
	r.check(e.Redelivery > 0, "redelivery is missing")
	id := len(e.Event.ID)+len(e.Event.Hashed) > 0 || e.Event.ByHash
	r.check(id || slices.Contains(e.Required, "id"), "event.id is missing")
	for name, param := range e.Params {
		r.check(param.About != "", "params.%s: about is missing", name)
	}
}

func (e entry) params() map[string]Param {
	params := map[string]Param{}
	maps.Copy(params, e.Params)
	if e.MayBeUnsigned {
		params[AcceptUnsigned] = Param{About: "true for a webhook without a secret, whose deliveries anybody can make up", OneOf: []string{"true", "false"}}
	}
	return params
}
