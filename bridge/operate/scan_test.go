package operate_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/event"
	"sfbridge/bridge/operate"
	"sfbridge/salesforce"
)

func TestEachEventWithItsPayload(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	var events []*event.Event
	for n := range 230 {
		events = append(events, ev(n, nil))
	}
	b.stage(nil, append(events, ev(900, as(event.Completed)))...)
	each := func(f operate.Filter) (ids []string) {
		require.NoError(t, b.Each(t.Context(), f, func(e *event.Event) error {
			assert.Equal(t, `{"a":1}`, string(e.Payload))
			ids = append(ids, e.ID)
			return nil
		}))
		return ids
	}
	waiting := operate.Filter{Source: "shop", Status: []event.Status{event.Review}}
	assert.Len(t, each(waiting), 230)
	assert.Equal(t, []string{"shop:3", "shop:900"}, each(operate.Filter{IDs: []string{"shop:900", "shop:3", "shop:404"}}))
	for _, limit := range []int{1, 100, 101} {
		waiting.Limit = limit
		assert.Len(t, each(waiting), limit)
	}
	enough := errors.New("enough")
	assert.ErrorIs(t, b.Each(t.Context(), operate.Filter{Source: "shop"}, func(*event.Event) error { return enough }), enough)
	var wrong *operate.UsageError
	assert.ErrorAs(t, b.Each(t.Context(), operate.Filter{Limit: -1}, nil), &wrong)
}

func TestAPayloadThatIsNotThereInFull(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	e := ev(1, nil)
	b.stage(map[string]any{event.FieldEncoding: string(event.Chunked), event.FieldPayload: nil}, e)
	_, err := b.client.Insert(t.Context(), salesforce.Row{Object: event.ChunkObject, Fields: map[string]any{
		event.ChunkFieldEvent: e.RowID, event.ChunkFieldIndex: 1, event.ChunkFieldData: "eHg="}})
	require.NoError(t, err)
	met := 0
	require.NoError(t, b.Each(t.Context(), shop, func(e *event.Event) error {
		met++
		assert.Empty(t, e.Payload)
		return nil
	}))
	assert.Equal(t, 1, met, "the others are not held up by it")
	story, err := b.Show(t.Context(), "shop:1")
	require.NoError(t, err)
	assert.Equal(t, event.CodeField, story.Event.ErrorCode, "the rest of its story is told")
	assert.Empty(t, story.Event.Payload)
}
