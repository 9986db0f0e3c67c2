package identify_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/event"
	"sfbridge/bridge/identify"
	"sfbridge/mapping/path"
)

var received = time.Date(2026, 1, 5, 4, 30, 30, 0, time.UTC)

func template(t testing.TB, text string, use path.Escaping) path.Template {
	t.Helper()
	parsed, err := path.ParsePathOrTemplate(text, use)
	require.NoError(t, err)
	return parsed
}

func paths(t testing.TB, texts ...string) []path.Path {
	t.Helper()
	var list []path.Path
	for _, text := range texts {
		p, err := path.Parse(text)
		require.NoError(t, err)
		list = append(list, p)
	}
	return list
}

// stripeLike is an identity that most tests vary.
func stripeLike(t testing.TB) identify.Identity {
	return identify.Identity{
		ID:   []path.Template{template(t, "$.id", path.EventID)},
		Type: []path.Template{template(t, "$.type", path.Identity)},
		Entities: []identify.Entity{{
			Object: template(t, "$.data.id", path.Identity),
			Order:  []identify.Order{{Paths: paths(t, "$.created"), As: identify.UnixSeconds}},
		}},
	}
}

type delivery struct {
	header http.Header
	body   string
}

func read(t testing.TB, cfg identify.Config, d delivery) ([]identify.Identified, error) {
	t.Helper()
	if cfg.Source == "" {
		cfg.Source = "shop"
	}
	identifier, err := identify.New(cfg)
	require.NoError(t, err)
	if d.header == nil {
		d.header = http.Header{"Content-Type": {"application/json"}}
	}
	doc, err := identifier.Read(identify.Delivery{Header: d.header, Body: []byte(d.body), ReceivedAt: received})
	if err != nil {
		return nil, err
	}
	return doc.Events()
}

func one(t testing.TB, cfg identify.Config, d delivery) identify.Identified {
	t.Helper()
	events, err := read(t, cfg, d)
	require.NoError(t, err)
	require.Len(t, events, 1)
	return events[0]
}

func refused(t testing.TB, cfg identify.Config, d delivery) identify.Refusal {
	t.Helper()
	events, err := read(t, cfg, d)
	require.Empty(t, events)
	refusal := (*identify.Refusal)(nil)
	require.ErrorAs(t, err, &refusal)
	return *refusal
}

func TestIdentityOfOneEvent(t *testing.T) {
	t.Parallel()
	body := ` {"id":"evt_1", "type":"charge.succeeded","created":1767225600,"data":{"id":820982911946154508}}` + "\n"
	got := one(t, identify.Config{Identity: stripeLike(t)}, delivery{body: body})
	assert.Nil(t, got.Review)
	e := got.Event
	assert.Equal(t, "shop:evt_1", e.ID)
	assert.Equal(t, "shop", e.Source)
	assert.Equal(t, "charge.succeeded", e.Type)
	assert.Equal(t, "820982911946154508", e.ObjectID)
	assert.Equal(t, int64(1767225600000), *e.Order)
	assert.Equal(t, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), e.SourceTime)
	assert.Equal(t, received, e.ReceivedAt)
	assert.Equal(t, body, string(e.Payload), "every byte, white space too")
	assert.Equal(t, event.HashBytes([]byte(`{"created":1767225600,"data":{"id":820982911946154508},"id":"evt_1","type":"charge.succeeded"}`)), e.Hash)
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	contentType := func(s string) http.Header { return http.Header{"Content-Type": {s}} }
	for name, c := range map[string]struct {
		delivery
		want identify.Kind
	}{
		"no body":                 {delivery{body: ""}, identify.Empty},
		"white space":             {delivery{body: " \r\n\t"}, identify.Empty},
		"byte order mark alone":   {delivery{body: "\xEF\xBB\xBF"}, identify.Empty},
		"text":                    {delivery{body: "hello"}, identify.NotJSON},
		"two values":              {delivery{body: `{"id":"a"}{"id":"b"}`}, identify.NotJSON},
		"cut short":               {delivery{body: `{"id":"a"`}, identify.NotJSON},
		"id missing":              {delivery{body: `{}`}, identify.NoID},
		"id null":                 {delivery{body: `{"id":null}`}, identify.NoID},
		"id empty":                {delivery{body: `{"id":""}`}, identify.NoID},
		"id an object":            {delivery{body: `{"id":{"a":1}}`}, identify.NoID},
		"id with NUL":             {delivery{body: `{"id":"x\u0000y"}`}, identify.NoID},
		"id half a character":     {delivery{body: `{"id":"\ud83d"}`}, identify.NoID},
		"array":                   {delivery{body: `[{"id":"a"}]`}, identify.NoID},
		"BOM before empty object": {delivery{body: "\xEF\xBB\xBF{}"}, identify.NoID},
		"XML":                     {delivery{contentType("text/xml"), `<a/>`}, identify.Unsupported},
		"form":                    {delivery{contentType("application/x-www-form-urlencoded"), `payload=%7B%7D`}, identify.Unsupported},
		"nonsense type":           {delivery{contentType("application/json/x; ="), `{"id":"a"}`}, identify.Unsupported},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := refused(t, identify.Config{Identity: stripeLike(t)}, c.delivery)
			assert.Equal(t, c.want, got.Kind, got.Message)
			assert.NotEmpty(t, got.Message)
		})
	}
}

