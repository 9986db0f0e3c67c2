package identify_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"sfbridge/bridge/event"
	"sfbridge/bridge/identify"
	"sfbridge/mapping/path"
)

func batchOf(t testing.TB, split string) identify.Config {
	t.Helper()
	list, err := path.ParseList(split)
	require.NoError(t, err)
	return identify.Config{Identity: stripeLike(t).With(identify.Override{Split: &list})}
}

func ids(events []identify.Identified) []string {
	list := []string{}
	for _, e := range events {
		list = append(list, e.Event.ID)
	}
	return list
}

func TestBatchElementsAreEventsWithTheirOwnBytes(t *testing.T) {
	t.Parallel()
	body := "{ \"other\":[1], \"events\" : [ {\"id\":\"a\", \"n\":1.0}\n,{\"id\":\"b\",\"x\":\"],[\\\"\"} ],\"account\":\"acc\"}"
	cfg := batchOf(t, "$.events[*]")
	cfg.Context = paths(t, "$$.account")
	events, err := read(t, cfg, delivery{body: body})
	require.NoError(t, err)
	assert.Equal(t, []string{"shop:a", "shop:b"}, ids(events))
	assert.Equal(t, `{"id":"a", "n":1.0}`, string(events[0].Event.Payload))
	assert.Equal(t, `{"id":"b","x":"],[\""}`, string(events[1].Event.Payload))
	for _, e := range events {
		assert.Equal(t, `{"$$.account":"acc"}`, string(e.Event.Context))
		assert.Nil(t, e.Review)
	}
}

func TestOneBadElementDoesNotLoseItsNeighbours(t *testing.T) {
	t.Parallel()
	events, err := read(t, batchOf(t, "$[*]"), delivery{body: `[{"id":"a"},null,{"no":"id"},7,[],"x",{"id":"b"}]`})
	require.NoError(t, err)
	require.Len(t, events, 7)
	assert.Equal(t, "shop:a", events[0].Event.ID)
	assert.Equal(t, "shop:b", events[6].Event.ID)
	for _, bad := range events[1:6] {
		require.NotNil(t, bad.Review)
		assert.Equal(t, event.CodeNoID, bad.Review.Code)
		assert.Equal(t, "shop:sha256:"+bad.Event.Hash, bad.Event.ID)
	}
	assert.Equal(t, `{"no":"id"}`, string(events[2].Event.Payload))
	assert.Equal(t, "null", string(events[1].Event.Payload))
}

func TestEmptyBatches(t *testing.T) {
	t.Parallel()
	for _, body := range []string{`{"events":[]}`, `{"events":null}`, `{}`, `{"events": [ ] }`} {
		events, err := read(t, batchOf(t, "$.events[*]"), delivery{body: body})
		assert.NoError(t, err, body)
		assert.Empty(t, events, body)
	}
	for _, body := range []string{`{"events":7}`, `{"events":{}}`, `{"events":"[]"}`} {
		assert.Equal(t, identify.NoID, refused(t, batchOf(t, "$.events[*]"), delivery{body: body}).Kind, body)
	}
}

func TestNestedBatches(t *testing.T) {
	t.Parallel()
	body := `{"entry":[{"changes":[{"id":"a"},{"id":"b"}]},{"changes":[]},{"changes":5},null,{"changes":[{"id":"c"}]}]}`
	events, err := read(t, batchOf(t, "$.entry[*].changes[*]"), delivery{body: body})
	require.NoError(t, err)
	require.Len(t, events, 5)
	assert.Equal(t, []string{"shop:a", "shop:b"}, ids(events[:2]))
	assert.Equal(t, `{"changes":5}`, string(events[2].Event.Payload), "kept as it is")
	assert.NotNil(t, events[2].Review)
	assert.Equal(t, `null`, string(events[3].Event.Payload))
	assert.NotNil(t, events[3].Review)
	assert.Equal(t, "shop:c", events[4].Event.ID)
}

func TestTooManyEvents(t *testing.T) {
	t.Parallel()
	body := "[" + strings.TrimSuffix(strings.Repeat("1,", identify.MaxEvents+1), ",") + "]"
	assert.Equal(t, identify.TooMany, refused(t, batchOf(t, "$[*]"), delivery{body: body}).Kind)
}

func TestBytesThatAreNotUTF8HurtOnlyTheirElement(t *testing.T) {
	t.Parallel()
	events, err := read(t, batchOf(t, "$[*]"), delivery{body: "[{\"id\":\"a\"},{\"id\":\"b\",\"n\":\"Jos\xE9\"},{\"id\":\"c\xE9\"},{\"id\":\"d\"}]"})
	require.NoError(t, err)
	require.Len(t, events, 4)
	assert.Nil(t, events[0].Review)
	assert.Nil(t, events[3].Review)
	assert.Equal(t, "shop:b", events[1].Event.ID)
	assert.Equal(t, "{\"id\":\"b\",\"n\":\"Jos\xE9\"}", string(events[1].Event.Payload))
	require.NotNil(t, events[1].Review)
	assert.Equal(t, event.CodePayload, events[1].Review.Code)
	assert.Equal(t, "shop:sha256:"+event.HashBytes(events[2].Event.Payload), events[2].Event.ID, "an id that can't be read")
}

