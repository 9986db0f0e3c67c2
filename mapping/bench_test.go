package mapping

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"sfbridge/mapping/path"
)

// benchCase is an event of 2 KiB and a mapping of twelve fields.
func benchCase(b *testing.B) (*File, []byte) {
	b.Helper()
	f, err := Load("testdata/bench/charge.yaml")
	require.NoError(b, err)
	data, err := os.ReadFile("testdata/bench/charge.json")
	require.NoError(b, err)
	require.InDelta(b, 2048, len(data), 128)
	require.Len(b, f.Routes[0].Targets()[0].Fields, 12)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	return f, data
}

func benchRecords(b *testing.B, f *File, event any) {
	b.Helper()
	order := int64(1767225600000)
	in := Input{EventID: "stripe:1", Type: "charge.succeeded", Order: &order, Scope: path.Scope{Event: event}}
	r, _ := f.Route(in)
	if records, errs := r.Records(in); errs != nil || len(records) != 1 {
		b.Fatal(errs)
	}
}

// BenchmarkMap is what is done once the event is read.
func BenchmarkMap(b *testing.B) {
	f, data := benchCase(b)
	event, err := path.DecodeJSON(data)
	require.NoError(b, err)
	for b.Loop() {
		benchRecords(b, f, event)
	}
}

// BenchmarkDecodeAndMap is the whole way from bytes to records.
func BenchmarkDecodeAndMap(b *testing.B) {
	f, data := benchCase(b)
	for b.Loop() {
		event, err := path.DecodeJSON(data)
		if err != nil {
			b.Fatal(err)
		}
		benchRecords(b, f, event)
	}
}
