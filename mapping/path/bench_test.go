package path_test

import (
	"fmt"
	"strings"
	"testing"

	"sfbridge/mapping/path"
)

// BenchmarkDecodeJSON reads an event as providers send it: a few objects in each
// other, the inner one with some thirty members.
func BenchmarkDecodeJSON(b *testing.B) {
	var members []string
	for n := range 11 {
		members = append(members, fmt.Sprintf(`"member_%d":"value %d","amount_%d":%d,"nothing_%d":null`, n, n, n, n, n))
	}
	body := []byte(`{"id":"evt_1","type":"charge.succeeded","data":{"object":{"address":{"city":"Berlin","line":"Hauptstraße 1"},` +
		strings.Join(members, ",") + `}},"created":1767225600}`)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := path.DecodeJSON(body); err != nil {
			b.Fatal(err)
		}
	}
}