func TestContentTypesThatAreJSON(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"application/json", "Application/JSON; charset=utf-8", "text/plain", "application/cloudevents+json", "application/json; charset"} {
		got := one(t, identify.Config{Identity: stripeLike(t)}, delivery{http.Header{"Content-Type": {kind}}, `{"id":"a"}`})
		assert.Equal(t, "shop:a", got.Event.ID, kind)
	}
	assert.Equal(t, "shop:a", one(t, identify.Config{Identity: stripeLike(t)}, delivery{http.Header{}, `{"id":"a"}`}).Event.ID, "no type")
}

func TestLaterMemberOfTheSameNameWins(t *testing.T) {
	t.Parallel()
	got := one(t, identify.Config{Identity: stripeLike(t)}, delivery{body: `{"id":"a","id":"b","data":{"id":1},"data":{"id":2}}`})
	assert.Equal(t, "shop:b", got.Event.ID)
	assert.Equal(t, "2", got.Event.ObjectID)
}

func TestEventIDs(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 251)
	for name, c := range map[string]struct{ body, want string }{
		"zero":              {`{"id":0}`, "shop:0"},
		"number as written": {`{"id":820982911946154508}`, "shop:820982911946154508"},
		"longest":           {`{"id":"` + long[:250] + `"}`, "shop:" + long[:250]},
		"too long":          {`{"id":"` + long + `"}`, "shop:sha256:" + event.HashBytes([]byte(long))},
		"control character": {`{"id":"a\nb"}`, "shop:sha256:" + event.HashBytes([]byte("a\nb"))},
		"mark of conflicts": {`{"id":"a#conflict:1"}`, "shop:a%23conflict:1"},
		"looks like a hash": {`{"id":"sha256:1"}`, "shop:%73ha256:1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.want, one(t, identify.Config{Identity: stripeLike(t)}, delivery{body: c.body}).Event.ID)
		})
	}
}

func TestOrder(t *testing.T) {
	t.Parallel()
	at := func(n int64) *int64 { return &n }
	for name, c := range map[string]struct {
		as     identify.Unit
		value  string
		want   *int64
		review bool
	}{
		"seconds":                {identify.UnixSeconds, `1767225600`, at(1767225600000), false},
		"seconds as text":        {identify.UnixSeconds, `"1767225600"`, at(1767225600000), false},
		"seconds with fraction":  {identify.UnixSeconds, `"1767225600.123456"`, at(1767225600123), false},
		"seconds with exponent":  {identify.UnixSeconds, `1.7672256e9`, at(1767225600000), false},
		"milliseconds":           {identify.UnixMillis, `1767225600123`, at(1767225600123), false},
		"RFC 3339":               {identify.RFC3339, `"2026-01-01T01:00:00.5+01:00"`, at(1767225600500), false},
		"RFC 3339 without colon": {identify.RFC3339, `"2026-01-01T01:00:00+0100"`, at(1767225600000), false},
		"version":                {identify.Integer, `7`, at(7), false},
		"version 7.0":            {identify.Integer, `7.0`, at(7), false},
		"largest":                {identify.Integer, `9007199254740992`, at(1 << 53), false},
		"null":                   {identify.Integer, `null`, nil, false},
		"beyond 2^53":            {identify.Integer, `9007199254740993`, nil, true},
		"huge exponent":          {identify.Integer, `1e999999999`, nil, true},
		"tiny exponent":          {identify.Integer, `1e-999999999`, nil, true},
		"many digits":            {identify.Integer, `1` + strings.Repeat("0", 100), nil, true},
		"version with fraction":  {identify.Integer, `7.5`, nil, true},
		"text":                   {identify.UnixSeconds, `"yesterday"`, nil, true},
		"empty text":             {identify.RFC3339, `""`, nil, true},
		"no offset":              {identify.RFC3339, `"2026-01-01T01:00:00"`, nil, true},
		"impossible date":        {identify.RFC3339, `"2026-02-30T01:00:00Z"`, nil, true},
		"object":                 {identify.UnixSeconds, `{}`, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			identity := stripeLike(t).With(identify.Override{Order: &identify.Order{Paths: paths(t, "$.at"), As: c.as}})
			got := one(t, identify.Config{Identity: identity}, delivery{body: `{"id":"a","at":` + c.value + `}`})
			assert.Equal(t, c.want, got.Event.Order)
			if c.review {
				require.NotNil(t, got.Review)
				assert.Equal(t, event.CodeOrder, got.Review.Code)
				assert.Contains(t, got.Review.Reason, "$.at")
			} else {
				assert.Nil(t, got.Review)
			}
			if c.want == nil || c.as == identify.Integer {
				assert.Equal(t, received, got.Event.SourceTime, "not a time: when it was received")
			} else {
				assert.Equal(t, *c.want, got.Event.SourceTime.UnixMilli())
			}
		})
	}
}

