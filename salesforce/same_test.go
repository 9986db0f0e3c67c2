package salesforce_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"

	"sfbridge/salesforce"
)

func TestSame(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name       string
		kind       string
		sent, read any
		want       bool
	}{
		{"Text", "string", "a", "a", true},
		{"TextCase", "string", "a", "A", false},
		{"TextTrimmed", "string", " a ", "a", true},
		{"EmptyIsNull", "string", "", nil, true},
		{"Cleared", "string", nil, "a", false},
		{"DateTime", "datetime", "2026-01-05T04:30:30.000Z", "2026-01-05T04:30:30.000+0000", true},
		{"OtherInstant", "datetime", "2026-01-05T04:30:31.000Z", "2026-01-05T04:30:30.000+0000", false},
		{"DateTimeInText", "string", "2026-01-05T04:30:30.000Z", "2026-01-05T04:30:30.000+0000", false},
		{"Number", "double", json.Number("12.50"), json.Number("12.5"), true},
		{"NumberExponent", "double", json.Number("100000000"), json.Number("1.0E8"), true},
		{"NumberDiffers", "double", json.Number("12.51"), json.Number("12.5"), false},
		{"NumberInText", "string", "1.0", "1", false},
		{"HugeExponent", "double", json.Number("1e999999999"), json.Number("2e999999999"), false},
		{"Checkbox", "boolean", nil, false, true},
		{"CheckboxSet", "boolean", true, true, true},
		{"CheckboxDiffers", "boolean", true, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tt.want, salesforce.Same(tt.kind, tt.sent, tt.read))
		})
	}
}
