package strictyaml

import (
	"fmt"
	"strings"
)

// Suggest is `did you mean "x"?` for the known word nearest to a mistyped one,
// or the list of all when none is near.
func Suggest(word string, known []string) string {
	best, bestDistance := "", 1+max(1, len(word)/3)
	for _, k := range known {
		if strings.EqualFold(k, word) {
			return fmt.Sprintf("did you mean %q?", k)
		}
		if d := distance(strings.ToLower(word), k); d < bestDistance {
			best, bestDistance = k, d
		}
	}
	if best != "" {
		return fmt.Sprintf("did you mean %q?", best)
	}
	return "write one of: " + strings.Join(known, ", ")
}

// distance counts the edits between two words: insert, delete, replace and
// swap of neighbours.
func distance(a, b string) int {
	before, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	var last []int
	for i := 1; i <= len(a); i++ {
		last, before, row = before, row, make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(before[j]+1, row[j-1]+1, before[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], last[j-2]+1)
			}
		}
	}
	return row[len(b)]
}
