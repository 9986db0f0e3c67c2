package transform_test

import (
	"testing"

	"github.com/bojanz/currency"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/mapping/path"
	"sfbridge/mapping/transform"
)

// amount treats the member amount of an event in the currency beside it.
func amount(t *testing.T, event string, exceptions map[string]int) (any, error) {
	t.Helper()
	c, err := transform.NewCurrencies(exceptions)
	require.NoError(t, err)
	e := decode(t, event)
	v, present := e.(map[string]any)["amount"]
	tr := compile(t, spec{As: transform.MinorUnits, Currency: "$.currency", Currencies: c})
	out, _, err := tr.Apply(v, present, path.Scope{Event: e})
	return out, err
}

func TestC06_minor_units(t *testing.T) {
	t.Parallel()
	stripe := map[string]int{"isk": 2, "UGX": 2}
	for _, c := range []struct {
		event      string
		exceptions map[string]int
		want, err  string
	}{
		{`{"amount":5000,"currency":"jpy"}`, nil, "5000", ""},
		{`{"amount":5000,"currency":"USD"}`, nil, "50.00", ""},
		{`{"amount":5000,"currency":"kwd"}`, nil, "5.000", ""},
		{`{"amount":5000,"currency":"isk"}`, nil, "5000", ""},
		{`{"amount":5000,"currency":"isk"}`, stripe, "50.00", ""},
		{`{"amount":5000,"currency":"UGX"}`, stripe, "50.00", ""},
		{`{"amount":5000,"currency":"CLF"}`, nil, "0.5000", ""},
		{`{"amount":5,"currency":"eur"}`, nil, "0.05", ""},
		{`{"amount":0,"currency":"eur"}`, nil, "0.00", ""},
		{`{"amount":-0,"currency":"eur"}`, nil, "0.00", ""},
		{`{"amount":-5,"currency":"eur"}`, nil, "-0.05", ""},
		{`{"amount":-12345,"currency":"eur"}`, nil, "-123.45", ""},
		{`{"amount":"5000","currency":"eur"}`, nil, "50.00", ""},
		{`{"amount":5e3,"currency":"eur"}`, nil, "50.00", ""},
		{`{"amount":50.0,"currency":"eur"}`, nil, "0.50", ""},
		{`{"amount":820982911946154508,"currency":"eur"}`, nil, "8209829119461545.08", ""},
		{`{"amount":1,"currency":"ITL"}`, nil, "1", ""},
		{`{"amount":100,"currency":"dem"}`, nil, "1.00", ""},
		{`{"amount":100,"currency":"HRK"}`, nil, "1.00", ""},
		{`{"amount":5000,"currency":"zzz"}`, nil, "", `has a currency that ISO 4217 doesn't know: "zzz"`},
		{`{"amount":5000,"currency":"XAU"}`, nil, "", `has a currency that ISO 4217 doesn't know: "XAU"`},
		{`{"amount":5000,"currency":"XXX"}`, nil, "", `has a currency that ISO 4217 doesn't know: "XXX"`},
		{`{"amount":5000,"currency":"EF BY"}`, nil, "", `has a currency that ISO 4217 doesn't know: "EF BY"`},
		{`{"amount":5000,"currency":" eur"}`, nil, "", `has a currency that ISO 4217 doesn't know: " eur"`},
		{`{"amount":5000}`, nil, "", "has no currency at $.currency"},
		{`{"amount":5000,"currency":null}`, nil, "", "has no currency at $.currency"},
		{`{"amount":5000,"currency":""}`, nil, "", "has no currency at $.currency"},
		{`{"amount":5000,"currency":978}`, nil, "", "has a currency that isn't a code: 978"},
		{`{"amount":50.5,"currency":"eur"}`, nil, "", "has a fraction and isn't a whole number: 50.5"},
		{`{"amount":"x","currency":"eur"}`, nil, "", `isn't a number: "x"`},
	} {
		t.Run(c.event, func(t *testing.T) {
			t.Parallel()
			got, err := amount(t, c.event, c.exceptions)
			if c.err != "" {
				require.EqualError(t, err, c.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, num(c.want), got)
		})
	}
}

func TestMinorUnits_in_a_fixed_currency(t *testing.T) {
	t.Parallel()
	check(t, spec{As: transform.MinorUnits, Currency: "eur"}, []one{{in: `150`, want: num("1.50")}, {in: `null`}})
}

func TestMinorUnits_names_its_path(t *testing.T) {
	t.Parallel()
	tr := compile(t, spec{As: transform.MinorUnits, Currency: "header.X-Currency"})
	require.Len(t, tr.Paths(), 1)
	assert.Equal(t, "header.X-Currency", tr.Paths()[0].String())
	assert.Empty(t, compile(t, spec{}).Paths())
}

// The digits come from ISO 4217 as other software has them: the library's
// current list, and withdrawn currencies.
func TestDigits(t *testing.T) {
	t.Parallel()
	var c transform.Currencies
	for digits, codes := range map[int][]string{
		0: {"BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "UYI", "VND", "VUV", "XAF", "XOF", "XPF",
			"ADP", "BEF", "BYB", "BYR", "ESP", "GRD", "ITL", "LUF", "MGF", "PTE", "ROL", "TPE", "TRL"},
		2: {"USD", "EUR", "MGA", "MRU", "BGN", "HRK", "SLL", "ZWL", "VEF", "CUC", "ANG", "LTL", "LVL", "EEK", "DEM", "FRF", "NLG",
			"ATS", "STD", "MRO", "ZMK", "TMM", "USS", "RUR", "YUM"},
		3: {"BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"},
		4: {"CLF", "UYW"},
	} {
		for _, code := range codes {
			got, ok := c.Digits(code)
			assert.True(t, ok, code)
			assert.Equal(t, digits, got, code)
		}
	}
	for _, code := range currency.GetCurrencyCodes() {
		_, ok := c.Digits(code)
		assert.True(t, ok, code)
	}
	for _, code := range []string{"", "E", "EU", "XAG", "XTS", "XXX", "XDR", "ZZZ", "EURO", "A B"} {
		_, ok := c.Digits(code)
		assert.False(t, ok, code)
	}
}

func TestNewCurrencies(t *testing.T) {
	t.Parallel()
	c, err := transform.NewCurrencies(map[string]int{"usdc": 6})
	require.NoError(t, err)
	got, ok := c.Digits("USDC")
	assert.True(t, ok)
	assert.Equal(t, 6, got)

	_, err = transform.NewCurrencies(map[string]int{"I K": 2, "ISK": -1, "JPY": 2, "jpy": 2, "KWD": 19})
	var problems transform.Problems
	require.ErrorAs(t, err, &problems)
	assert.Equal(t, `I K: isn't a currency code: write it like ISK
ISK: can't have -1 digits: write a number from 0 to 18
KWD: can't have 19 digits: write a number from 0 to 18
jpy: stands there twice: keep one; case doesn't matter`, err.Error())
}
