package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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

// What was asked for by name and is not done is a failure; what a filter
// chooses besides is not.
func TestWhatWasNamedAndIsNotDone(t *testing.T) {
	t.Parallel()
	named := operate.Order{Filter: operate.Filter{IDs: []string{"shop:1"}}}
	all := operate.Order{Filter: operate.Filter{Source: "shop"}}
	skipped := operate.Report{Skipped: map[string]int{"status Completed": 1, "conflict, to be accepted or discarded": 1}}
	for name, c := range map[string]struct {
		order  operate.Order
		report operate.Report
		want   string
	}{
		"named, not free":     {named, skipped, "can be replayed: conflict, to be accepted or discarded; status Completed"},
		"named, moved on":     {named, operate.Report{Moved: 1}, "somebody else moved on 1"},
		"named, done":         {named, operate.Report{Done: 1, Skipped: map[string]int{}}, ""},
		"by filter, not free": {all, skipped, ""},
		"by filter, moved on": {all, operate.Report{Moved: 1}, ""},
		"by filter, refused":  {all, operate.Report{Failed: 1}, errReported.Error()},
	} {
		err := undone(actOptions{decision: decision{verb: "replayed"}, order: c.order}, c.report)
		if c.want == "" {
			assert.NoError(t, err, name)
			continue
		}
		assert.ErrorContains(t, err, c.want, name)
		assert.Equal(t, exitFailed, exitCode(err), name)
	}
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

// archive writes an archive file of one event.
func archive(t *testing.T, id string) string {
	t.Helper()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err := fmt.Fprintf(z, `{"event":{"Event_Id__c":%q,"Source__c":"shop","Status__c":"Completed","Payload_Encoding__c":"Plain","Payload__c":"{}"}}`+"\n", id)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	file := filepath.Join(t.TempDir(), "x.jsonl.gz")
	require.NoError(t, os.WriteFile(file, packed.Bytes(), 0o600))
	sum := fmt.Sprintf("%x  x.jsonl.gz\n", sha256.Sum256(packed.Bytes()))
	require.NoError(t, os.WriteFile(file+".sha256", []byte(sum), 0o600))
	return file
}

func TestRestoreNamesWhatNoArchiveHolds(t *testing.T) {
	t.Parallel()
	srv, cfg := org(t, string(examples.Stripe))
	vars := map[string]string{"TOKEN": srv.AccessToken()}
	file := archive(t, "shop:1")
	restore := func(args ...string) result {
		return bridge(t, vars, "", append([]string{"restore", "--config", cfg, "--archive", file, "--dry-run"}, args...)...)
	}
	r := restore("--id", "shop:1")
	assert.Equal(t, exitOK, r.code, r.err)
	assert.NotContains(t, r.out, "missing")
	r = restore("--id", "shop:1", "--id", "shop:none", "--id", "shop:none")
	assert.Equal(t, exitFailed, r.code)
	assert.Contains(t, r.out, `"matched":1`)
	assert.Contains(t, r.out, `"missing":["shop:none"]`)
	assert.Contains(t, r.err, "the archive holds no event shop:none that the filter chooses")
	assert.Equal(t, exitFailed, restore("--id", "shop:1", "--source", "pay").code, "the other filters count too")
	assert.Equal(t, exitOK, restore("--source", "none").code, "nothing is asked for by name")
}

// shown runs one of the views for people.
func shown(t *testing.T, show func(environment) error) string {
	t.Helper()
	var out bytes.Buffer
	assert.NoError(t, show(environment{out: &out, terminal: true}))
	return out.String()
}

// The number stands once on a terminal: in the report, or where it broke off.
func TestProgressEnds(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{"\r          \r": nil, "\n": errReported} {
		var out bytes.Buffer
		endProgress(environment{err: &out}, "5 replayed", err)
		assert.Equal(t, want, out.String())
	}
}

func TestViewsForPeople(t *testing.T) {
	t.Parallel()
	report := operate.Report{Done: 2, Matched: 3, ByStatus: map[string]int{"Review": 3}, ByCode: map[string]int{"FIELD": 2, "": 1},
		Skipped: map[string]int{"status Applied": 1}, Moved: 1, Refusals: []operate.Refusal{{EventID: "shop:1", Code: "X", Message: "no"}}}
	text := shown(t, func(env environment) error {
		return showBulk(env, actOptions{decision: decision{verb: "discarded"}}, report)
	})
	for _, part := range []string{"2 events discarded\n", "FIELD", "left alone", "moved on meanwhile", "X no"} {
		assert.Contains(t, text, part)
	}
	assert.Regexp(t, `code +none +1\n`, text)
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
