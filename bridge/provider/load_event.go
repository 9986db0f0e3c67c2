package provider

import (
	"fmt"
	"slices"

	"sfbridge/bridge/identify"
	"sfbridge/mapping/path"
)

type eventEntry struct {
	ID          []string      `yaml:"id"`
	Hashed      []string      `yaml:"hashed"`
	ByHash      bool          `yaml:"by_hash"`
	PerDelivery bool          `yaml:"per_delivery"`
	Type        []string      `yaml:"type"`
	Kinds       []kindEntry   `yaml:"kinds"`
	Entities    []entityEntry `yaml:"entities"`
	Order       []orderEntry  `yaml:"order"`
	Delivery    []string      `yaml:"delivery"`
	Volatile    []string      `yaml:"volatile"`
	Split       []string      `yaml:"split"`
	Single      bool          `yaml:"single"`
	Spread      []string      `yaml:"spread"`
}

type kindEntry struct {
	When map[string]string `yaml:"when"`
	Type string            `yaml:"type"`
}

type entityEntry struct {
	When   map[string]string `yaml:"when"`
	Object string            `yaml:"object"`
	Order  []orderEntry      `yaml:"order"`
}

type orderEntry struct {
	From []string      `yaml:"from"`
	As   identify.Unit `yaml:"as"`
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
		ID: r.templates(e.ID, path.EventID), Hashed: r.templates(e.Hashed, path.EventID),
		ByHash: e.ByHash, PerDelivery: e.PerDelivery, Single: e.Single,
		Type:  r.templates(e.Type, path.Identity),
		Order: r.orders(e.Order), Delivery: r.templates(e.Delivery, path.Field),
		Volatile: r.paths(e.Volatile), Spread: r.paths(e.Spread),
	}
	for _, kind := range e.Kinds {
		i.Kinds = append(i.Kinds, identify.TypeWhen{
			When: r.conditions(kind.When), Type: r.templates([]string{kind.Type}, path.Identity)[0],
		})
	}
	for _, entity := range e.Entities {
		i.Entities = append(i.Entities, identify.Entity{
			When: r.conditions(entity.When), Object: r.templates([]string{entity.Object}, path.Identity)[0],
			Order: r.orders(entity.Order),
		})
	}
	for n, text := range e.Split {
		split, err := path.ParseList(text)
		if err != nil {
			r.problems = append(r.problems, err)
		}
		if n == 0 {
			i.Split = split
		} else {
			i.MoreSplits = append(i.MoreSplits, split)
		}
	}
	return i
}

func (r *reader) conditions(when map[string]string) []identify.Condition {
	var list []identify.Condition
	for text, is := range when {
		list = append(list, identify.Condition{Path: r.paths([]string{text})[0], Is: is})
	}
	return list
}

func (r *reader) orders(entries []orderEntry) []identify.Order {
	var list []identify.Order
	for _, e := range entries {
		r.check(slices.Contains(identify.Units(), e.As), "order: as is %q", e.As)
		list = append(list, identify.Order{Paths: r.paths(e.From), As: e.As})
	}
	return list
}
