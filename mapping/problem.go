package mapping

import "sfbridge/internal/strictyaml"

// Problem is one mistake in a mapping file:
// file:line:column: path: what: what to do.
type Problem = strictyaml.Problem

// Problems is every mistake of a mapping file, in file order.
type Problems = strictyaml.Problems
