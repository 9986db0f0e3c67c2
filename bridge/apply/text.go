package apply

import (
	"encoding/json"
	"fmt"

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
