package propose

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// kind is what the values of a leaf look like.
type kind string

const (
	kindText     kind = "text"
	kindNumber   kind = "number"
	kindWhole    kind = "whole number"
	kindBoolean  kind = "boolean"
	kindDate     kind = "date"
	kindDatetime kind = "date/time"
	kindList     kind = "list"
	kindObjects  kind = "list of objects"
	kindNothing  kind = "" // null in every sample
)

// shape is a guess at what a leaf holds.
type shape struct {
	kind   kind
	spec   []string // members of the field's rule
	decide string
}

// guess judges a leaf by its values and its name; all are the leaves beside it.
func guess(l leaf, all []leaf) shape {
	values := slices.DeleteFunc(slices.Clone(l.values), func(v any) bool { return v == nil || v == "" })
	switch {
	case len(values) == 0:
		return shape{kind: kindNothing}
	case every(values, isA[bool]):
		return shape{kind: kindBoolean, spec: []string{"as: boolean"}}
	case every(values, isA[json.Number]):
		return guessNumber(l, values, all)
	case every(values, isA[string]):
		return guessText(l, values)
	case every(values, isA[[]any]):
		return guessList(values)
	}
	return shape{kind: kindText, spec: []string{"as: text"}, decide: "the samples have values of several kinds"}
}

func every(values []any, is func(any) bool) bool {
	return !slices.ContainsFunc(values, func(v any) bool { return !is(v) })
}

func isA[T any](v any) bool { _, ok := v.(T); return ok }

func guessList(values []any) shape {
	for _, v := range values {
		for _, member := range v.([]any) {
			if _, object := member.(map[string]any); object {
				return shape{kind: kindObjects}
			}
		}
	}
	return shape{kind: kindList, spec: []string{"as: multipicklist"}, decide: "the members of a list, joined by ;"}
}

func isWhole(v any) bool { return !strings.ContainsAny(text(v), ".eE") }

// guessNumber tells times, ids, amounts and numbers apart.
func guessNumber(l leaf, values []any, all []leaf) shape {
	words := wordsOf(l.name())
	last := words[max(len(words)-1, 0):]
	whole := every(values, isWhole)
	switch {
	case whole && named(words, timeWords) && every(values, digits(9, 10)):
		return shape{kind: kindDatetime, spec: []string{"as: datetime", "format: unix_s"}, decide: "seconds since 1970?"}
	case whole && named(words, timeWords) && every(values, digits(12, 13)):
		return shape{kind: kindDatetime, spec: []string{"as: datetime", "format: unix_ms"}, decide: "milliseconds since 1970?"}
	case named(last, idWords):
		return shape{kind: kindText, spec: []string{"as: text"}}
	case whole && named(words, moneyWords):
		if at, ok := currencyOf(l, all); ok {
			return shape{kind: kindNumber, spec: []string{"as: minor_units", "currency: " + scalar(at)},
				decide: "as: minor_units for cents, as: integer for whole units"}
		}
		return shape{kind: kindWhole, spec: []string{"as: integer"}, decide: "an amount of which currency?"}
	case whole:
		return shape{kind: kindWhole, spec: []string{"as: integer"}}
	}
	return shape{kind: kindNumber, spec: []string{"as: number"}}
}

var (
	timeWords  = []string{"at", "on", "time", "timestamp", "date", "created", "updated", "modified", "expires", "due", "start", "end", "ts"}
	idWords    = []string{"id", "uuid", "guid"}
	moneyWords = []string{"amount", "total", "subtotal", "price", "fee", "tax", "cost", "balance", "paid", "discount"}
)

func named(words, known []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(known, w) })
}

func digits(least, most int) func(any) bool {
	return func(v any) bool { n := len(text(v)); return least <= n && n <= most }
}

// currencyOf finds the currency beside an amount, or beside what holds it.
func currencyOf(l leaf, all []leaf) (string, bool) {
	for up := len(l.at.steps) - 1; up >= 0; up-- {
		for _, name := range []string{"currency", "currency_code", "currencyCode"} {
			at := place{l.at.steps[:up]}.member(name).String()
			if slices.ContainsFunc(all, func(o leaf) bool { return o.at.String() == at }) {
				return at, true
			}
		}
	}
	return "", false
}

// guessText tells times and decimals from other text.
func guessText(l leaf, values []any) shape {
	words := wordsOf(l.name())
	switch {
	case every(values, parses(time.RFC3339)):
		return shape{kind: kindDatetime, spec: []string{"as: datetime"}}
	case every(values, parses(time.DateOnly)):
		return shape{kind: kindDate, spec: []string{"as: date"}}
	case named(words, moneyWords) && every(values, isDecimal):
		return shape{kind: kindNumber, spec: []string{"as: number"}}
	}
	return shape{kind: kindText}
}

func parses(layout string) func(any) bool {
	return func(v any) bool { _, err := time.Parse(layout, text(v)); return err == nil }
}

func isDecimal(v any) bool {
	var n json.Number
	return json.Unmarshal([]byte(text(v)), &n) == nil
}
