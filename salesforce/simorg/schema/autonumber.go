package schema

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
)

var formatPart = regexp.MustCompile(`\{(0+|YYYY|YY|MM|DD)\}`)

func checkFormat(format string) error {
	if !strings.Contains(format, "{0") {
		return errors.New("must contain a number such as {0000}")
	}
	if rest := formatPart.ReplaceAllString(format, ""); strings.ContainsAny(rest, "{}") {
		return fmt.Errorf("%q holds an unknown placeholder", format)
	}
	return nil
}

// Number returns the value of an auto number field for the n-th record.
func (f *Field) Number(n int64, now time.Time) string {
	return formatPart.ReplaceAllStringFunc(f.Format, func(part string) string {
		switch part {
		case "{YYYY}":
			return now.Format("2006")
		case "{YY}":
			return now.Format("06")
		case "{MM}":
			return now.Format("01")
		case "{DD}":
			return now.Format("02")
		}
		return fmt.Sprintf("%0*d", len(part)-2, n)
	})
}
