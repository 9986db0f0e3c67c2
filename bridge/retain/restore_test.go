package retain_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/event"
	"sfbridge/bridge/retain"
	"sfbridge/salesforce"
)

// large is a payload that needs two chunk rows.
var large = bytes.Repeat([]byte("0123456789"), 14_000)

func archiveFiles(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.jsonl.gz"))
	require.NoError(t, err)
	return files
}

func TestRestoreOfDeletedRows(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	order := int64(42)
	e := ev(1, 100, func(e *event.Event) { e.Order = &order })
	big := ev(2, 100, func(e *event.Event) { e.Payload = large })
	binary := ev(3, 100, func(e *event.Event) { e.Payload = []byte{0, 1, 255} })
	b.stage(e, big, binary)
	b.effect(e, "receipt", event.EffectDone)
	before := b.events()
	require.Equal(t, 3, b.sweep().Deleted)
	require.Empty(t, b.events())
	require.Empty(t, b.all(event.ChunkObject, "Name"))

	dry, err := b.restore(func(r *retain.Restoring) { r.DryRun = true })
	require.NoError(t, err)
	assert.Equal(t, retain.Restored{Files: 1, Matched: 3}, dry)
	require.Empty(t, b.events())

	report, err := b.restore(nil)
	require.NoError(t, err)
	assert.Equal(t, retain.Restored{Files: 1, Matched: 3, Restored: 3}, report)
	after := b.events()
	for id, was := range before {
		is := after[id]
		require.NotNil(t, is, id)
		assert.Equal(t, was.Payload, is.Payload, id)
		assert.Equal(t, was.Context, is.Context)
		assert.Equal(t, was.ReceivedAt, is.ReceivedAt)
		assert.Equal(t, was.SourceTime, is.SourceTime)
		assert.Equal(t, was.Order, is.Order)
		assert.Equal(t, was.MappingVersion, is.MappingVersion)
		assert.Equal(t, was.Hash, is.Hash)
		assert.Equal(t, event.Completed, is.Status)
		assert.Equal(t, event.Updated, is.Outcome)
		assert.Equal(t, noon, is.ProcessedAt)
		assert.Equal(t, "staged\n2026-11-30T12:00:00Z Completed -> Completed by ada: restored from the archive: asked for", is.History)
	}
	assert.Len(t, b.all(event.ChunkObject, "Name"), 2)
	effect := b.all(event.EffectObject, event.EffectFieldName, event.EffectFieldEvent, event.EffectFieldStatus, event.EffectFieldRequest)["receipt"]
	assert.Equal(t, after["shop:1"].RowID, effect.String(event.EffectFieldEvent))
	assert.Equal(t, "Done", effect.String(event.EffectFieldStatus))
	assert.Equal(t, `{"post":{"body":1}}`, effect.String(event.EffectFieldRequest))

	again, err := b.restore(nil)
	require.NoError(t, err)
	assert.Equal(t, retain.Restored{Files: 1, Matched: 3, Exists: 3}, again)
	assert.Equal(t, retain.Report{}, b.sweep(), "what was restored stays for a while")
}

func TestRestoreOfClearedPayloads(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	one := ev(1, 40, nil)
	b.stage(one, ev(2, 40, func(e *event.Event) { e.Payload = large }))
	b.effect(one, "receipt", event.EffectDone)
	b.effect(one, "gone", event.EffectDone)
	require.Equal(t, retain.Report{Cleared: 2, Archived: 2}, b.sweep())
	b.drop("gone")
	require.Empty(t, b.all(event.ChunkObject, "Name"))
	report, err := b.restore(nil)
	require.NoError(t, err)
	assert.Equal(t, retain.Restored{Files: 1, Matched: 2, Refilled: 2}, report)
	e := b.events()["shop:1"]
	assert.Equal(t, `{"n":1}`, string(e.Payload))
	assert.Equal(t, `{"header.x":"1"}`, string(e.Context))
	assert.Contains(t, e.History, "staged\n")
	assert.Contains(t, e.History, "payload restored from the archive")
	const sent = `Done|{"post":{"body":1}}|HTTP 200|to ada@example.com|sent`
	assert.Equal(t, map[string]string{"receipt": sent, "gone": sent}, b.outbox())
	assert.Equal(t, event.Chunked, b.events()["shop:2"].Encoding)
	assert.Len(t, b.all(event.ChunkObject, "Name"), 2)
}

func TestRestoreTakesThePayloadOfTheEarlierArchive(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.stage(ev(1, 40, nil))
	require.Equal(t, 1, b.sweep().Cleared)
	b.cfg.RowAfter = 35 * day
	require.Equal(t, 1, b.sweep().Deleted)
	report, err := b.restore(nil)
	require.NoError(t, err)
	assert.Equal(t, retain.Restored{Files: 2, Matched: 1, Restored: 1}, report)
	assert.Equal(t, `{"n":1}`, string(b.events()["shop:1"].Payload))
}

