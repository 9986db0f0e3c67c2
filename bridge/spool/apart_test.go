package spool_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/event"
	"sfbridge/bridge/spool"
	"sfbridge/bridge/stage"
)

func openFile(t *testing.T, dir string) *spool.File {
	t.Helper()
	f, err := spool.OpenFile(spool.FileConfig{Dir: dir})
	require.NoError(t, err)
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// refuse sets n entries of a queue apart.
func refuse(t *testing.T, e spool.Engine, n int) {
	t.Helper()
	for i := range n {
		entry, err := spool.Encode(stage.Request{Event: &event.Event{
			ID: fmt.Sprintf("shop:%d", i), Source: "shop", Type: "order", Payload: []byte("canary"), HomeQueue: "B03",
			ReceivedAt: time.Unix(1767225600, 0).UTC(),
		}})
		require.NoError(t, err)
		require.NoError(t, e.Append(t.Context(), []spool.Entry{entry}))
	}
	list, err := e.Take(t.Context(), "B03", n)
	require.NoError(t, err)
	refused := make([]spool.Refused, len(list))
	for i, w := range list {
		refused[i] = spool.Refused{Waiting: w, Reason: "no such field"}
	}
	require.NoError(t, e.SetApart(t.Context(), "B03", refused))
}

func TestWhatWasSetApartIsShownAndTriedAgain(t *testing.T) {
	t.Parallel()
	d, _ := alone(t)
	for name, e := range map[string]spool.Engine{"file": openFile(t, t.TempDir()), "redis": d.open(t)} {
		t.Run(name, func(t *testing.T) {
			refuse(t, e, 3)
			list, err := spool.ListApart(t.Context(), e, 2)
			require.NoError(t, err)
			require.Len(t, list, 2)
			at := time.Unix(1767225600, 0).UTC()
			assert.Equal(t, spool.ApartEntry{
				ID: list[0].ID, EventID: "shop:0", Source: "shop", Type: "order", ReceivedAt: &at, Bytes: list[0].Bytes, Reason: "no such field",
			}, list[0])
			assert.Positive(t, list[0].Bytes)
			n, err := spool.Retry(t.Context(), e, []string{list[1].ID, list[1].ID})
			require.NoError(t, err)
			assert.Equal(t, 1, n)
			waiting, err := e.Take(t.Context(), "B03", 10)
			require.NoError(t, err)
			require.Len(t, waiting, 1)
			back, err := spool.Decode(waiting[0].Data)
			require.NoError(t, err)
			assert.Equal(t, "shop:1", back.Event.ID)
			assert.Equal(t, "canary", string(back.Event.Payload))
			for _, bad := range []string{"", "B03", "B03/", "/1", "B03/nonsense"} {
				_, err := spool.Retry(t.Context(), e, []string{bad})
				assert.ErrorIs(t, err, spool.ErrApartID, bad)
			}
			n, err = spool.RetryAll(t.Context(), e)
			require.NoError(t, err)
			assert.Equal(t, 2, n)
			n, err = spool.RetryAll(t.Context(), e)
			require.NoError(t, err)
			assert.Zero(t, n)
		})
	}
}

func TestEverythingIsTriedAgainInParts(t *testing.T) {
	t.Parallel()
	e := openFile(t, t.TempDir())
	refuse(t, e, 250)
	n, err := spool.RetryAll(t.Context(), e)
	require.NoError(t, err)
	assert.Equal(t, 250, n)
	s, err := e.State(t.Context())
	require.NoError(t, err)
	assert.Zero(t, s.Apart)
	assert.Equal(t, 250, s.Total())
}

// parts notes how much is put back at once.
type parts struct {
	spool.Engine
	counts []int
}

func (p *parts) Again(ctx context.Context, entries []spool.Apart) (int, error) {
	p.counts = append(p.counts, len(entries))
	for _, e := range entries {
		if len(e.Data) > 0 {
			return 0, errors.New("what is put back is read only then")
		}
	}
	return p.Engine.Again(ctx, entries)
}

func TestLargeEntriesAreTriedAgainInSmallParts(t *testing.T) {
	t.Parallel()
	e := &parts{Engine: openFile(t, t.TempDir())}
	for _, size := range []int{1, 1, 3 << 20, 3 << 20, 6 << 20, 1} {
		require.NoError(t, e.Append(t.Context(), []spool.Entry{{Queue: "B00", Data: make([]byte, size)}}))
		list, err := e.Take(t.Context(), "B00", 1)
		require.NoError(t, err)
		require.NoError(t, e.SetApart(t.Context(), "B00", []spool.Refused{{Waiting: list[0]}}))
	}
	n, err := spool.RetryAll(t.Context(), e)
	require.NoError(t, err)
	assert.Equal(t, 6, n)
	assert.Equal(t, []int{3, 1, 1, 1}, e.counts)
}

// An entry that can't be read is shown all the same.
func TestAnUnreadableEntryIsShown(t *testing.T) {
	t.Parallel()
	e := openFile(t, t.TempDir())
	require.NoError(t, e.Append(t.Context(), []spool.Entry{{Queue: "B00", Data: []byte("?")}}))
	list, err := e.Take(t.Context(), "B00", 1)
	require.NoError(t, err)
	require.NoError(t, e.SetApart(t.Context(), "B00", []spool.Refused{{Waiting: list[0], Reason: "form"}}))
	shown, err := spool.ListApart(t.Context(), e, 10)
	require.NoError(t, err)
	assert.Equal(t, []spool.ApartEntry{{ID: "B00/" + list[0].ID, Bytes: 1, Reason: "form"}}, shown)
}

func TestAFileInUse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	used := func() bool {
		u, err := spool.FileInUse(dir)
		require.NoError(t, err)
		return u
	}
	assert.False(t, used(), "nothing is there")
	f := openFile(t, dir)
	assert.True(t, used())
	require.NoError(t, f.Close())
	assert.False(t, used())
}
