package operate

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"

	"sfbridge/bridge/event"
	"sfbridge/salesforce/soql"
)

// Change is one difference between the two versions of an event.
type Change struct {
	Path string `json:"path"`
	Kind string `json:"kind"` // changed, added or removed
	From any    `json:"from"` // in the version that was accepted first
	To   any    `json:"to"`   // in the conflict row
}

// maxChanges bounds the changes that are told; all are counted.
const maxChanges = 200

// changes gathers differences.
type changes struct {
	told []Change
	cut  int // how many more there are
}

func (c *changes) add(d Change) {
	if len(c.told) == maxChanges {
		c.cut++
		return
	}
	c.told = append(c.told, d)
}

// conflicts reads the conflict rows of the event's id, without itself.
func (d *Desk) conflicts(ctx context.Context, e *event.Event) ([]*event.Event, error) {
	list, err := d.read(ctx, soql.Select(event.ListFields()...).From(event.Object).
		Where(soql.Eq(event.FieldConflictOf, cmp.Or(e.ConflictOf, e.RowID))).OrderBy(event.FieldReceivedAt, "Id"))
	return slices.DeleteFunc(list, func(c *event.Event) bool { return c.RowID == e.RowID }), err
}

// compare reads the event that a conflict row conflicts with, and tells what
// differs. Either is left out when it is gone or cleared.
func (d *Desk) compare(ctx context.Context, s *Story) error {
	if s.Event.ConflictOf == "" {
		return nil
	}
	events, err := d.read(ctx, soql.Select(event.AllFields()...).From(event.Object).Where(soql.Eq("Id", s.Event.ConflictOf)))
	if err != nil || len(events) == 0 {
		return err
	}
	s.Original = events[0]
	if err := d.fill(ctx, s.Original); err != nil {
		return err
	}
	if len(s.Event.Payload) > 0 && len(s.Original.Payload) > 0 {
		s.Changes, s.ChangesCut = Diff(s.Original.Payload, s.Event.Payload)
	}
	return nil
}

// Diff tells what differs between two payloads: member by member when both are
// JSON, else as a whole. Of many differences the first are told, and how many
// more there are.
func Diff(from, to []byte) (told []Change, cut int) {
	a, errA := decode(from)
	b, errB := decode(to)
	found := &changes{told: []Change{}}
	switch {
	case errA == nil && errB == nil:
		found.walk("$", a, b)
	case !bytes.Equal(from, to):
		found.add(Change{Path: "$", Kind: "changed", From: string(from), To: string(to)})
	}
	return found.told, found.cut
}

func decode(raw []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("more than one JSON value")
	}
	return v, nil
}

func (c *changes) walk(path string, a, b any) {
	switch from := a.(type) {
	case map[string]any:
		if to, ok := b.(map[string]any); ok {
			c.walkObject(path, from, to)
			return
		}
	case []any:
		if to, ok := b.([]any); ok {
			c.walkArray(path, from, to)
			return
		}
	default:
		switch b.(type) {
		case map[string]any, []any:
		default:
			if a == b {
				return
			}
		}
	}
	c.add(Change{Path: path, Kind: "changed", From: a, To: b})
}

func (c *changes) walkObject(path string, from, to map[string]any) {
	names := map[string]bool{}
	for name := range from {
		names[name] = true
	}
	for name := range to {
		names[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		a, before := from[name]
		b, after := to[name]
		c.differ(path+member(name), presence{a, before}, presence{b, after})
	}
}

func (c *changes) walkArray(path string, from, to []any) {
	at := func(list []any, i int) presence {
		if i < len(list) {
			return presence{list[i], true}
		}
		return presence{}
	}
	for i := range max(len(from), len(to)) {
		c.differ(path+"["+strconv.Itoa(i)+"]", at(from, i), at(to, i))
	}
}

// presence is a value that may be missing.
type presence struct {
	value any
	there bool
}

func (c *changes) differ(path string, a, b presence) {
	switch {
	case a.there && b.there:
		c.walk(path, a.value, b.value)
	case a.there:
		c.add(Change{Path: path, Kind: "removed", From: a.value})
	default:
		c.add(Change{Path: path, Kind: "added", To: b.value})
	}
}

var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// member is a step of a path, as mappings write it.
func member(name string) string {
	if plainName.MatchString(name) {
		return "." + name
	}
	quoted, _ := json.Marshal(name) // text always can
	return "[" + string(quoted) + "]"
}
