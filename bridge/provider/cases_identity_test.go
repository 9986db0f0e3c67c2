package provider_test

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/event"
	"sfbridge/bridge/identify"
	"sfbridge/bridge/provider"
	"sfbridge/bridge/verify"
	"sfbridge/mapping/path"
)

func TestA13OddBytesAreNeitherLostNorChanged(t *testing.T) {
	t.Parallel()
	latin1, err := hex.DecodeString("7b226964223a2265762d3838222c226e616d65223a224a6f73e9227d")
	require.NoError(t, err)
	s := source{t: t, provider: "github", secrets: []string{"demo-secret-two"}}
	header := map[string]string{"X-Hub-Signature-256": "sha256=" + latin1GitHub, "X-GitHub-Delivery": "d3", "X-GitHub-Event": "issues"}
	got := s.one(incoming{header: header, body: string(latin1)})
	assert.Equal(t, latin1, got.Event.Payload)
	assert.Equal(t, event.HashBytes(latin1), got.Event.Hash)
	require.NotNil(t, got.Review)
	assert.Equal(t, "the payload is not valid UTF-8", got.Review.Reason)
	stored, err := event.EncodePayload(got.Event.Payload)
	require.NoError(t, err)
	assert.Equal(t, event.Base64, stored.Encoding)

	stripe := source{t: t, provider: "stripe", secrets: []string{"secret"}}
	for _, body := range []string{`{"id":"e1","n":"x\u0000y"}`, `{"id":"e2","n":"\ud83d"}`, "\xEF\xBB\xBF" + `{"id":"e3"}`} {
		got := stripe.one(stripe.signed(incoming{body: body}))
		assert.Equal(t, body, string(got.Event.Payload))
		assert.Nil(t, got.Review)
	}
	assert.Equal(t, identify.NoID, stripe.kind(stripe.signed(incoming{body: "\xEF\xBB\xBF{}"})))
}

func TestA14AnArrayIsOneEventPerElement(t *testing.T) {
	t.Parallel()
	split, err := path.ParseList("$[*]")
	require.NoError(t, err)
	s := source{t: t, provider: "generic", secrets: []string{"secret"}, event: identify.Override{
		ID: idTemplate(t, "{$.eventId}:{$.objectId}"), Type: plainTemplate(t, "$.type"), Object: plainTemplate(t, "$.objectId"), Split: &split,
	}}
	batch := s.signed(incoming{body: `[{"eventId":11,"objectId":5},{"eventId":12,"objectId":5},{"eventId":11,"objectId":9}]`})
	first, err := s.deliver(batch)
	require.NoError(t, err)
	again, err := s.deliver(batch)
	require.NoError(t, err)
	require.Len(t, first, 3)
	for i, want := range []string{"generic:11:5", "generic:12:5", "generic:11:9"} {
		assert.Equal(t, want, first[i].Event.ID)
		assert.Equal(t, want, again[i].Event.ID)
		assert.Equal(t, first[i].Event.Hash, again[i].Event.Hash)
	}
	alone := source{t: t, provider: "stripe", secrets: []string{"secret"}}
	assert.Equal(t, identify.NoID, alone.kind(alone.signed(incoming{body: `[{"id":"a"}]`})), "where no batch is expected")
}

// TestA15EachPresetSaysWhichBytesOfACompressedBodyAreSigned: decompression is
// the receiver's; what it needs to know is whether to verify before or after.
func TestA15EachPresetSaysWhichBytesOfACompressedBodyAreSigned(t *testing.T) {
	t.Parallel()
	catalog, err := provider.Load()
	require.NoError(t, err)
	for _, name := range catalog.Names() {
		preset, err := catalog.Preset(name)
		require.NoError(t, err)
		assert.Equal(t, provider.Wire, preset.Signs, name)
	}
}

func TestB09WhatChangesWithEachAttemptIsNoPartOfTheKey(t *testing.T) {
	t.Parallel()
	s := source{t: t, provider: "generic", secrets: []string{"secret"}, event: identify.Override{
		ID: idTemplate(t, "$.id"), Type: plainTemplate(t, "$.type"),
	}}
	body := `{"id":"e1","type":"t","data":{"id":"sub_9"}}`
	first := s.one(s.signed(incoming{body: body, header: map[string]string{"X-Attempt": "1"}}))
	second := s.one(s.signed(incoming{body: body, header: map[string]string{"X-Attempt": "2"}, now: signedAt + 60}))
	assert.Equal(t, first.Event.ID, second.Event.ID)
	assert.Equal(t, first.Event.Hash, second.Event.Hash)
	other := s.one(s.signed(incoming{body: strings.ReplaceAll(body, "e1", "e2")}))
	assert.NotEqual(t, first.Event.ID, other.Event.ID, "another event of the same object")
}

