package apply

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"

	"sfbridge/salesforce"
)

// textOf is a value's text form; null is "".
func textOf(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	default:
		return fmt.Sprint(v)
	}
}

// wholeNumber reads an order value, however Salesforce writes it (17, 17.0,
// 1.7E1); nil for null and for what is no whole number.
func wholeNumber(v any) *int64 {
	number, ok := v.(json.Number)
	if !ok {
		return nil
	}
	n, ok := salesforce.Record{"n": number}.Int("n")
	if !ok {
		return nil
	}
	return &n
}

// sameValue compares a value to send with one that was read. Salesforce has
// forms of its own for date-times and numbers, and trims text.
func sameValue(kind string, sent, read any) bool {
	a, b := strings.TrimSpace(textOf(sent)), strings.TrimSpace(textOf(read))
	if a == b {
		return true
	}
	switch {
	case kind == "datetime":
		t, errA := salesforce.ParseTime(a)
		u, errB := salesforce.ParseTime(b)
		return errA == nil && errB == nil && t.Equal(u)
	case isNumber(kind):
		x, okA := exact(a)
		y, okB := exact(b)
		return okA && okB && x.Cmp(y) == 0
	case kind == "boolean":
		return a == "" && b == "false"
	}
	return false
}

func isNumber(kind string) bool {
	switch kind {
	case "double", "currency", "percent", "int", "long":
		return true
	}
	return false
}

// exact reads a decimal; exponents beyond what a field can hold are no numbers
// here, so that a short text can't ask for much memory.
func exact(s string) (*big.Rat, bool) {
	if v, err := json.Number(s).Float64(); err != nil || v > 1e19 || v < -1e19 {
		return nil, false
	}
	if i := strings.IndexAny(s, "eE"); len(s) > 64 || i >= 0 && len(s)-i > 4 {
		return nil, false
	}
	return new(big.Rat).SetString(s)
}
