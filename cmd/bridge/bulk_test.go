package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"sfbridge/bridge/operate"
	"sfbridge/bridge/retain"
	"sfbridge/config/examples"
)

func TestDecisionsOnAnEmptyOrg(t *testing.T) {
	t.Parallel()
	srv, cfg := org(t, string(examples.Stripe))
	vars := map[string]string{"TOKEN": srv.AccessToken()}
	for _, args := range []string{"discard --status review --reason x", "accept --status review --reason x"} {
		words := strings.Fields(args)
		r := bridge(t, vars, "", append([]string{words[0], "--config", cfg}, words[1:]...)...)
		assert.Equal(t, exitOK, r.code, r.err)
		assert.Contains(t, r.out, `{"action":"`+words[0]+`","matched":0`)
		r = bridge(t, vars, "", words[0], "--config", cfg, "--status", "review", "--reason", " ")
		assert.Equal(t, exitUsage, r.code)
		assert.Contains(t, r.err, "a reason is needed")
		r = bridge(t, vars, "", words[0], "--config", cfg, "--reason", "x")
		assert.Equal(t, exitUsage, r.code, "everything is not a choice")
	}
	for _, args := range []string{"replay --id stripe:no", "discard --id stripe:no --reason x", "accept --id stripe:no --id stripe:no --reason x"} {
		words := strings.Fields(args)
		r := bridge(t, vars, "", append([]string{words[0], "--config", cfg}, words[1:]...)...)
		assert.Equal(t, exitFailed, r.code)
		assert.Contains(t, r.err, "there is no event stripe:no that the filter chooses")
		assert.Contains(t, r.out, `"missing":["stripe:no"]`)
	}
	r := bridge(t, vars, "", "events", "--config", cfg, "--status", "review", "--group")
	assert.Equal(t, result{exitOK, "{\"groups\":[]}\n", ""}, r)
}

func TestRestoreNeedsAnArchive(t *testing.T) {
	t.Parallel()
	srv, cfg := org(t, string(examples.Stripe))
	vars := map[string]string{"TOKEN": srv.AccessToken()}
	r := bridge(t, vars, "", "restore", "--config", cfg)
	assert.Equal(t, exitUsage, r.code)
	assert.Contains(t, r.err, "retention.archive_dir")
	dir := t.TempDir()
	r = bridge(t, vars, "", "restore", "--config", cfg, "--archive", dir)
	assert.Equal(t, exitFailed, r.code)
	assert.Contains(t, r.err, "no archive file")
	file := filepath.Join(dir, "x.jsonl.gz")
	assert.NoError(t, os.WriteFile(file, []byte("x"), 0o600))
	r = bridge(t, vars, "", "restore", "--config", cfg, "--archive", file)
	assert.Equal(t, exitFailed, r.code)
	assert.Contains(t, r.err, "checksum")
}

// shown runs one of the views for people.
func shown(t *testing.T, show func(environment) error) string {
	t.Helper()
	var out bytes.Buffer
	assert.NoError(t, show(environment{out: &out, terminal: true}))
	return out.String()
}

func TestViewsForPeople(t *testing.T) {
	t.Parallel()
	report := operate.Report{Done: 2, Matched: 3, ByStatus: map[string]int{"Review": 3}, ByCode: map[string]int{"FIELD": 3},
		Skipped: map[string]int{"status Applied": 1}, Moved: 1, Refusals: []operate.Refusal{{EventID: "shop:1", Code: "X", Message: "no"}}}
	text := shown(t, func(env environment) error {
		return showBulk(env, actOptions{decision: decision{verb: "discarded"}}, report)
	})
	for _, part := range []string{"2 events discarded\n", "FIELD", "left alone", "moved on meanwhile", "X no"} {
		assert.Contains(t, text, part)
	}
	text = shown(t, func(env environment) error {
		return showBulk(env, actOptions{decision: decision{verb: "accepted"}, order: operate.Order{DryRun: true}}, report)
	})
	assert.Contains(t, text, "3 events would be accepted")

	restored := retain.Restored{Files: 2, Matched: 4, Restored: 1, Refilled: 1, Exists: 1, Refusals: []retain.Refusal{{EventID: "shop:1", Why: "odd"}}}
	text = shown(t, func(env environment) error { return showRestored(env, restored) })
	assert.Contains(t, text, "4 events chosen from 2 archive files")
	assert.Contains(t, text, "odd")
	at := time.Unix(1767225600, 0).UTC()
	assert.Equal(t, "2026-01-01T00:00:00Z", day(&at))
	assert.Empty(t, day(nil))
}
