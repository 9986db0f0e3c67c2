package mapping

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"sfbridge/mapping/path"
)

// seeds are the contents of the files that the patterns name.
func seeds(f *testing.F, patterns ...string) [][]byte {
	f.Helper()
	var out [][]byte
	for _, pattern := range patterns {
		files, err := filepath.Glob(pattern)
		require.NoError(f, err)
		require.NotEmpty(f, files, pattern)
		for _, name := range files {
			data, err := os.ReadFile(name)
			require.NoError(f, err)
			out = append(out, data)
		}
	}
	return out
}

// Whatever an event holds, every mapping of the cases makes records or field
// errors of it, never both, and the same bytes each time.
func FuzzRecords(f *testing.F) {
	var files []*File
	for _, data := range seeds(f, "testdata/conformance/*/mapping.yaml", examples+"*.yaml") {
		file, err := Parse("fuzz.yaml", data)
		if err == nil { // some need files beside them
			files = append(files, file)
		}
	}
	for i, data := range seeds(f, "testdata/conformance/*/payload.json") {
		f.Add(i, data, "order.paid")
	}
	for i, data := range seeds(f, "testdata/examples/*.json") {
		f.Add(i, data, "charge.succeeded")
	}
	f.Fuzz(func(t *testing.T, which int, payload []byte, kind string) {
		event, err := path.DecodeJSON(payload)
		if err != nil {
			return
		}
		file := files[uint(which)%uint(len(files))]
		order := int64(which)
		in := Input{EventID: "shop:1", Type: kind, Order: &order, Scope: path.Scope{Event: event}}
		first := outcome(t, file, in)
		require.Equal(t, first, outcome(t, file, in))
		for _, route := range file.Routes {
			records, errs := route.Records(in)
			require.True(t, len(records) == 0 || len(errs) == 0)
			for _, r := range records {
				require.NotEmpty(t, r.Key.Value)
			}
			route.Explain(in)
		}
	})
}