func TestRestoreChooses(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.stage(ev(1, 100, nil), ev(2, 100, nil), ev(3, 100, nil))
	require.Equal(t, 3, b.sweep().Deleted)
	report, err := b.restore(func(r *retain.Restoring) { r.Match = func(e *event.Event) bool { return e.ID == "shop:2" } })
	require.NoError(t, err)
	assert.Equal(t, 1, report.Restored)
	report, err = b.restore(func(r *retain.Restoring) { r.Limit = 2 })
	require.NoError(t, err)
	assert.Equal(t, 2, report.Matched)
}

func TestArchiveChecksums(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.stage(ev(1, 100, nil))
	b.sweep()
	files := archiveFiles(t, b.dir)
	require.Len(t, files, 1)
	if tool, err := exec.LookPath("sha256sum"); err == nil {
		cmd := exec.CommandContext(t.Context(), tool, "-c", filepath.Base(files[0])+".sha256")
		cmd.Dir = filepath.Dir(files[0])
		out, err := cmd.CombinedOutput()
		assert.NoError(t, err, "%s", out)
	}
	raw, err := os.ReadFile(files[0])
	require.NoError(t, err)
	raw[len(raw)/2] ^= 1
	require.NoError(t, os.WriteFile(files[0], raw, 0o600))
	_, err = b.restore(nil)
	assert.ErrorIs(t, err, retain.ErrDamaged)
	require.NoError(t, os.Remove(files[0]+".sha256"))
	_, err = b.restore(nil)
	assert.ErrorContains(t, err, "checksum")
	_, err = b.restore(func(r *retain.Restoring) { r.From = []string{t.TempDir()} })
	assert.ErrorContains(t, err, "no archive file")
	assert.Empty(t, b.events())
}

func TestNothingGoesWithoutItsArchive(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.stage(ev(1, 100, nil))
	require.NoError(t, os.WriteFile(b.dir, nil, 0o600), "a file where the directory should be")
	k, err := retain.New(b.cfg)
	require.NoError(t, err)
	_, err = k.Sweep(t.Context())
	assert.ErrorContains(t, err, "archiving")
	assert.Len(t, b.events(), 1)

	b.cfg.ArchiveDir = ""
	assert.Equal(t, retain.Report{Deleted: 1}, b.sweep(), "without a directory nothing is archived")
}

// forge writes an archive file with these lines.
func forge(t *testing.T, text string) string {
	t.Helper()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err := z.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	name := filepath.Join(t.TempDir(), "events.jsonl.gz")
	require.NoError(t, os.WriteFile(name, packed.Bytes(), 0o600))
	require.NoError(t, os.WriteFile(name+".sha256", []byte(event.HashBytes(packed.Bytes())+"  events.jsonl.gz\n"), 0o600))
	return name
}

func TestRestoreRefusesOddLines(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	from := func(text string) func(*retain.Restoring) {
		name := forge(t, text)
		return func(r *retain.Restoring) { r.From = []string{name} }
	}
	report, err := b.restore(from(`{"event":{"Event_Id__c":"shop:1","Status__c":"Received","Payload_Encoding__c":"Plain"}}
{"event":{"Status__c":"Completed"}}
{"event":{"Event_Id__c":"shop:2","Status__c":7}}
{"event":{"Event_Id__c":"shop:3","Status__c":"Completed","Payload_Encoding__c":"Odd"}}
{"event":{"Event_Id__c":"shop:4","Status__c":"Completed","Payload_Encoding__c":"Plain","Payload__c":"{}"}}
`))
	require.NoError(t, err)
	assert.Equal(t, 1, report.Restored)
	assert.Equal(t, 4, report.Failed)
	assert.Equal(t, []string{"shop:1", "", "shop:2", "shop:3"}, []string{
		report.Refusals[0].EventID, report.Refusals[1].EventID, report.Refusals[2].EventID, report.Refusals[3].EventID})
	assert.Contains(t, report.Refusals[0].Why, "only completed ones")
	assert.Equal(t, "shop:4", names(b.events()))

	_, err = b.restore(from("{"))
	assert.ErrorContains(t, err, "line 1")
}

func FuzzRestore(f *testing.F) {
	f.Add([]byte(`{"event":{"Event_Id__c":"shop:1","Status__c":"Completed","Source_Order__c":17.0},"chunks":["eA=="],"effects":[{"Name__c":"x"}]}`))
	f.Add([]byte(`{"event":null}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r := retain.Restoring{Org: refusing{}, From: []string{forge(t, string(text))}, Now: func() time.Time { return noon }}
		report, err := retain.Restore(t.Context(), r)
		assert.Zero(t, report.Restored)
		if err == nil {
			assert.Equal(t, report.Failed >= report.Matched, true)
		}
	})
}

// refusing is an org that holds nothing and takes nothing.
type refusing struct{}

func (refusing) Query(context.Context, string) ([]salesforce.Record, error) { return nil, nil }

func (refusing) Graph(_ context.Context, graphs []salesforce.Graph) ([]salesforce.GraphResult, error) {
	return make([]salesforce.GraphResult, len(graphs)), nil
}
