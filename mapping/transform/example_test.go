package transform_test

import (
	"fmt"
	"testing"

	"sfbridge/mapping/path"
	"sfbridge/mapping/transform"
)

func Example() {
	event, _ := path.DecodeJSON([]byte(`{"amount":5000,"currency":"usd"}`))
	scope := path.Scope{Event: event}
	amount, _ := path.Parse("$.amount")
	source := transform.From(amount)
	cents, err := transform.Compile(transform.Spec{As: transform.MinorUnits, Currency: "$.currency"})
	if err != nil {
		fmt.Println(err)
		return
	}
	v, present, _ := source.Resolve(scope)
	out, send, _ := cents.Apply(v, present, scope)
	fmt.Println(out, send)

	_, err = transform.Compile(transform.Spec{As: "bool"})
	fmt.Println(err)
	// Output:
	// 50.00 true
	// as: "bool" isn't known: write boolean
}

func ExampleTransform_Apply() {
	paid, _ := transform.Compile(transform.Spec{As: transform.Datetime, Timezone: "Europe/Berlin"})
	for _, v := range []any{"2026-07-01 12:00:00", "2026-03-29 02:30:00", nil} {
		out, send, err := paid.Apply(v, true, path.Scope{})
		fmt.Println(out, send, err)
	}
	// Output:
	// 2026-07-01T10:00:00.000Z true <nil>
	// <nil> false is skipped by the clocks of Europe/Berlin: "2026-03-29 02:30:00"
	// <nil> true <nil>
}

func BenchmarkApply(b *testing.B) {
	for name, c := range map[string]struct {
		spec transform.Spec
		v    any
	}{
		"text":        {transform.Spec{As: transform.Text, Max: 255}, "a description of some length"},
		"minor_units": {transform.Spec{As: transform.MinorUnits, Currency: "EUR"}, num("5000")},
		"unix_s":      {transform.Spec{As: transform.Datetime, Format: "unix_s"}, num("1767225600")},
		"rfc3339":     {transform.Spec{As: transform.Datetime}, "2026-01-05T10:15:30.123+05:45"},
	} {
		tr, err := transform.Compile(c.spec)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := tr.Apply(c.v, true, path.Scope{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
