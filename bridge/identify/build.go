package identify

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"sfbridge/bridge/event"
	"sfbridge/mapping/path"
	"sfbridge/mapping/view"
)

const hashedKey = "sha256:"

// key is the key of an event, or why it has none.
func (i *Identifier) key(e *element, d *Document) (string, error) {
	scope, identity := d.inner(*e), i.identity
	key, present, err := firstOf(identity.ID, scope)
	if !present {
		key, present, err = i.hashedKey(e, scope, err)
	}
	switch {
	case !present && err != nil:
		return "", err
	case !present:
		return "", errors.New("its value is missing or empty")
	case !e.exact() && strings.ContainsRune(key, utf8.RuneError):
		// The id itself may be what can't be read: the bytes stand for it.
		return hashedKey + event.HashBytes(e.raw), nil
	case strings.ContainsFunc(key, unicode.IsControl):
		sum := sha256.Sum256([]byte(key)) // a text field would not keep it as it is
		key = hashedKey + hex.EncodeToString(sum[:])
	}
	if identity.PerDelivery {
		key += ":" + strconv.FormatInt(d.delivery.ReceivedAt.UnixMilli(), 10)
	}
	return key, nil
}

// shortHash is how much of the hash tells apart events whose named fields may
// be equal.
const shortHash = 16

// hashedKey is the key of an event that the hash of its content is part of.
func (i *Identifier) hashedKey(e *element, scope path.Scope, problem error) (string, bool, error) {
	if len(i.identity.Hashed) == 0 && !i.identity.ByHash {
		return "", false, problem
	}
	hash, err := i.hash(e)
	if err != nil && hash == "" {
		return "", false, err
	}
	lead, present, err := firstOf(i.identity.Hashed, scope)
	switch {
	case present:
		return lead + ":" + hash[:shortHash], true, nil
	case i.identity.ByHash:
		return hashedKey + hash, true, nil
	}
	return "", false, errors.Join(problem, err)
}

// build makes the event of an element. Without a key it stands under its hash.
func (i *Identifier) build(e *element, d *Document, context []byte, key string) Identified {
	scope := d.inner(*e)
	found := Identified{Value: e.value, Scope: d.scope(*e)}
	review := func(code, reason string) {
		if found.Review == nil {
			found.Review = &Review{code, reason}
		}
	}
	hash, err := i.hash(e)
	if err != nil {
		review(event.CodePayload, err.Error())
	}
	if key == "" {
		key = hashedKey + hash
	}
	object, orders, err := i.identity.entity(scope)
	if err != nil {
		review(event.CodeField, "the event's object: "+err.Error())
	}
	at, err := place(orders, scope)
	if err != nil {
		review(event.CodeOrder, "the event's order: "+err.Error())
	}
	found.Event = event.Event{
		ID: event.ID(i.source, key), Source: i.source, Type: i.label(i.identity.types(scope), scope),
		DeliveryID: i.label(i.identity.Delivery, scope), ObjectID: event.ShapeObjectID(storable(object)),
		Payload: e.raw, Hash: hash, Context: context,
		Order: at.order, SourceTime: sourceTime(at, d.delivery.ReceivedAt), ReceivedAt: d.delivery.ReceivedAt,
	}
	return found
}

// hash is Payload_Hash__c. What is no JSON counts by its bytes; so do bytes
// that are no text in UTF-8, and somebody has to look at them.
func (i *Identifier) hash(e *element) (string, error) {
	if e.hash == "" {
		e.hash, e.unsound = i.hashOf(e)
	}
	return e.hash, e.unsound
}

func (i *Identifier) hashOf(e *element) (string, error) {
	if !e.exact() {
		return event.HashBytes(e.raw), errors.New("the payload is not valid UTF-8")
	}
	if e.kind != view.JSON {
		return event.HashBytes(e.raw), nil
	}
	hash, err := event.HashJSON(e.value, i.volatile)
	if err != nil {
		return event.HashBytes(e.raw), fmt.Errorf("the payload can't be hashed: %w", err)
	}
	return hash, nil
}

// label is a value for people and routes. One that has no text form is as if it
// were missing.
func (i *Identifier) label(templates []path.Template, scope path.Scope) string {
	text, _, _ := firstOf(templates, scope)
	return event.Cut(storable(strings.TrimSpace(text)), event.TextLimit)
}

// storable writes as %XX what a text field would not keep: control characters,
// and white space at the ends.
func storable(s string) string {
	trimmed := strings.TrimSpace(s)
	if len(trimmed) == len(s) && !strings.ContainsFunc(s, unicode.IsControl) {
		return s
	}
	start := strings.Index(s, trimmed)
	var b strings.Builder
	for at, r := range s {
		if !unicode.IsControl(r) && at >= start && at < start+len(trimmed) {
			b.WriteRune(r)
			continue
		}
		for _, c := range []byte(string(r)) {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// The years that a DateTime of Salesforce can hold.
const firstYear, lastYear = 1700, 4000

func sourceTime(at placed, received time.Time) time.Time {
	if at.order == nil || !at.isTime {
		return received
	}
	t := time.UnixMilli(*at.order).UTC()
	if t.Year() < firstYear || t.Year() > lastYear {
		return received
	}
	return t
}
