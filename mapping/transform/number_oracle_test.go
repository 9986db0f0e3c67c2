package transform_test

import "github.com/shopspring/decimal"

// sameNumber compares two numbers by value, with another implementation.
func sameNumber(a, b string) bool {
	x, errX := decimal.NewFromString(a)
	y, errY := decimal.NewFromString(b)
	return errX == nil && errY == nil && x.Equal(y)
}
