package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
)

// maxInput bounds files and standard input given to offline commands.
const maxInput = 64 << 20

// readInput reads a file, or standard input for "-".
func readInput(env environment, name string) ([]byte, error) {
	from := env.in
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		from = f
	}
	data, err := io.ReadAll(io.LimitReader(from, maxInput+1))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	if len(data) > maxInput {
		return nil, fmt.Errorf("reading %s: more than %d bytes", name, maxInput)
	}
	return data, nil
}

// parseHeaders reads --header 'Name: value' flags.
func parseHeaders(flags []string) (http.Header, error) {
	h := http.Header{}
	for _, f := range flags {
		name, value, found := strings.Cut(f, ":")
		if name = strings.TrimSpace(name); !found || name == "" {
			return nil, usage("--header %q: write it like 'Name: value'", f)
		}
		h.Add(name, strings.TrimPrefix(value, " "))
	}
	return h, nil
}
