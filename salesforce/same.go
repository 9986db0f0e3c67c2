package salesforce

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
)

// Same compares a value to send with one that was read from a field of a type
// as Describe names it. Salesforce has forms of its own for date-times and
// numbers, and trims text.
func Same(kind string, sent, read any) bool {
	a, b := strings.TrimSpace(valueText(sent)), strings.TrimSpace(valueText(read))
	if a == b {
		return true
	}
	switch {
	case kind == "datetime":
		t, errA := ParseTime(a)
		u, errB := ParseTime(b)
		return errA == nil && errB == nil && t.Equal(u)
	case IsNumber(kind):
		x, okA := Exact(a)
		y, okB := Exact(b)
		return okA && okB && x.Cmp(y) == 0
	case kind == "boolean":
		return a == "" && b == "false"
	}
	return false
}

// IsNumber says whether fields of the type hold numbers.
func IsNumber(kind string) bool {
	switch kind {
	case "double", "currency", "percent", "int", "long":
		return true
	}
	return false
}

// Exact reads a decimal; exponents beyond what a field can hold are no numbers
// here, so that a short text can't ask for much memory.
func Exact(s string) (*big.Rat, bool) {
	if v, err := json.Number(s).Float64(); err != nil || v > 1e19 || v < -1e19 {
		return nil, false
	}
	if i := strings.IndexAny(s, "eE"); len(s) > 64 || i >= 0 && len(s)-i > 4 {
		return nil, false
	}
	return new(big.Rat).SetString(s)
}

// valueText is a value's text form; null is "".
func valueText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	return fmt.Sprint(v)
}