func TestTimesThatSalesforceCannotHoldStayOrders(t *testing.T) {
	t.Parallel()
	got := one(t, identify.Config{Identity: stripeLike(t)}, delivery{body: `{"id":"a","data":{"id":"o"},"created":9007199254740}`})
	assert.Equal(t, int64(9007199254740000), *got.Event.Order)
	assert.Equal(t, received, got.Event.SourceTime)
	assert.Nil(t, got.Review)
}

func TestTextFieldsKeepWhatTheyAreGiven(t *testing.T) {
	t.Parallel()
	got := one(t, identify.Config{Identity: stripeLike(t)}, delivery{
		body: `{"id":"a","type":"  x\u0007y ","data":{"id":" o\u0000bj "}}`,
	})
	assert.Equal(t, "x%07y", got.Event.Type)
	require.NotNil(t, got.Review, "an object with NUL")
	assert.Equal(t, event.CodeField, got.Review.Code)

	got = one(t, identify.Config{Identity: stripeLike(t)}, delivery{
		body: `{"id":"a","type":"` + strings.Repeat("t", 300) + `","data":{"id":" o\tbj "}}`,
	})
	assert.Equal(t, strings.Repeat("t", 255), got.Event.Type)
	assert.Equal(t, "%20o%09bj%20", got.Event.ObjectID)
}

func TestOverridesReplaceOnlyWhatTheyName(t *testing.T) {
	t.Parallel()
	id, object := template(t, "order:{$.n}", path.EventID), template(t, "$.other", path.Identity)
	identity := stripeLike(t).With(identify.Override{ID: &id, Object: &object})
	got := one(t, identify.Config{Identity: identity}, delivery{body: `{"n":7,"type":"x","other":"o","data":{"id":"d"},"created":1}`})
	assert.Equal(t, "shop:order:7", got.Event.ID)
	assert.Equal(t, "x", got.Event.Type)
	assert.Equal(t, "o", got.Event.ObjectID)
	assert.Equal(t, int64(1000), *got.Event.Order, "the order of the object that the preset found")
}

func TestContext(t *testing.T) {
	t.Parallel()
	header := http.Header{"Content-Type": {"application/json"}, "X-Topic": {"a", "b"}, "X-Other": {"c"}}
	cfg := identify.Config{Identity: stripeLike(t), Context: paths(t, "$$.account", "header.x-topic", "$.id", "$$.missing")}
	got := one(t, cfg, delivery{header, `{"id":"a","account":820982911946154508}`})
	assert.Equal(t, `{"$$.account":820982911946154508,"header.x-topic":"a, b"}`, string(got.Event.Context))

	cfg.Context = nil
	assert.Empty(t, one(t, cfg, delivery{header, `{"id":"a"}`}).Event.Context)

	header.Set("X-Topic", strings.Repeat("t", event.ContextLimit))
	cfg.Context = paths(t, "header.x-topic")
	assert.Equal(t, identify.ContextTooLarge, refused(t, cfg, delivery{header, `{"id":"a"}`}).Kind)
}

func TestConfigMistakes(t *testing.T) {
	t.Parallel()
	identity := stripeLike(t)
	identity.Volatile = paths(t, "header.X-Attempt")
	_, err := identify.New(identify.Config{Source: "shop", Identity: identity})
	assert.ErrorContains(t, err, "event.volatile: header.X-Attempt")
	_, err = identify.New(identify.Config{Source: "shop"})
	assert.ErrorContains(t, err, "event.id is missing")
	_, err = identify.New(identify.Config{Identity: stripeLike(t)})
	assert.ErrorContains(t, err, "name")
}
