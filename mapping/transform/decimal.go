package transform

import (
	"encoding/json"
	"strconv"
	"strings"

	"sfbridge/mapping/path"
)

// maxNumberDigits is the most digits a number may have once it is written out.
const maxNumberDigits = 40

// decimal writes a number out: no exponent, trailing zeros kept, -0 as 0. It
// takes numbers and text that JSON would read as one.
func decimal(v any) (string, *Error) {
	s, ok := numeral(v)
	if !ok {
		return "", fail(v, "isn't a number")
	}
	mantissa, exponent := s, 0
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		mantissa = s[:i]
		exponent = clampedExponent(s[i+1:])
	}
	mantissa, negative := strings.CutPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	out, ok := writeOut(whole+fraction, len(whole)+exponent)
	if !ok {
		return "", fail(v, "has more than "+strconv.Itoa(maxNumberDigits)+" digits")
	}
	if negative && strings.Trim(out, "0.") != "" {
		out = "-" + out
	}
	return out, nil
}

func numeral(v any) (string, bool) {
	switch v := v.(type) {
	case json.Number:
		return string(v), path.IsNumber(string(v))
	case string:
		return v, path.IsNumber(v)
	}
	return "", false
}

// clampedExponent reads an exponent; one beyond any length a payload can have
// is as good as that length.
func clampedExponent(s string) int {
	const beyond = 1 << 30
	n, err := strconv.Atoi(s)
	switch {
	case err == nil && -beyond < n && n < beyond:
		return n
	case strings.HasPrefix(s, "-"):
		return -beyond
	}
	return beyond
}

// writeOut sets the decimal point of digits before the one at point, which may
// lie outside them. It fails if that takes too many digits.
func writeOut(digits string, point int) (string, bool) {
	if strings.Trim(digits, "0") == "" {
		point = min(point, len(digits))
	}
	for point > 1 && digits[0] == '0' {
		digits, point = digits[1:], point-1
	}
	before, after := max(1-point, 0), max(point-len(digits), 0)
	if before+len(digits)+after > maxNumberDigits {
		return "", false
	}
	digits = strings.Repeat("0", before) + digits + strings.Repeat("0", after)
	point += before
	if point == len(digits) {
		return digits, true
	}
	return digits[:point] + "." + digits[point:], true
}

// integer writes a number out that has no fraction but zeros.
func integer(v any) (string, *Error) {
	s, err := decimal(v)
	if err != nil {
		return "", err
	}
	whole, fraction, _ := strings.Cut(s, ".")
	if strings.Trim(fraction, "0") != "" {
		return "", fail(v, "has a fraction and isn't a whole number")
	}
	return whole, nil
}

// shift moves the decimal point of a whole number to the left.
func shift(whole string, digits int) string {
	if digits == 0 {
		return whole
	}
	whole, negative := strings.CutPrefix(whole, "-")
	if short := digits + 1 - len(whole); short > 0 {
		whole = strings.Repeat("0", short) + whole
	}
	out := whole[:len(whole)-digits] + "." + whole[len(whole)-digits:]
	if negative {
		return "-" + out
	}
	return out
}
