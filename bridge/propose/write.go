package propose

import (
	"fmt"
	"slices"
	"strings"

	"sfbridge/mapping/path"
)

// Head writes what stands before the routes. Required are the parts of the
// identity ("id", "type") that the provider's preset leaves to the mapping;
// they, the object and the order are guessed from a payload then.
func Head(provider string, required []string, payload any) string {
	var b strings.Builder
	fmt.Fprintf(&b, "source: %s   # decide: the last part of POST /webhooks/%s\nprovider: %s\n", provider, provider, provider)
	fmt.Fprintf(&b, "secrets: [\"${%s_SECRET}\"]   # decide: where the secret comes from\n", strings.ToUpper(strings.ReplaceAll(provider, "-", "_")))
	if len(required) == 0 {
		return b.String()
	}
	b.WriteString("event:\n")
	id := first(payload, "id", "event_id", "eventId", "uuid", "webhook_id")
	for _, part := range required {
		at, decide := id, "what tells this event from all others, the same when it is sent again"
		if part == "type" {
			at, decide = first(payload, "type", "event", "event_type", "eventType", "topic", "action", "name"), "what happened"
		}
		fmt.Fprintf(&b, "  %s: %s   # decide: %s\n", part, scalar(at), decide)
	}
	if at, ok := objectID(payload, id); ok {
		fmt.Fprintf(&b, "  object: %s   # decide: the provider's object that the event is about\n", scalar(at))
	}
	if order, ok := orderOf(payload); ok {
		fmt.Fprintf(&b, "  order: %s   # decide: what orders the events of one object\n", order)
	}
	return b.String()
}

// first is the first of the members that has a value, else the first of all.
func first(payload any, names ...string) string {
	for _, name := range names {
		if v, ok := (place{}).member(name).in(payload); ok {
			if s, ok := path.Text(v); ok && s != "" {
				return place{}.member(name).String()
			}
		}
	}
	return place{}.member(names[0]).String()
}

// objectID finds an id inside the payload that is not the event's own.
func objectID(payload any, own string) (string, bool) {
	leaves := map[string]*leaf{}
	collect(payload, place{}, maxDepth, leaves)
	var found []place
	for key, l := range leaves {
		if key != own && len(l.at.steps) > 1 && l.name() == "id" && text(l.values[0]) != "" {
			found = append(found, l.at)
		}
	}
	if len(found) == 0 {
		return "", false
	}
	return slices.MinFunc(found, func(a, b place) int {
		if byDepth := len(a.steps) - len(b.steps); byDepth != 0 {
			return byDepth
		}
		return strings.Compare(a.String(), b.String())
	}).String(), true
}

// orderOf finds the time of the event.
func orderOf(payload any) (string, bool) {
	for _, name := range []string{"created", "created_at", "createdAt", "updated_at", "updatedAt", "occurred_at", "timestamp", "time", "date"} {
		at := place{}.member(name)
		v, ok := at.in(payload)
		if !ok {
			continue
		}
		s := guess(leaf{at: at, values: []any{v}}, nil)
		if s.kind != kindDatetime {
			continue
		}
		as := "rfc3339"
		if len(s.spec) > 1 {
			as = strings.TrimPrefix(s.spec[1], "format: ")
		}
		return "{from: " + scalar(at.String()) + ", as: " + as + "}", true
	}
	return "", false
}

// write puts the draft together.
func (d *drafter) write() string {
	var b strings.Builder
	b.WriteString("# A first draft. Places where a person must decide are marked \"decide:\".\n")
	b.WriteString(d.cfg.Head)
	types := d.types()
	for i, t := range types {
		types[i] = scalar(strings.NewReplacer("${", "?{", `\`, `\\`, "*", `\*`, "?", `\?`).Replace(t))
	}
	fmt.Fprintf(&b, "unmatched: review   # decide: ignore, if the provider sends more kinds of event than are wanted\nroutes:\n  - name: %s\n", scalar(routeName(d.cfg.Object)))
	if types[0] != `""` {
		fmt.Fprintf(&b, "    when: {type: [%s]}   # decide: all types that write this record; a route for each kind that sets other fields\n", strings.Join(types, ", "))
	}
	fmt.Fprintf(&b, "    records:\n      - object: %s\n", d.cfg.Object)
	d.member(&b, "        ", line{"key", fmt.Sprintf("{field: %s, from: %s}", d.key.name, scalar(d.keyPath())), d.key.decide})
	if d.order.name != "" {
		d.member(&b, "        ", d.order)
	}
	b.WriteString("        fields:\n")
	if len(d.fields) == 0 {
		d.fields = append(d.fields, line{"Name", scalar(d.keyPath()), "nothing in the samples fits a field of " + d.cfg.Object})
	}
	slices.SortFunc(d.fields, func(x, y line) int { return strings.Compare(x.name, y.name) })
	for _, f := range d.fields {
		d.member(&b, "          ", f)
	}
	for _, comment := range d.open {
		fmt.Fprintf(&b, "          # %s\n", oneLine(comment))
	}
	for line := range strings.Lines(b.String()) {
		d.decided(line)
	}
	return b.String()
}

// member writes one line, with its decision as a comment.
func (d *drafter) member(b *strings.Builder, indent string, l line) {
	fmt.Fprintf(b, "%s%s: %s", indent, l.name, l.value)
	if l.decide != "" {
		b.WriteString("   # decide: " + oneLine(l.decide))
	}
	b.WriteByte('\n')
}

// decided keeps the decision that a line asks for.
func (d *drafter) decided(line string) {
	what, decide, ok := strings.Cut(strings.TrimLeft(line, " #"), "# decide: ")
	if !ok {
		return
	}
	name, _, _ := strings.Cut(strings.TrimSpace(what), ":")
	d.decisions = append(d.decisions, oneLine(name+": "+strings.TrimSpace(decide)))
}

// routeName names the route after the object.
func routeName(object string) string {
	if name := strings.Join(wordsOf(strings.TrimSuffix(object, "__c")), "-"); name != "" {
		return name
	}
	return "records"
}

// oneLine keeps foreign text from ending a comment.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == 0x85 || r == 0x2028 || r == 0x2029 {
			return ' '
		}
		return r
	}, text)
}
