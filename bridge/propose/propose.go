package propose

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"sfbridge/mapping"
	"sfbridge/mapping/path"
	"sfbridge/salesforce"
)

// Org describes objects.
type Org interface {
	Describe(ctx context.Context, object string) (*salesforce.Object, error)
}

// Sample is an event that a payload holds.
type Sample struct {
	Type     string
	ObjectID string
	Ordered  bool // it has an order value
	Value    any
}

// Config says what a draft is made from.
type Config struct {
	Head    string // what Head wrote
	Vendor  string // the provider's name
	Object  string // API name of the target
	Samples []Sample
	Org     Org // nil: fields are named after the payload's members
}

// Proposal is a draft.
type Proposal struct {
	Text      string   // a mapping file
	Decisions []string // what a person must decide, in the file's order
}

// Draft proposes a mapping. Its error is a call that failed, or an object that
// the org doesn't have.
func Draft(ctx context.Context, cfg Config) (Proposal, error) {
	if len(cfg.Samples) == 0 {
		return Proposal{}, errors.New("there is no event to learn from: give a payload that holds one")
	}
	d := &drafter{cfg: cfg, root: rootOf(cfg.Samples)}
	d.leaves = leavesOf(cfg.Samples, d.root)
	var err error
	if cfg.Org == nil {
		d.offline()
	} else {
		err = d.online(ctx)
	}
	if err != nil {
		return Proposal{}, err
	}
	d.unknownObject()
	text := d.write()
	if _, err := mapping.Parse("draft.yaml", []byte(text)); err != nil {
		return Proposal{}, fmt.Errorf("the draft for these payloads doesn't load: %w", err)
	}
	return Proposal{Text: text, Decisions: d.decisions}, nil
}

// drafter gathers the parts of a draft.
type drafter struct {
	cfg    Config
	root   location // what the record is made of
	leaves []leaf

	key       line
	order     line
	fields    []line
	open      []string // comments: fields and lists that nothing was done with
	decisions []string
}

// line is a member of the mapping with a decision beside it.
type line struct {
	name, value string
	decide      string // "" when nothing is to be decided
}

// offline names fields after the members of the payload.
func (d *drafter) offline() {
	d.key = line{fieldName(d.cfg.Vendor) + "_Id__c", "", "the external ID field of " + d.cfg.Object}
	if len(fieldName(d.cfg.Vendor)) == 0 {
		d.key.name = "External_Id__c"
	}
	taken := map[string]bool{strings.ToLower(d.key.name): true}
	for _, l := range d.leaves {
		if l.at.String() == d.keyPath() {
			continue
		}
		name := uniqueName(l, taken)
		field, ok := d.value(l, guess(l, d.leaves))
		if !ok {
			continue
		}
		field.name = name
		d.fields = append(d.fields, field)
	}
	d.order = line{"order", "true", "the object needs Source_Order__c, Source_Event__c, Source_Prior__c and the rule Refuse_Moved (bridge scaffold)"}
	d.unordered()
}

// unordered drops order where the samples have none to offer.
func (d *drafter) unordered() {
	if slices.ContainsFunc(d.cfg.Samples, func(s Sample) bool { return !s.Ordered }) {
		d.order = line{}
		d.open = append(d.open, "order: true   # decide: some samples have no order value; name one under event.order, or an older event may overwrite a newer one")
	}
}

// keyPath is where the object's id stands: where the events say so, else the
// shallowest member that is named like one.
func (d *drafter) keyPath() string {
	if d.root.id != "" {
		return d.root.at.member(d.root.id).String()
	}
	for _, name := range []string{"id", "node_id", "uuid", "key", "number"} {
		best := ""
		for _, l := range d.leaves {
			if at := l.at.String(); l.name() == name && (best == "" || len(at) < len(best)) {
				best = at
			}
		}
		if best != "" {
			return best
		}
	}
	return d.root.at.member("id").String()
}

// unknownObject leaves the key to a person when the events name no object.
func (d *drafter) unknownObject() {
	if d.root.id != "" {
		return
	}
	const what = "the events name no object; the path of its id goes here and under event.object"
	if d.key.decide != "" {
		d.key.decide += "; "
	}
	d.key.decide += what
}

// value writes a leaf without knowing the field.
func (d *drafter) value(l leaf, s shape) (line, bool) {
	from := scalar(l.at.String())
	switch s.kind {
	case kindObjects:
		d.open = append(d.open, fmt.Sprintf("%s holds a list   # decide: lines of their own go into another record with each: %s", l.at, scalar(l.at.String()+"[*]")))
		return line{}, false
	case kindNothing:
		return line{value: from, decide: "no sample has a value here"}, true
	case kindText:
		if len(s.spec) == 0 {
			return line{value: from}, true
		}
	}
	return line{value: "{from: " + from + ", " + strings.Join(s.spec, ", ") + "}", decide: s.decide}, true
}

// fieldName makes the words of a member the name of a field, without suffix.
func fieldName(text string) string {
	const most = 36
	words := wordsOf(text)
	for i, w := range words {
		words[i] = strings.ToUpper(w[:1]) + w[1:]
	}
	name := strings.Trim(strings.Join(words, "_"), "_")
	if name != "" && name[0] >= '0' && name[0] <= '9' {
		name = "X" + name
	}
	if len(name) > most {
		name = strings.TrimRight(name[:most], "_")
	}
	return name
}

// uniqueName names the field of a leaf; two leaves never get one name.
func uniqueName(l leaf, taken map[string]bool) string {
	steps := l.at.steps
	base := fieldName(steps[len(steps)-1])
	if taken[strings.ToLower(base+"__c")] && len(steps) > 1 {
		base = fieldName(steps[len(steps)-2] + "_" + steps[len(steps)-1])
	}
	if base == "" {
		base = "Field"
	}
	name := base + "__c"
	for n := 2; taken[strings.ToLower(name)]; n++ {
		name = fmt.Sprintf("%s_%d__c", base, n)
	}
	taken[strings.ToLower(name)] = true
	return name
}

// types are the types of the samples, each once.
func (d *drafter) types() []string {
	var types []string
	for _, s := range d.cfg.Samples {
		if !slices.Contains(types, s.Type) {
			types = append(types, s.Type)
		}
	}
	slices.SortFunc(types, cmp.Compare)
	return types
}

// text is the text form of a value, "" for what has none.
func text(v any) string {
	s, _ := path.Text(v)
	return s
}
