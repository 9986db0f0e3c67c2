package reconcile

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func FuzzLinked(f *testing.F) {
	f.Add(`<https://api.example.com/charges?page=2>; rel="next"`)
	f.Add(`<https://api.github.com/repositories/1300192/issues?page=2>; rel="prev", <https://api.github.com/repositories/1300192/issues?page=4>; rel="next"`)
	f.Add(`<a>; rel=next <b>`)
	f.Add(`<<>>;rel=next`)
	f.Add(``)
	f.Fuzz(func(t *testing.T, header string) {
		target := linked([]string{header})
		if target != "" {
			assert.True(t, strings.Contains(header, "<"+target+">"), "it is one of the header's targets")
			assert.Contains(t, strings.ToLower(header), "rel")
		}
	})
}
