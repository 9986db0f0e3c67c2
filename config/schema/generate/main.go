// Command generate writes the JSON Schemas beside the package; go generate runs
// it there.
package main

import (
	"fmt"
	"os"

	"sfbridge/config/schema"
)

func main() {
	for _, s := range schema.All() {
		text, err := s.JSON(".")
		if err == nil {
			err = os.WriteFile(s.File, text, 0o644)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "generate:", err)
			os.Exit(1)
		}
	}
}
