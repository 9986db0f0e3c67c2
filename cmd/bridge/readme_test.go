package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var readmeBlock = regexp.MustCompile("(?s)( *)```(yaml|json)\n(.*?)```")

// readmeFiles are the blocks of README.md's first source: its files.
func readmeFiles(t *testing.T) (settings, mapping, payload string) {
	t.Helper()
	page, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(page), "\n## Your first source")
	section, _, ended := strings.Cut(rest, "\n## ")
	require.True(t, found && ended)
	var blocks []string
	for _, m := range readmeBlock.FindAllStringSubmatch(section, -1) {
		blocks = append(blocks, strings.ReplaceAll("\n"+m[3], "\n"+m[1], "\n")[1:])
	}
	require.Len(t, blocks, 3)
	return blocks[0], blocks[1], blocks[2]
}

// The files of README.md work as they stand.
func TestTheReadmesFirstSource(t *testing.T) {
	t.Parallel()
	settings, mapping, payload := readmeFiles(t)
	dir := t.TempDir()
	source := write(t, dir, "stripe.yaml", mapping)
	r := bridge(t, nil, "", "map", "--mapping", source, "--payload", write(t, dir, "charge.json", payload))
	assert.Equal(t, exitOK, r.code, r.err)
	assert.Contains(t, r.out, `"Amount__c":12.50`)
	r = bridge(t, nil, "", "check", "--config", write(t, dir, "bridge.yaml", settings))
	assert.Equal(t, exitOK, r.code, r.out+r.err)
	assert.Contains(t, r.out, `"warnings":[]`)

	dispute := strings.Replace(payload, "charge.succeeded", "charge.dispute.created", 1)
	r = bridge(t, nil, dispute, "map", "--mapping", source, "--payload", "-")
	assert.Equal(t, exitFailed, r.code)
	assert.Contains(t, r.out, `"outcome":"review"`, "a dispute is no charge")
}

// A pattern for all of charge takes disputes and refunds for charges.
func TestNoGuideTakesDisputesForCharges(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("../../docs/*.md")
	require.NoError(t, err)
	examples, err := filepath.Glob("../../config/examples/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, examples)
	for _, name := range append(append(pages, examples...), "../../README.md") {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		assert.NotContains(t, string(text), "type: charge.*", name)
	}
}
