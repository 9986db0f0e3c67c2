package provider

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"sfbridge/bridge/identify"
	"sfbridge/bridge/verify"
	"sfbridge/bridge/verify/special"
	"sfbridge/mapping/path"
)

//go:embed presets.yaml
var presetsYAML []byte

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
	return Parse(presetsYAML, table)
}

// Parse reads presets whose rules are rows of table. Every mistake is reported.
func Parse(data []byte, table verify.Table) (*Catalog, error) {
	var entries map[string]entry
	if err := yaml.NewDecoder(bytes.NewReader(data), yaml.DisallowUnknownField()).Decode(&entries); err != nil {
		return nil, fmt.Errorf("reading the presets: %w", err)
	}
	c := &Catalog{presets: make(map[string]*Preset, len(entries)), table: table}
	var problems []error
	for name, e := range entries {
		preset, err := e.preset(name, table)
		if err != nil {
			problems = append(problems, fmt.Errorf("preset %s: %w", name, err))
			continue
		}
		c.presets[name] = preset
	}
	return c, errors.Join(problems...)
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
	return nil, fmt.Errorf("provider %q is unknown: use one of %s", name, strings.Join(c.Names(), ", "))
}

// Rule finds a row of the signature table.
func (c *Catalog) Rule(name string) (verify.Rule, error) {
	if r, ok := c.table[name]; ok {
		return r, nil
	}
	names := make([]string, 0, len(c.table))
	for name := range c.table {
		names = append(names, name)
	}
	slices.Sort(names)
	return verify.Rule{}, fmt.Errorf("scheme %q is unknown: use one of %s", name, strings.Join(names, ", "))
}

// entry is a preset as the file spells it.
type entry struct {
	Rules      []string         `yaml:"rules"`
	Event      eventEntry       `yaml:"event"`
	Required   []string         `yaml:"required"`
	Form       string           `yaml:"form"`
	Signs      string           `yaml:"signs"`
	Answer     *Answer          `yaml:"answer"`
	Handshakes []handshakeEntry `yaml:"handshakes"`
	Deadline   time.Duration    `yaml:"deadline"`
	Redelivery time.Duration    `yaml:"redelivery"`
	Send       SampleHeaders    `yaml:"send"`
}

type eventEntry struct {
	ID       []string      `yaml:"id"`
	Type     []string      `yaml:"type"`
	Entities []entityEntry `yaml:"entities"`
	Order    []orderEntry  `yaml:"order"`
	Delivery []string      `yaml:"delivery"`
	Volatile []string      `yaml:"volatile"`
	Split    string        `yaml:"split"`
}

type entityEntry struct {
	Object string       `yaml:"object"`
	Order  []orderEntry `yaml:"order"`
}

type orderEntry struct {
	From []string      `yaml:"from"`
	As   identify.Unit `yaml:"as"`
}

func (e entry) preset(name string, table verify.Table) (*Preset, error) {
	r := &reader{}
	p := &Preset{
		Name: name, Identity: r.identity(e.Event), Required: e.Required,
		Content: identify.Content{FormMember: e.Form}, Signs: SignedBytes(e.Signs),
		Answer: e.Answer, Deadline: e.Deadline, Redelivery: e.Redelivery, Send: e.Send,
	}
	for _, rule := range e.Rules {
		row, ok := table[rule]
		r.check(ok, "rule %q is no row of the signature table", rule)
		p.Rules = append(p.Rules, row)
	}
	for _, h := range e.Handshakes {
		p.Handshakes = append(p.Handshakes, r.handshake(h))
	}
	r.check(len(e.Rules) > 0, "rules is missing")
	r.check(p.Signs == Wire || p.Signs == Decoded, "signs is %q: use wire or content", e.Signs)
	r.check(e.Deadline > 0, "deadline is missing")
	r.check(e.Redelivery > 0, "redelivery is missing")
	r.check(len(p.Identity.ID) > 0 || slices.Contains(e.Required, "id"), "event.id is missing")
	p.Trust = leastTrust(p.Rules)
	return p, errors.Join(r.problems...)
}

func leastTrust(rules []verify.Rule) verify.Trust {
	order := []verify.Trust{verify.Unsigned, verify.AuthenticatedCaller, verify.SignedPartial, verify.SignedBody}
	least := len(order) - 1
	for _, rule := range rules {
		least = min(least, slices.Index(order, rule.Trust(special.Schemes())))
	}
	return order[least]
}

// reader compiles paths and gathers what is wrong with them.
type reader struct{ problems []error }

func (r *reader) check(ok bool, format string, args ...any) {
	if !ok {
		r.problems = append(r.problems, fmt.Errorf(format, args...))
	}
}

func (r *reader) templates(texts []string, use path.Escaping) []path.Template {
	var list []path.Template
	for _, text := range texts {
		t, err := path.ParsePathOrTemplate(text, use)
		if err != nil {
			r.problems = append(r.problems, err)
		}
		list = append(list, t)
	}
	return list
}

func (r *reader) paths(texts []string) []path.Path {
	var list []path.Path
	for _, text := range texts {
		p, err := path.Parse(text)
		if err != nil {
			r.problems = append(r.problems, err)
		}
		list = append(list, p)
	}
	return list
}

func (r *reader) identity(e eventEntry) identify.Identity {
	i := identify.Identity{
		ID: r.templates(e.ID, path.EventID), Type: r.templates(e.Type, path.Identity),
		Order: r.orders(e.Order), Delivery: r.templates(e.Delivery, path.Field), Volatile: r.paths(e.Volatile),
	}
	for _, entity := range e.Entities {
		i.Entities = append(i.Entities, identify.Entity{
			Object: r.templates([]string{entity.Object}, path.Identity)[0], Order: r.orders(entity.Order),
		})
	}
	if e.Split != "" {
		split, err := path.ParseList(e.Split)
		if err != nil {
			r.problems = append(r.problems, err)
		}
		i.Split = split
	}
	return i
}

func (r *reader) orders(entries []orderEntry) []identify.Order {
	var list []identify.Order
	for _, e := range entries {
		r.check(slices.Contains(identify.Units(), e.As), "order: as is %q", e.As)
		list = append(list, identify.Order{Paths: r.paths(e.From), As: e.As})
	}
	return list
}
