package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Bounds of a payload that is shown to people.
const (
	payloadLines = 200
	payloadWidth = 200 // runes of a line
)

// payloadText is a payload for people, line by line: JSON indented, with its
// numbers as written, anything else as it came. What is long is cut, and a last
// line says so.
func payloadText(raw []byte) []string {
	var shown bytes.Buffer
	if !utf8.Valid(raw) || json.Indent(&shown, raw, "", "  ") != nil {
		shown.Reset()
		shown.Write(raw)
	}
	text := strings.TrimRight(strings.ToValidUTF8(shown.String(), "\uFFFD"), "\n")
	if text == "" {
		return nil
	}
	all := strings.Split(text, "\n")
	lines, cut := all[:min(payloadLines, len(all))], len(all) > payloadLines
	for i, line := range lines {
		lines[i] = short(line, payloadWidth)
		cut = cut || lines[i] != line
	}
	if cut {
		lines = append(lines, fmt.Sprintf("… cut, %d bytes in all: --json prints them", len(raw)))
	}
	return lines
}
