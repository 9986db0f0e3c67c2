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
	mixed(t, b)
	var many []string
	for n := range 150 {
		many = append(many, fmt.Sprint("small", n))
	}
	b.put("B00", many...)
	for range 2 {
		assert.Equal(t, many, texts(b.take("B00", 150)), "small ones all at once")
	}
}

// mixed: small entries say nothing about the size of those behind them.
func mixed(t *testing.T, b bench) {
	var entries []string
	for n := range 70 {
		text := fmt.Sprintf("%03d", n)
		if n >= 64 {
			text += strings.Repeat(".", 1<<20)
		}
		entries = append(entries, text)
	}
	b.put("B00", entries...)
	first := b.take("B00", all)
	require.Equal(t, first, b.take("B00", all), "the same again")
	require.Equal(t, entries[:68], texts(first), "up to 4 MB")
	require.NoError(t, b.Done(t.Context(), "B00", ids(first)))
	rest := b.take("B00", all)
	require.Equal(t, entries[68:], texts(rest))
	require.NoError(t, b.Done(t.Context(), "B00", ids(rest)))
}
