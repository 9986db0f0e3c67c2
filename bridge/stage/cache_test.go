package stage

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

func aRow(n int) (id string, k known) {
	sum := sha256.Sum256(fmt.Append(nil, n))
	return fmt.Sprintf("stripe:evt_%d", n), known{row: fmt.Sprintf("a00%015d", n), hash: hex.EncodeToString(sum[:])}
}

func TestConfirmedRemembersWithinBounds(t *testing.T) {
	t.Parallel()
	c := newConfirmed(100)
	used, row := aRow(0)
	c.put(used, row)
	for n := range 1000 {
		id, k := aRow(n + 1)
		c.put(id, k)
		got, ok := c.get(used)
		assert.True(t, ok, "a key in use survives")
		assert.Equal(t, row, got)
		assert.LessOrEqual(t, len(c.young)+len(c.old), 100)
	}
	first, _ := aRow(1)
	_, ok := c.get(first)
	assert.False(t, ok, "the oldest are forgotten")
	last, want := aRow(1000)
	got, ok := c.get(last)
	assert.True(t, ok)
	assert.Equal(t, want, got)
}

func TestConfirmedLeavesOddRowsToTheOrg(t *testing.T) {
	t.Parallel()
	_, good := aRow(1)
	for name, k := range map[string]known{
		"no hash": {row: good.row}, "a hash of another form": {row: good.row, hash: good.hash[:63] + "x"},
		"a short id": {row: good.row[:15], hash: good.hash},
	} {
		c := newConfirmed(10)
		c.put("id", k)
		_, ok := c.get("id")
		assert.False(t, ok, name)
	}
}

func BenchmarkConfirmed(b *testing.B) {
	c := newConfirmed(100_000)
	b.ReportAllocs()
	for n := range b.N {
		id, k := aRow(n)
		c.put(id, k)
		c.get(id)
	}
}