// TestElementsOfAnyBatchKeepTheirBytes builds batches out of known elements and
// expects each back, whatever stands between them.
func TestElementsOfAnyBatchKeepTheirBytes(t *testing.T) {
	t.Parallel()
	cfg := batchOf(t, "$.a['b,]'][*]")
	rapid.Check(t, func(rt *rapid.T) {
		texts := []string{`{"id":"x"}`, `[[]]`, `"a\\\""`, `{"id":"y","z":[{"q":"]}"}]}`, `12e3`, `null`, `true`, `""`, `{ "id" : "z" }`}
		elements := rapid.SliceOfN(rapid.SampledFrom(texts), 0, 8).Draw(rt, "elements")
		gap := rapid.SampledFrom([]string{"", " ", "\n\t", " \r\n "}).Draw(rt, "gap")
		body := `{"a":{"b":[9],"b,]":` + gap + "[" + gap + strings.Join(elements, gap+","+gap) + gap + "]}," + gap + `"c":["d"]}`
		events, err := read(t, cfg, delivery{body: body})
		require.NoError(rt, err)
		require.Len(rt, events, len(elements))
		for i, e := range events {
			assert.Equal(rt, elements[i], string(e.Event.Payload))
		}
	})
}

func TestForms(t *testing.T) {
	t.Parallel()
	header := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}
	cfg := identify.Config{Identity: stripeLike(t), Content: identify.Content{FormMember: "payload"}}
	got := one(t, cfg, delivery{header, `a=%zz&payload=%7B%22id%22%3A+%22x%22%7D&payload=%7B%22id%22%3A+%22x%22%7D`})
	assert.Equal(t, `{"id": "x"}`, string(got.Event.Payload))
	for body, want := range map[string]identify.Kind{
		``:                              identify.Empty,
		`other=1`:                       identify.Empty,
		`payload=`:                      identify.Empty,
		`payload=%zz`:                   identify.NotJSON,
		`payload=x`:                     identify.NotJSON,
		`payload=%7B%7D&payload=%5B%5D`: identify.NotJSON,
	} {
		assert.Equal(t, want, refused(t, cfg, delivery{header, body}).Kind, body)
	}
	assert.Equal(t, "shop:j", one(t, cfg, delivery{body: `{"id":"j"}`}).Event.ID, "JSON still works")
}

// TestOneBrokenLineDoesNotLoseItsNeighbours: of several lines those that are no
// JSON object are kept for a person under the hash of their bytes, each in its
// place. Without a single event it is no delivery in lines.
func TestOneBrokenLineDoesNotLoseItsNeighbours(t *testing.T) {
	t.Parallel()
	cfg := batchOf(t, "$[*]")
	cfg.Content.Lines = true
	broken := func(line string) string { return "shop:sha256:" + event.HashBytes([]byte(line)) }
	for body, want := range map[string][]string{
		"{\"id\":\"a\"}\n{\"id\":\r\n{\"id\":\"b\"}\n":         {"shop:a", broken(`{"id":`), "shop:b"},
		"{\"id\":\"a\"}\n\n{\"id\":\"b\"}":                     {"shop:a", "shop:b"},
		"oops\n{\"id\":\"a\"}\n7\n{\"id\":\"a\"} x":            {broken("oops"), "shop:a", broken("7"), broken(`{"id":"a"} x`)},
		"{\"id\":\"a\"}\n{\"n\":\"\xff\"":                      {"shop:a", broken("{\"n\":\"\xff\"")},
		"{\"id\":\"a\"}\n{\"id\":\"" + strings.Repeat("b", 10): {"shop:a", broken(`{"id":"` + strings.Repeat("b", 10))},
	} {
		events, err := read(t, cfg, delivery{body: body})
		require.NoError(t, err, body)
		assert.Equal(t, want, ids(events), body)
		for _, e := range events {
			if strings.Contains(e.Event.ID, "sha256:") {
				require.NotNil(t, e.Review, body)
				assert.Equal(t, event.CodePayload, e.Review.Code)
				assert.NotContains(t, e.Review.Reason, "oops")
				assert.Equal(t, event.HashBytes(e.Event.Payload), e.Event.Hash, "it is kept as it came")
			} else {
				assert.Nil(t, e.Review, body)
			}
		}
	}
	for _, body := range []string{"oops", "oops\nmore", "[\n{\"id\":\"a\"},\n{\"id\":\n]"} {
		_, err := read(t, cfg, delivery{body: body})
		refused := &identify.Refusal{}
		require.ErrorAs(t, err, &refused, body)
		assert.Equal(t, identify.NotJSON, refused.Kind)
	}
	line := "{\"id\":\"a\"}\n"
	_, err := read(t, cfg, delivery{body: strings.Repeat(line, identify.MaxEvents) + "{"})
	assert.ErrorContains(t, err, "more than 5000 events")
	events, err := read(t, cfg, delivery{body: line + strings.Repeat("\n \r\n", identify.MaxEvents) + line})
	require.NoError(t, err, "blank lines are no events")
	assert.Equal(t, []string{"shop:a", "shop:a"}, ids(events))
}
