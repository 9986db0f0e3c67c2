package store_test

import (
	"fmt"
	"os"

	"sfbridge/bridge/store"
)

// A process that dies at work leaves a suspect behind for the next start.
func Example() {
	dir, err := os.MkdirTemp("", "store")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)

	s, err := store.Open(store.Config{Dir: dir})
	if err != nil {
		panic(err)
	}
	_ = s.Journal().Begin([]string{"a01", "a02"})
	_ = s.Journal().Done([]string{"a02"})
	_ = s.Close() // as if killed while it works on a01

	s, err = store.Open(store.Config{Dir: dir})
	if err != nil {
		panic(err)
	}
	defer s.Close()
	fmt.Println(s.Journal().Suspects())
	// Output: map[a01:1]
}
