package propose

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"sfbridge/salesforce"
)

// online fits the leaves to the fields that the org has.
func (d *drafter) online(ctx context.Context) error {
	o, err := d.cfg.Org.Describe(ctx, d.cfg.Object)
	if salesforce.Hidden(err) {
		return fmt.Errorf("the org has no %s, or this user can't see it", d.cfg.Object)
	}
	if err != nil {
		return fmt.Errorf("describing %s: %w", d.cfg.Object, err)
	}
	d.cfg.Object = o.Name
	d.keyOf(o)
	d.orderOf(o)
	used := map[string]bool{d.keyPath(): true}
	for _, f := range o.Fields {
		if !d.fillable(f) {
			continue
		}
		if err := d.fit(ctx, f, used); err != nil {
			return err
		}
	}
	for _, l := range d.leaves {
		if !used[l.at.String()] {
			d.open = append(d.open, l.at.String()+" is not mapped")
		}
	}
	return nil
}

// guardFields are written by order: true.
var guardFields = []string{"Source_Order__c", "Source_Event__c", "Source_Prior__c"}

// fillable says whether a field is for the mapping to fill.
func (d *drafter) fillable(f salesforce.Field) bool {
	return f.Createable && !f.AutoNumber && !f.Calculated && !strings.EqualFold(f.Name, d.key.name) &&
		!slices.Contains(guardFields, f.Name) && (f.Custom || f.Required() || f.Type != "reference") && f.Name != "OwnerId"
}

// keyOf chooses the external ID: the one named after the provider, else the
// only one.
func (d *drafter) keyOf(o *salesforce.Object) {
	ids := externalIDs(o)
	switch {
	case len(ids) == 0:
		d.key = line{name: "External_Id__c", decide: o.Name + " has no unique external ID: add a Text(255) field with External ID, Unique and case sensitive"}
		return
	case len(ids) > 1:
		d.key.decide = "which external ID: " + strings.Join(ids, ", ")
	}
	d.key.name = d.preferred(ids)
}

// preferred is the external ID that bears the provider's name, else the first.
func (d *drafter) preferred(ids []string) string {
	for _, id := range ids {
		if strings.Contains(plain(id), plain(d.cfg.Vendor)) {
			return id
		}
	}
	return ids[0]
}

// externalIDs are the fields that a record can be found by.
func externalIDs(o *salesforce.Object) []string {
	var names []string
	for _, f := range o.Fields {
		if f.ExternalID && f.Unique {
			names = append(names, f.Name)
		}
	}
	return names
}

func (d *drafter) orderOf(o *salesforce.Object) {
	for _, name := range guardFields {
		if _, ok := o.Field(name); !ok {
			d.open = append(d.open, "order: true   # decide: add "+strings.Join(guardFields, ", ")+" and the rule Refuse_Moved (bridge scaffold), or an older event may overwrite a newer one")
			return
		}
	}
	d.order = line{name: "order", value: "true"}
	d.unordered()
}

// fit finds the leaf for a field.
func (d *drafter) fit(ctx context.Context, f salesforce.Field, used map[string]bool) error {
	best, bestScore := -1, 0
	for i, l := range d.leaves {
		if used[l.at.String()] {
			continue
		}
		if score := likeness(f, l); score > bestScore && d.suits(f, l) {
			best, bestScore = i, score
		}
	}
	if best < 0 {
		d.unfilled(f)
		return nil
	}
	l := d.leaves[best]
	field, ok, err := d.rule(ctx, f, l)
	if err != nil || !ok {
		return err
	}
	if bestScore < sameName && field.decide == "" {
		field.decide = "is this the right value?"
	}
	used[l.at.String()] = true
	d.fields = append(d.fields, field)
	return nil
}

// unfilled leaves a field to a person.
func (d *drafter) unfilled(f salesforce.Field) {
	if f.Required() {
		d.open = append(d.open, f.Name+":   # decide: required ("+f.Type+"); no value was found for it")
		return
	}
	d.open = append(d.open, f.Name+":   # "+f.Type+"; no value was found for it")
}

// Scores of likeness.
const (
	sameName  = 4 // the same words
	sameWords = 2 // one has all the words of the other
)

// likeness says how well the name of a leaf fits a field's name or label.
func likeness(f salesforce.Field, l leaf) int {
	steps := l.at.steps
	names := [][]string{wordsOf(steps[len(steps)-1])}
	if len(steps) > 1 {
		names = append(names, wordsOf(steps[len(steps)-2]+"_"+steps[len(steps)-1]))
	}
	best := 0
	for _, of := range []string{strings.TrimSuffix(f.Name, "__c"), f.Label} {
		field := wordsOf(of)
		for _, words := range names {
			best = max(best, alike(field, words))
		}
	}
	return best
}

func alike(a, b []string) int {
	a, b = meaning(a), meaning(b)
	switch {
	case len(a) == 0 || len(b) == 0:
		return 0
	case slices.Equal(a, b):
		return sameName
	case within(a, b) || within(b, a):
		return sameWords
	}
	return 0
}

// meaning puts words that mean the same in one form and leaves out small ones.
func meaning(words []string) []string {
	same := map[string]string{"description": "note", "notes": "note", "comment": "note", "comments": "note", "memo": "note",
		"mail": "email", "quantity": "qty", "state": "status", "telephone": "phone", "mobile": "phone"}
	var out []string
	for _, w := range words {
		if slices.Contains([]string{"at", "on", "the", "of", "id", "date", "time"}, w) && len(words) > 1 {
			continue
		}
		if other, ok := same[w]; ok {
			w = other
		}
		out = append(out, w)
	}
	return out
}

func within(a, b []string) bool {
	return !slices.ContainsFunc(a, func(w string) bool { return !slices.Contains(b, w) })
}

// suits says whether the values of a leaf can go into a field.
func (d *drafter) suits(f salesforce.Field, l leaf) bool {
	s := guess(l, d.leaves)
	switch f.Type {
	case "string", "textarea", "email", "phone", "url":
		return s.kind != kindObjects && s.kind != kindList
	case "picklist":
		return s.kind == kindText || s.kind == kindNothing || s.kind == kindBoolean
	case "multipicklist":
		return s.kind == kindList || s.kind == kindText
	case "boolean":
		return s.kind == kindBoolean
	case "double", "currency", "percent", "int", "long":
		return s.kind == kindNumber || s.kind == kindWhole
	case "date", "datetime":
		return s.kind == kindDate && f.Type == "date" || s.kind == kindDatetime
	case "reference":
		return s.kind == kindText
	}
	return false
}

// plain is a name without case, suffix and what stands between words.
func plain(name string) string {
	return strings.Join(wordsOf(strings.TrimSuffix(name, "__c")), "")
}
