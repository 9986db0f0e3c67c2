package transform

// Currencies are the minor-unit digits of currencies: ISO 4217's, and those of
// a provider that differ from it. The zero Currencies is ISO 4217.
type Currencies struct {
	exceptions map[string]int
}

// NewCurrencies takes the digits that differ from ISO 4217, by code in any
// case. Its error is [Problems], one for each bad entry.
func NewCurrencies(exceptions map[string]int) (Currencies, error) {
	return Currencies{exceptions: exceptions}, nil
}

// Digits returns the minor-unit digits of a currency, by code in any case.
func (c Currencies) Digits(code string) (digits int, ok bool) { return 0, false }
