// Package schema makes the JSON Schemas of mapping and settings files, which
// editors complete and check by:
//
//	# yaml-language-server: $schema=../schema/mapping.json
//
// A schema is what the loader asks of the files under samples, which hold every
// key in every form: known keys, kinds, words, bounds and defaults are the
// loader's own. words_*.go adds what it can't tell: descriptions for people, and
// the forms of text that it judges by itself.
//
// After a change of the format: add the key to samples and words, then
//
//	go generate ./config/schema
package schema

//go:generate go run ./generate
