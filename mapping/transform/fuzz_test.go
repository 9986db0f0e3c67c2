package transform_test

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/mapping/path"
	"sfbridge/mapping/transform"
)

// FuzzApply holds every kind to its promise: a value that can be sent, or an
// error with a reason, and the same each time.
func FuzzApply(f *testing.F) {
	for _, v := range []string{`"2026-01-05T10:15:30.123456789+05:45"`, `"2026-03-29 02:30:00"`, `1767225600`, `1e3`, `-0.00`, `"N0100"`,
		`["red","red"]`, `"\ud83d"`, `"été🚀"`, `{"b":1,"a":[null]}`, `"False"`, `null`, `""`, `1e-999999999999`, `820982911946154508`} {
		f.Add(v, "2006-01-02 15:04:05.000 Z07:00", "eur", 3)
	}
	kinds := []transform.As{transform.AsIs, transform.Text, transform.Number, transform.Integer, transform.Boolean, transform.Datetime,
		transform.Date, transform.MinorUnits, transform.MultiPicklist, transform.JSON}
	f.Fuzz(func(t *testing.T, value, format, currency string, limit int) {
		v, err := path.DecodeJSON([]byte(value))
		if err != nil {
			return
		}
		for _, as := range kinds {
			for _, s := range []spec{{As: as}, {As: as, Trim: true, Required: true}, {As: as, Max: limit}, {As: as, Format: format},
				{As: as, Timezone: "Europe/Berlin"}, {As: as, Currency: currency}} {
				tr, err := transform.Compile(s)
				if err != nil {
					continue
				}
				out, send, err := tr.Apply(v, true, path.Scope{Event: v})
				again, _, _ := tr.Apply(v, true, path.Scope{Event: v})
				assert.Equal(t, out, again)
				if err != nil {
					var fault *transform.Error
					require.ErrorAs(t, err, &fault)
					assert.NotEmpty(t, fault.Reason)
					assert.LessOrEqual(t, utf8.RuneCountInString(fault.Value), 64)
					assert.False(t, send)
					continue
				}
				sendable(t, out)
			}
		}
	})
}

func sendable(t *testing.T, out any) {
	t.Helper()
	switch out := out.(type) {
	case nil, bool:
	case json.Number:
		assert.True(t, path.IsNumber(string(out)))
	case string:
		assert.NotEmpty(t, out)
		assert.True(t, utf8.ValidString(out))
	default:
		assert.Fail(t, "not sendable", "%T", out)
	}
}