func TestB11EventsWithoutAnIDNeverShareAKey(t *testing.T) {
	t.Parallel()
	stripe := source{t: t, provider: "stripe", secrets: []string{"secret"}}
	for _, body := range []string{`{"type":"unsubscribe"}`, `{"id":null}`, `{"id":""}`} {
		assert.Equal(t, identify.NoID, stripe.kind(stripe.signed(incoming{body: body})), body)
	}
	assert.Equal(t, "stripe:0", stripe.one(stripe.signed(incoming{body: `{"id":0}`})).Event.ID)
	derived := source{t: t, provider: "generic", secrets: []string{"secret"}, event: identify.Override{
		ID: idTemplate(t, "{$.type}:{$.email}:{$.ts}"), Type: plainTemplate(t, "$.type"),
	}}
	keys := map[string]bool{}
	for _, body := range []string{
		`{"type":"unsubscribe","email":"p@example.test","ts":1767225600}`,
		`{"type":"unsubscribe","email":"p@example.test","ts":1767225601}`,
		`{"type":"unsubscribe","email":"p@example.test:1767225600","ts":1767225600}`,
		`{"type":"unsubscribe:p@example.test","email":"1767225600","ts":1767225600}`,
	} {
		keys[derived.one(derived.signed(incoming{body: body})).Event.ID] = true
	}
	assert.Len(t, keys, 4)
	assert.Equal(t, identify.NoID, derived.kind(derived.signed(incoming{body: `{"type":"unsubscribe","ts":1767225600}`})))
}

func TestB14VolatileMembersAreLeftOutOfTheHash(t *testing.T) {
	t.Parallel()
	s := source{t: t, provider: "generic", secrets: []string{"secret"}, event: identify.Override{
		ID: idTemplate(t, "{$.type}:{$.n}"), Type: plainTemplate(t, "$.type"), Volatile: pathsOf(t, "$.meta.sent_at", "$.tries[-1]"),
	}}
	hash := func(body string) string { return s.one(s.signed(incoming{body: body})).Event.Hash }
	first := hash(`{"type":"t","n":1,"meta":{"sent_at":"10:00:00","x":1},"tries":[1,2]}`)
	assert.Equal(t, first, hash(`{"n":1, "type":"t","meta":{"x":1,"sent_at":"10:00:01"},"tries":[1,3]}`))
	assert.NotEqual(t, first, hash(`{"type":"t","n":1,"meta":{"sent_at":"10:00:00","x":2},"tries":[1,2]}`))
	assert.NotEqual(t, first, hash(`{"type":"t","n":1,"meta":{"sent_at":"10:00:00","x":1.0},"tries":[1,2]}`), "numbers as written")

	stripe := source{t: t, provider: "stripe", secrets: []string{"secret"}}
	one := stripe.one(stripe.signed(incoming{body: `{"id":"e","pending_webhooks":2}`}))
	two := stripe.one(stripe.signed(incoming{body: `{"id":"e","pending_webhooks":1}`}))
	assert.Equal(t, one.Event.Hash, two.Event.Hash)
}

func TestC01LargeIntegersKeepTheirDigits(t *testing.T) {
	t.Parallel()
	s := source{t: t, provider: "generic", secrets: []string{"secret"}, context: pathsOf(t, "$$.order.parent"), event: identify.Override{
		ID: idTemplate(t, "shop:order:{$.order.id}:v1"), Type: plainTemplate(t, "$.type"), Object: plainTemplate(t, "$.order.parent"),
	}}
	body := `{"order":{"id":820982911946154508,"parent":9007199254740993}}`
	got := s.one(s.signed(incoming{body: body})).Event
	assert.Equal(t, "generic:shop:order:820982911946154508:v1", got.ID)
	assert.Equal(t, "9007199254740993", got.ObjectID)
	assert.Equal(t, body, string(got.Payload))
	assert.Equal(t, `{"$$.order.parent":9007199254740993}`, string(got.Context))
}

func TestTheEmptyKeyIsNoKey(t *testing.T) {
	t.Parallel()
	catalog, err := provider.Load()
	require.NoError(t, err)
	preset, err := catalog.Preset("github")
	require.NoError(t, err)
	for _, secrets := range [][]string{nil, {}, {""}, {"good", ""}} {
		_, err := verify.New(verify.Config{Rules: preset.Rules, Secrets: secrets})
		problem := (*verify.SecretError)(nil)
		require.ErrorAs(t, err, &problem)
	}
	s := source{t: t, provider: "github", secrets: []string{"x"}}
	assert.Equal(t, verify.BadSignature, s.judge(incoming{body: body2, header: map[string]string{"X-Hub-Signature-256": "sha256=" + body2NoKey}}).Reason)
}
