package operate

import (
	"bytes"
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

// maxChanges bounds the changes that are told; two versions with more of them
// are compared in vain.
const maxChanges = 200

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
		s.Changes = Diff(s.Original.Payload, s.Event.Payload)
	}
	return nil
}

// Diff tells what differs between two payloads: member by member when both are
// JSON, else as a whole.
func Diff(from, to []byte) []Change {
	a, errA := decode(from)
	b, errB := decode(to)
	changes := []Change{}
	if errA != nil || errB != nil {
		if !bytes.Equal(from, to) {
			changes = append(changes, Change{Path: "$", Kind: "changed", From: string(from), To: string(to)})
		}
		return changes
	}
	walk("$", a, b, &changes)
	return changes
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

func walk(path string, a, b any, changes *[]Change) {
	if len(*changes) >= maxChanges {
		return
	}
	switch from := a.(type) {
	case map[string]any:
		if to, ok := b.(map[string]any); ok {
			walkObject(path, from, to, changes)
			return
		}
	case []any:
		if to, ok := b.([]any); ok {
			walkArray(path, from, to, changes)
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
	*changes = append(*changes, Change{Path: path, Kind: "changed", From: a, To: b})
}

func walkObject(path string, from, to map[string]any, changes *[]Change) {
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
		differ(path+member(name), presence{a, before}, presence{b, after}, changes)
	}
}

func walkArray(path string, from, to []any, changes *[]Change) {
	at := func(list []any, i int) presence {
		if i < len(list) {
			return presence{list[i], true}
		}
		return presence{}
	}
	for i := range max(len(from), len(to)) {
		differ(path+"["+strconv.Itoa(i)+"]", at(from, i), at(to, i), changes)
	}
}

// presence is a value that may be missing.
type presence struct {
	value any
	there bool
}

func differ(path string, a, b presence, changes *[]Change) {
	switch {
	case a.there && b.there:
		walk(path, a.value, b.value, changes)
	case len(*changes) >= maxChanges:
	case a.there:
		*changes = append(*changes, Change{Path: path, Kind: "removed", From: a.value})
	default:
		*changes = append(*changes, Change{Path: path, Kind: "added", To: b.value})
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
