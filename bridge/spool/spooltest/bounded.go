package spooltest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// bounded: however many are asked for, what is given fits into memory; nothing is
// skipped by it, new or held already.
func bounded(t *testing.T, b bench) {
	var large []string
	for n := range 12 {
		large = append(large, strings.Repeat(fmt.Sprint(n%10), 1<<20))
	}
	b.put("B00", large...)
	var got []string
	for len(got) < len(large) {
		list := b.take("B00", all)
		require.NotEmpty(t, list)
		require.LessOrEqual(t, len(list), 5)
		require.Equal(t, list, b.take("B00", all), "the same again")
		got = append(got, texts(list)...)
		require.NoError(t, b.Done(t.Context(), "B00", ids(list)))
	}
	assert.True(t, slices.Equal(large, got), "all, in order")
	var many []string
	for n := range 150 {
		many = append(many, fmt.Sprint("small", n))
	}
	b.put("B00", many...)
	for range 2 {
		assert.Equal(t, many, texts(b.take("B00", 150)), "small ones all at once")
	}
}
