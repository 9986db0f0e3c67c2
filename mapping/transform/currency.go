package transform

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bojanz/currency"
)

// Currencies are the minor-unit digits of currencies: ISO 4217's, and those of
// a provider that differ from it. The zero Currencies is ISO 4217.
type Currencies struct {
	exceptions map[string]int
}

// maxDigits bounds exceptions; no currency or token has more.
const maxDigits = 18

// NewCurrencies takes the digits that differ from ISO 4217, by code in any
// case. Its error is [Problems], one for each bad entry.
func NewCurrencies(exceptions map[string]int) (Currencies, error) {
	c := Currencies{exceptions: make(map[string]int, len(exceptions))}
	var problems Problems
	for _, code := range slices.Sorted(maps.Keys(exceptions)) {
		upper := strings.ToUpper(code)
		_, twice := c.exceptions[upper]
		switch digits := exceptions[code]; {
		case !isCode(code):
			problems = append(problems, Problem{Key: code, What: "isn't a currency code", Fix: "write it like ISK"})
		case twice:
			problems = append(problems, Problem{Key: code, What: "stands there twice", Fix: "keep one; case doesn't matter"})
		case digits < 0 || digits > maxDigits:
			problems = append(problems, Problem{Key: code, What: fmt.Sprintf("can't have %d digits", digits),
				Fix: fmt.Sprintf("write a number from 0 to %d", maxDigits)})
		default:
			c.exceptions[upper] = digits
		}
	}
	if problems != nil {
		return Currencies{}, problems
	}
	return c, nil
}

func isCode(s string) bool {
	if len(s) < 3 || len(s) > 10 {
		return false
	}
	for _, c := range []byte(s) {
		if !('A' <= c && c <= 'Z' || 'a' <= c && c <= 'z' || '0' <= c && c <= '9') {
			return false
		}
	}
	return true
}

// Digits returns the minor-unit digits of a currency, by code in any case.
// Withdrawn currencies keep theirs. Precious metals, test and fund codes that
// ISO 4217 gives no minor unit are unknown.
func (c Currencies) Digits(code string) (digits int, ok bool) {
	if !isCode(code) {
		return 0, false
	}
	code = strings.ToUpper(code)
	if d, ok := c.exceptions[code]; ok {
		return d, true
	}
	if d, ok := currency.GetDigits(code); ok {
		return int(d), true
	}
	return withdrawn(code)
}

// withdrawn knows the currencies that ISO 4217 once listed with a minor unit
// and that the library has dropped.
func withdrawn(code string) (digits int, ok bool) {
	const (
		none = "ADP BEF BYB BYR ESP GRD ITL LUF MGF PTE ROL TPE TRL"
		two  = "AFA ANG ATS AYM AZM BGL BGN CSD CUC CYP DEM EEK FIM FRF GHC GWP HRK IEP LTL LVL MRO MTL MZM " +
			"NLG RUR SDD SIT SKK SLL SRG STD TMM USS VEB VEF YUM ZMK ZWD ZWL ZWN ZWR"
	)
	switch {
	case strings.Contains(none, code):
		return 0, true
	case strings.Contains(two, code):
		return 2, true
	}
	return 0, false
}
