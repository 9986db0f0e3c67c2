package identify_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/event"
	"sfbridge/bridge/identify"
	"sfbridge/mapping/path"
)

func mustPath(t *testing.T, text string) path.Path {
	t.Helper()
	p, err := path.Parse(text)
	require.NoError(t, err)
	return p
}

func parsed(t *testing.T, text string, e path.Escaping) path.Template {
	t.Helper()
	p, err := path.ParsePathOrTemplate(text, e)
	require.NoError(t, err)
	return p
}

// shop is a source whose events hold the object at $.data, ordered as said.
func shop(t *testing.T, as identify.Unit) *identify.Identifier {
	t.Helper()
	i, err := identify.New(identify.Config{Source: "shop", Identity: identify.Identity{
		ID: []path.Template{parsed(t, "$.id", path.EventID)}, Type: []path.Template{parsed(t, "$.type", path.Identity)},
		Entities: []identify.Entity{{Object: parsed(t, "$.data.id", path.Identity), Order: []identify.Order{{Paths: []path.Path{mustPath(t, "$.at")}, As: as}}}},
	}})
	require.NoError(t, err)
	return i
}

func TestAListedObjectBecomesAnEvent(t *testing.T) {
	t.Parallel()
	object, err := path.DecodeJSON([]byte(`{"id":"ch_1","amount":1.10,"updated":1767225600}`))
	require.NoError(t, err)
	read := time.UnixMilli(1767229200987)
	listed := identify.Listed{Object: object, Type: "charge.listed", Into: mustPath(t, "$.data"), ReadAt: read, Sweep: time.UnixMilli(1767229000001)}
	found, err := shop(t, identify.UnixSeconds).Make(listed)
	require.NoError(t, err)
	e := found.Event
	assert.Equal(t, "shop:reconcile:ch_1:1767229200000:1767229000001", e.ID)
	assert.True(t, event.IsRepair(e.ID))
	assert.Equal(t, "ch_1", e.ObjectID)
	assert.EqualValues(t, 1767229200000, *e.Order, "rounded down to what events can tell apart")
	assert.Equal(t, `{"data":{"amount":1.10,"id":"ch_1","updated":1767225600},"type":"charge.listed"}`, string(e.Payload))
	assert.Equal(t, "charge.listed", e.Type)
	assert.NotEmpty(t, e.Hash)

	found, err = shop(t, identify.UnixMillis).Make(listed)
	require.NoError(t, err)
	assert.EqualValues(t, 1767229200987, *found.Event.Order)

	listed.Order = &identify.Order{Paths: []path.Path{mustPath(t, "@.updated")}, As: identify.UnixSeconds}
	found, err = shop(t, identify.Integer).Make(listed)
	require.NoError(t, err)
	assert.EqualValues(t, 1767225600000, *found.Event.Order)
	assert.Equal(t, int64(1767225600), found.Event.SourceTime.Unix())
}

// What a provider puts into an object's id makes a repair nothing else.
func TestRepairsAreToldByTheirIDs(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 255)
	for object, want := range map[string]string{
		"a#conflict:b%!":  "shop:reconcile:a%23conflict:b%25%21:5:7",
		"reconcile:a:1:2": "shop:reconcile:reconcile:a:1:2:5:7",
		"a\nb ":           "shop:reconcile:a%0Ab%20:5:7",
		long:              "shop:reconcile:sha256:" + event.HashBytes([]byte(long)) + ":5:7",
	} {
		found, err := shop(t, identify.UnixMillis).Make(identify.Listed{
			Object: map[string]any{"id": object}, Type: "t", Into: mustPath(t, "$.data"), ReadAt: time.UnixMilli(5), Sweep: time.UnixMilli(7),
		})
		require.NoError(t, err)
		assert.Equal(t, want, found.Event.ID)
		assert.True(t, event.IsRepair(found.Event.ID))
		assert.False(t, event.IsConflict(found.Event.ID))
	}
	doc, err := shop(t, identify.UnixMillis).Read(identify.Delivery{Body: []byte(`{"id":"reconcile:a:1:2","data":{"id":"a"}}`)})
	require.NoError(t, err)
	found, err := doc.Events()
	require.NoError(t, err)
	assert.Equal(t, "shop:%72econcile:a:1:2", found[0].Event.ID, "an id that a provider gives tells no repair")
	assert.False(t, event.IsRepair(found[0].Event.ID))
}

func TestWhatNoEventIsMadeOf(t *testing.T) {
	t.Parallel()
	object := map[string]any{"id": "ch_1"}
	for name, c := range map[string]struct {
		as     identify.Unit
		listed identify.Listed
		want   string
	}{
		"a version":     {identify.Integer, identify.Listed{Object: object, Into: mustPath(t, "$.data")}, "reconcile.order"},
		"no order":      {identify.UnixSeconds, identify.Listed{Object: object, Into: mustPath(t, "$.data"), Order: &identify.Order{Paths: []path.Path{mustPath(t, "@.none")}, As: identify.UnixSeconds}}, "no order value"},
		"a bad order":   {identify.UnixSeconds, identify.Listed{Object: object, Into: mustPath(t, "$.data"), Order: &identify.Order{Paths: []path.Path{mustPath(t, "@.id")}, As: identify.UnixSeconds}}, "no number"},
		"no id":         {identify.UnixSeconds, identify.Listed{Object: map[string]any{}, Into: mustPath(t, "$.data")}, "no id"},
		"another place": {identify.UnixSeconds, identify.Listed{Object: object, Into: mustPath(t, "$.other")}, "no id"},
	} {
		_, err := shop(t, c.as).Make(c.listed)
		assert.ErrorContains(t, err, c.want, name)
	}
}

func TestVersioned(t *testing.T) {
	t.Parallel()
	assert.True(t, shop(t, identify.Integer).Versioned())
	assert.False(t, shop(t, identify.RFC3339).Versioned())
	assert.False(t, unordered(t).Versioned())
}

func unordered(t *testing.T) *identify.Identifier {
	t.Helper()
	i, err := identify.New(identify.Config{Source: "shop", Identity: identify.Identity{ID: []path.Template{parsed(t, "$.id", path.EventID)}}})
	require.NoError(t, err)
	return i
}
