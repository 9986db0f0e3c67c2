// Package apexgates looks at the Apex package with everything that can look at
// it without an org: Salesforce's own parser, a type checker, a linter, a
// formatter, the command line's conversion to a deployable form, a check of the
// names that none of them follows, and the package's own tests in an
// interpreter (folder interpret) that runs the parser's trees over an org in
// memory.
//
//	(npm ci --ignore-scripts)
//	node parse.mjs ../../apex
//	node types.mjs ../../apex      needs java
//	node lint.mjs ../../apex       needs java
//	node names.mjs ../../apex
//	node interpret/run.mjs PARSER ../../apex         the tests
//	node interpret/arrivals.mjs PARSER ../../apex    every order of arrival
//
// PARSER is node_modules/@prettier-apex/apex-ast-serializer-linux-x64/apex-ast-serializer-linux-x64.
//
// None of it is Salesforce: what passes is parsed, type-checked, linted and
// interpreted, not proven on a platform. Each gate is tried on a copy with one
// seeded mistake too, so that a gate that stopped working is noticed.
package apexgates
