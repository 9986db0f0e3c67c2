package transform

import (
	"sfbridge/mapping/path"
)

// minorUnits writes an amount in the smallest unit of its currency as a decimal
// of the currency.
func (t *Transform) minorUnits(v any, scope path.Scope) (string, *Error) {
	whole, fault := integer(v)
	if fault != nil {
		return "", fault
	}
	code, fault := t.currencyCode(scope)
	if fault != nil {
		return "", fault
	}
	digits, ok := t.spec.Currencies.Digits(code)
	if !ok {
		return "", fail(code, "has a currency that ISO 4217 doesn't know")
	}
	return shift(whole, digits), nil
}

func (t *Transform) currencyCode(scope path.Scope) (string, *Error) {
	if t.currency.IsZero() {
		return t.spec.Currency, nil
	}
	v, _ := t.currency.Get(scope)
	if v == nil || v == "" {
		return "", &Error{Reason: "has no currency at " + t.currency.String()}
	}
	code, ok := v.(string)
	if !ok {
		return "", fail(v, "has a currency that isn't a code")
	}
	return code, nil
}
