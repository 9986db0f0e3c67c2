package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"sfbridge/bridge/event"
	"sfbridge/bridge/operate"
)

func TestShowPrintsPayloadsForPeople(t *testing.T) {
	t.Parallel()
	story := operate.Story{
		Event:   &event.Event{ID: "shop:1", Encoding: event.Plain, Payload: []byte(`{"amount":1.10,"lines":[{"sku":"a\u001b[31m"}]}`)},
		Effects: []*event.Effect{{Name: "mail", Status: event.EffectDone, Key: "k", Request: `{"to":"ada"}`, History: "sent"}},
	}
	text := shown(t, func(env environment) error { return showStory(env, story) })
	assert.Contains(t, text, "payload (47 bytes)\n  {\n    \"amount\": 1.10,\n    \"lines\": [\n      {\n        \"sku\": \"a\\u001b[31m\"\n")
	assert.Contains(t, text, "  key k\n  sent\n  request {\n    \"to\": \"ada\"\n  }\n")

	story.Event.Payload = []byte("no JSON \x1b[31m\xff\nsecond line\n")
	text = shown(t, func(env environment) error { return showStory(env, story) })
	assert.Contains(t, text, "\n  no JSON  [31m\uFFFD\n  second line\n")

	story.Event.Encoding, story.Event.Payload = event.Chunked, nil
	text = shown(t, func(env environment) error { return showStory(env, story) })
	assert.Contains(t, text, "can't be read")

	story.Event.Encoding, story.Event.Payload = "", nil
	text = shown(t, func(env environment) error { return showStory(env, story) })
	assert.Contains(t, text, "cleared by retention")
}

func TestShowTellsThatADiffIsCut(t *testing.T) {
	t.Parallel()
	story := operate.Story{
		Event:    &event.Event{ID: "shop:1#conflict:ab", Encoding: event.Plain, Payload: []byte("\xff")},
		Original: &event.Event{ID: "shop:1"}, ChangesCut: 300,
		Changes: []operate.Change{{Path: "$.a", Kind: "removed", From: 1}},
	}
	text := shown(t, func(env environment) error { return showStory(env, story) })
	assert.Contains(t, text, "differs from shop:1\n  - $.a: 1\n  … and 300 more differences")
	text = shown(t, func(env environment) error { return printStory(env, story) })
	assert.Contains(t, text, `"conflict_of":"shop:1","changes":[{"path":"$.a","kind":"removed","from":1,"to":null}],"changes_cut":300`)
	assert.Contains(t, text, "\"payload\":\"\uFFFD\"", "as the admin API shows it")
}

// Attempts count what failed; the other conflicts under an id are named where
// one of them is decided on.
func TestShowTellsOfAttemptsAndOtherConflicts(t *testing.T) {
	t.Parallel()
	story := operate.Story{
		Event:     &event.Event{ID: "shop:1#conflict:b", Attempts: 2, ReplayCount: 1},
		Original:  &event.Event{ID: "shop:1"},
		Conflicts: []*event.Event{{ID: "shop:1#conflict:a", Status: event.Completed}},
	}
	text := shown(t, func(env environment) error { return showStory(env, story) })
	assert.Regexp(t, `(?m)^failed attempts +2\nreplays +1\nduplicates +0$`, text)
	assert.Regexp(t, `other conflicts with shop:1\n  \S+ shop:1#conflict:a Completed\n`, text)
}

func TestLongPayloadsAreCut(t *testing.T) {
	t.Parallel()
	for name, raw := range map[string]string{
		"many lines": "[" + strings.Repeat("1,", 5000) + "1]",
		"one line":   `{"a":"` + strings.Repeat("x", 5000) + `"}`,
		"text":       strings.Repeat("x", 5000),
	} {
		text := payloadText([]byte(raw))
		assert.LessOrEqual(t, len(text), payloadLines+1, name)
		for _, line := range text {
			assert.LessOrEqual(t, len([]rune(line)), payloadWidth, name)
		}
		assert.Contains(t, text[len(text)-1], "--json prints them", name)
	}
	assert.Equal(t, []string{"[]"}, payloadText([]byte("[]")))
	assert.Empty(t, payloadText(nil))
}
