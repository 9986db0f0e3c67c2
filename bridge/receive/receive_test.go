package receive

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/time/rate"

	"sfbridge/bridge/event"
	"sfbridge/bridge/identify"
	"sfbridge/bridge/stage"
	"sfbridge/bridge/verify"
	"sfbridge/mapping/path"
)

const secret = "demo-secret-one"

func sign(body string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(body))
	return hex.EncodeToString(mac.Sum(nil))
}

// fakeStager answers by what the test says of an event id; else accepted.
type fakeStager struct {
	answers map[string]stage.Answer
	staged  []*event.Event
	rejects []bool
	ready   error
}

func (f *fakeStager) Ready(context.Context) error { return f.ready }

func (f *fakeStager) Stage(_ context.Context, requests []stage.Request) []stage.Answer {
	answers := make([]stage.Answer, len(requests))
	for i, r := range requests {
		f.staged = append(f.staged, r.Event)
		f.rejects = append(f.rejects, r.RejectConflict)
		a, ok := f.answers[r.Event.ID]
		if !ok {
			a = stage.Answer{EventID: r.Event.ID, Status: stage.Accepted}
		}
		answers[i] = a
	}
	return answers
}

type bundle struct {
	stager  *fakeStager
	source  *Source
	handler http.Handler
	log     *bytes.Buffer
}

func template(t testing.TB, s string) path.Template {
	t.Helper()
	p, err := path.Parse(s)
	require.NoError(t, err)
	return path.TemplateOf(p, path.EventID)
}

// setup returns a receiver with one source "shop": HMAC over the body, id $.id,
// type $.type, 1 KiB at the most.
func setup(t testing.TB, change func(*bundle, *identify.Identity)) *bundle {
	t.Helper()
	v, err := verify.New(verify.Config{Secrets: []string{secret}, Rules: []verify.Rule{{
		Kind: verify.KindHMAC, Hash: "sha256", Enc: "hex", Key: "raw", Signed: "{body}",
		Sig: verify.Signature{Headers: []string{"X-Signature"}},
	}}})
	require.NoError(t, err)
	b := &bundle{stager: &fakeStager{answers: map[string]stage.Answer{}}, log: &bytes.Buffer{}}
	b.source = &Source{
		Name: "shop", Verifier: v, MaxBody: 1024, Processor: event.ByBridge,
		Judge: func(e identify.Identified) Verdict {
			switch e.Event.Type {
			case "ping":
				return Verdict{Ignore: true}
			case "odd":
				return Verdict{Review: &identify.Review{Code: event.CodeSchema, Reason: "$.x: want a number"}}
			}
			return Verdict{}
		},
	}
	identity := identify.Identity{
		ID: []path.Template{template(t, "$.id")}, Type: []path.Template{template(t, "$.type")},
	}
	if change != nil {
		change(b, &identity)
	}
	id, err := identify.New(identify.Config{Source: "shop", Identity: identity})
	require.NoError(t, err)
	b.source.Identifier = id
	b.handler = NewHandler(Config{
		Sources: func(name string) *Source {
			if name == "shop" {
				return b.source
			}
			return nil
		},
		Stager: b.stager, PublicURL: "https://hooks.example.com",
		Log: slog.New(slog.NewTextHandler(b.log, nil)), Now: time.Now,
	})
	return b
}

func (b *bundle) send(r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	b.handler.ServeHTTP(w, r)
	return w
}

func post(body string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/webhooks/shop", strings.NewReader(body))
	r.Header.Set("X-Signature", sign(body))
	return r
}

func with(r *http.Request, change func(*http.Request)) *http.Request {
	change(r)
	return r
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	unavailable := &stage.Unavailable{Reason: "down", RetryAfter: 90 * time.Second}
	for _, c := range []struct {
		name    string
		answer  stage.Answer
		body    string
		status  int
		want    string
		retry   string
		nothing bool
	}{
		{name: "new", body: `{"id":"e1"}`, status: 202, want: `{"status":"accepted","event_id":"shop:e1"}`},
		{name: "duplicate", body: `{"id":"e1"}`, answer: stage.Answer{EventID: "shop:e1", Status: stage.Duplicate},
			status: 200, want: `{"status":"duplicate","event_id":"shop:e1"}`},
		{name: "conflict", body: `{"id":"e1"}`, answer: stage.Answer{EventID: "shop:e1#conflict:ab", Status: stage.Conflict},
			status: 202, want: `{"status":"conflict","event_id":"shop:e1#conflict:ab"}`},
		{name: "conflict refused", body: `{"id":"e1"}`, answer: stage.Answer{EventID: "shop:e1", Status: stage.Rejected},
			status: 409, want: `{"error":"conflict","message":"an event of this id was accepted with other content"}`},
		{name: "ignored", body: `{"id":"e1","type":"ping"}`, status: 200, want: `{"status":"ignored","event_id":"shop:e1"}`, nothing: true},
		{name: "nowhere durable", body: `{"id":"e1"}`, answer: stage.Answer{Err: unavailable}, status: 503,
			want: `{"error":"unavailable","message":"not stored; send it again later"}`, retry: "90"},
		{name: "too large to stage", body: `{"id":"e1"}`, answer: stage.Answer{Err: event.ErrTooLarge}, status: 413,
			want: `{"error":"too_large","message":"the event is larger than 2359296 bytes"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, nil)
			if c.answer != (stage.Answer{}) {
				b.stager.answers["shop:e1"] = c.answer
			}
			w := b.send(post(c.body))
			assert.Equal(t, c.status, w.Code)
			assert.JSONEq(t, c.want, w.Body.String())
			assert.Equal(t, c.retry, w.Header().Get("Retry-After"))
			assert.Equal(t, c.nothing, len(b.stager.staged) == 0)
			assert.Equal(t, 1, strings.Count(b.log.String(), "\n"), "one log line a delivery")
			assert.NotContains(t, b.log.String(), `delivery=""`, "an id that nobody sent")
		})
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	large := `{"id":"` + strings.Repeat("x", 1016) + `"}`
	require.Len(t, large, 1025)
	for _, c := range []struct {
		name    string
		request *http.Request
		status  int
		kind    string
	}{
		{"unknown source", httptest.NewRequest(http.MethodPost, "/webhooks/nobody", strings.NewReader("{}")), 404, "unknown_source"},
		{"another path", httptest.NewRequest(http.MethodPost, "/webhooks/shop/", strings.NewReader("{}")), 404, "unknown_source"},
		{"method", httptest.NewRequest(http.MethodPut, "/webhooks/shop", strings.NewReader("{}")), 405, "method"},
		{"a method that is no standard one", httptest.NewRequest("PURGE", "/webhooks/shop", strings.NewReader("{}")), 405, "method"},
		{"source before method", httptest.NewRequest("PURGE", "/webhooks/nobody", strings.NewReader("{}")), 404, "unknown_source"},
		{"no signature", httptest.NewRequest(http.MethodPost, "/webhooks/shop", strings.NewReader("{}")), 401, "bad_signature"},
		{"bad signature", with(post(`{"id":"a"}`), func(r *http.Request) { r.Header.Set("X-Signature", sign("other")) }), 401, "bad_signature"},
		{"not JSON", post(`hello`), 400, "bad_request"},
		{"two values", post(`{"id":"a"}{"id":"b"}`), 400, "bad_request"},
		{"no id", post(`{"type":"x"}`), 400, "bad_request"},
		{"null id", post(`{"id":null}`), 400, "bad_request"},
		{"empty id", post(`{"id":""}`), 400, "bad_request"},
		{"empty body, rightly signed", post(""), 400, "bad_request"},
		{"too large", post(large), 413, "too_large"},
		{"too large without a length", with(post(large), func(r *http.Request) { r.ContentLength = -1 }), 413, "too_large"},
		{"bytes hidden after the value", post(`{"id":"a"}` + strings.Repeat(" ", 9<<10)), 413, "too_large"},
		{"content encoding", with(post(`{"id":"a"}`), func(r *http.Request) { r.Header.Set("Content-Encoding", "br") }), 415, "unsupported"},
		{"content type", with(post(`{"id":"a"}`), func(r *http.Request) { r.Header.Set("Content-Type", "image/png") }), 415, "unsupported"},
		{"size before encoding", with(post(large), func(r *http.Request) { r.Header.Set("Content-Encoding", "gzip, gzip") }), 413, "too_large"},
		{"size before encoding, without a length", with(post(large), func(r *http.Request) {
			r.ContentLength = -1
			r.Header.Set("Content-Encoding", "br")
		}), 413, "too_large"},
		{"encoding before signature", with(post(`{}`), func(r *http.Request) {
			r.Header.Set("Content-Encoding", "br")
			r.Header.Del("X-Signature")
		}), 415, "unsupported"},
		{"signature before content type", with(post(`{}`), func(r *http.Request) {
			r.Header.Set("Content-Type", "image/png")
			r.Header.Del("X-Signature")
		}), 401, "bad_signature"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, nil)
			w := b.send(c.request)
			assert.Equal(t, c.status, w.Code, w.Body.String())
			assert.Contains(t, w.Body.String(), `"error":"`+c.kind+`"`)
			assert.Empty(t, b.stager.staged, "nothing is stored")
			assert.Empty(t, w.Header().Get("Location"))
			if c.request.URL.Path != "/webhooks/shop/" { // no delivery: no line
				assert.Contains(t, b.log.String(), "reason=", "the operator sees why")
			}
			if c.kind == "bad_signature" {
				assert.JSONEq(t, `{"error":"bad_signature","message":"the signature was not accepted"}`, w.Body.String(), "a forger learns nothing")
			}
		})
	}
}

func TestABodyOfExactlyTheLimitIsTaken(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	body := `{"id":"e1","n":"` + strings.Repeat("x", 1024-18) + `"}`
	require.Len(t, body, 1024)
	assert.Equal(t, 202, b.send(post(body)).Code)
	require.Len(t, b.stager.staged, 1)
	assert.Equal(t, body, string(b.stager.staged[0].Payload))
}

func TestContentTypesReadAsJSON(t *testing.T) {
	t.Parallel()
	for _, ct := range []string{"application/json", "application/json; charset=utf-8", "application/vnd.acme+json", "text/plain", ""} {
		b := setup(t, nil)
		w := b.send(with(post(`{"id":"e1"}`), func(r *http.Request) { r.Header.Set("Content-Type", ct) }))
		assert.Equal(t, 202, w.Code, ct)
	}
}

func zipped(t *testing.T, body string) []byte {
	t.Helper()
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	_, err := io.WriteString(z, body)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return buf.Bytes()
}

func TestCompressedDeliveries(t *testing.T) {
	t.Parallel()
	plain := `{"id":"e1"}`
	small := string(zipped(t, plain))
	bomb := string(zipped(t, strings.Repeat("x", 1<<20)))
	for _, c := range []struct {
		name   string
		body   string
		signed string
		wire   bool
		status int
	}{
		{"content signed", small, plain, false, 202},
		{"wire signed, content expected", small, small, false, 401},
		{"wire signed", small, small, true, 202},
		{"a bomb", bomb, bomb, true, 413},
		{"no gzip", "hello", "hello", true, 400},
		{"cut short", small[:len(small)-6], small[:len(small)-6], true, 400},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, func(b *bundle, _ *identify.Identity) {
				b.source.Encodings, b.source.SignsWire = []string{"gzip"}, c.wire
			})
			w := b.send(with(post(c.body), func(r *http.Request) {
				r.Header.Set("Content-Encoding", "gzip")
				r.Header.Set("X-Signature", sign(c.signed))
			}))
			assert.Equal(t, c.status, w.Code, w.Body.String())
			if c.status == 202 {
				assert.Equal(t, plain, string(b.stager.staged[0].Payload))
			}
		})
	}
}

func TestABatchIsAnsweredEventByEvent(t *testing.T) {
	t.Parallel()
	split := func(_ *bundle, i *identify.Identity) {
		list, err := path.ParseList("$[*]")
		require.NoError(t, err)
		i.Split = list
	}
	b := setup(t, split)
	b.stager.answers["shop:b"] = stage.Answer{EventID: "shop:b", Status: stage.Duplicate}
	w := b.send(post(`[{"id":"a"},{"id":"b"},{"id":"c","type":"ping"},{"x":1}]`))
	assert.Equal(t, 202, w.Code)
	assert.Contains(t, w.Body.String(), `{"status":"accepted","events":[{"status":"accepted","event_id":"shop:a"},{"status":"duplicate","event_id":"shop:b"},{"status":"ignored","event_id":"shop:c"},{"status":"accepted","event_id":"shop:sha256:`)
	require.Len(t, b.stager.staged, 3, "one bad element does not lose its neighbours")
	assert.Equal(t, event.Review, b.stager.staged[2].Status)
	assert.Equal(t, event.CodeNoID, b.stager.staged[2].ErrorCode)

	assert.JSONEq(t, `{"status":"ignored"}`, setup(t, split).send(post(`[]`)).Body.String())

	b = setup(t, split)
	b.stager.answers["shop:b"] = stage.Answer{EventID: "shop:b", Err: errors.New("down")}
	assert.Equal(t, 503, b.send(post(`[{"id":"a"},{"id":"b"}]`)).Code, "2xx only when all are durable")
}

func TestWhatIsStaged(t *testing.T) {
	t.Parallel()
	b := setup(t, func(b *bundle, _ *identify.Identity) { b.source.RejectConflict, b.source.Processor = true, event.ByOrg })
	require.Equal(t, 202, b.send(post(`{"id":"e1","type":"odd"}`)).Code)
	require.Equal(t, 202, b.send(post(`{"id":"e2","type":"x"}`)).Code)
	odd, plain := b.stager.staged[0], b.stager.staged[1]
	assert.Equal(t, event.Review, odd.Status)
	assert.Equal(t, event.CodeSchema, odd.ErrorCode)
	assert.Equal(t, event.Received, plain.Status)
	assert.Equal(t, event.SignedBody, plain.Trust)
	assert.Equal(t, event.HomeQueue(event.ByOrg, "shop:e2"), plain.HomeQueue)
	assert.Equal(t, []bool{true, true}, b.stager.rejects)
	assert.False(t, plain.ReceivedAt.IsZero())
}

func TestHandshakes(t *testing.T) {
	t.Parallel()
	b := setup(t, func(b *bundle, _ *identify.Identity) {
		b.source.Success = &Answer{Status: 200, Empty: true}
		b.source.Methods = []string{http.MethodGet}
		b.source.Handshake = func(_ context.Context, a Ask) (Handshaken, bool, error) {
			m, _ := a.Value.(map[string]any)
			switch text, ok := m["challenge"].(string); {
			case text == "quiet":
				return Handshaken{}, true, nil
			case text == "late":
				return Handshaken{}, true, errors.New("not now")
			case ok && a.Signed:
				return Handshaken{Answer: &Answer{Status: 200, ContentType: "text/plain", Body: []byte(text)}}, true, nil
			case a.Query.Get("ask") == "no":
				return Handshaken{Refused: true, Answer: &Answer{Status: 403, Empty: true}}, true, nil
			case a.Query.Get("ask") != "":
				return Handshaken{Answer: &Answer{Status: 200, Empty: true, Headers: map[string]string{"X-Said": a.Query.Get("ask")}}}, true, nil
			}
			return Handshaken{}, false, nil
		}
	})
	get := func(method, query string) *httptest.ResponseRecorder {
		return b.send(httptest.NewRequest(method, "/webhooks/shop"+query, nil))
	}
	assert.Equal(t, "hi", get(http.MethodGet, "?ask=hi").Header().Get("X-Said"))
	assert.Equal(t, 403, get(http.MethodGet, "?ask=no").Code)
	assert.Equal(t, 405, get(http.MethodGet, "").Code, "no handshake after all")
	assert.Equal(t, "POST, GET", get(http.MethodPut, "?ask=hi").Header().Get("Allow"))
	assert.Equal(t, 503, b.send(post(`{"challenge":"late"}`)).Code, "it comes again")
	assert.Equal(t, "abc", b.send(post(`{"challenge":"abc"}`)).Body.String())
	assert.Empty(t, b.send(post(`{"challenge":"quiet"}`)).Body.String(), "the provider's own answer")
	unsigned := httptest.NewRequest(http.MethodPost, "/webhooks/shop", strings.NewReader(`{"challenge":"abc"}`))
	assert.Equal(t, 401, b.send(unsigned).Code, "no echo for strangers")
	assert.Empty(t, b.stager.staged)
	w := b.send(post(`{"id":"e1"}`))
	assert.Equal(t, 200, w.Code)
	assert.Empty(t, w.Body.String())
}

func TestRateLimit(t *testing.T) {
	t.Parallel()
	b := setup(t, func(b *bundle, _ *identify.Identity) { b.source.Limiter = rate.NewLimiter(rate.Every(time.Hour), 1) })
	assert.Equal(t, 202, b.send(post(`{"id":"e1"}`)).Code)
	w := b.send(post(`{"id":"e2"}`))
	assert.Equal(t, 429, w.Code)
	assert.Equal(t, "1", w.Header().Get("Retry-After"))
}

func TestHealthNeverLooksAtDependenciesAndReadinessDoes(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	get := func(path string) *httptest.ResponseRecorder {
		return b.send(httptest.NewRequest(http.MethodGet, path, nil))
	}
	assert.Equal(t, 200, get("/readyz").Code)
	b.stager.ready = errors.New("canary-secret")
	assert.Equal(t, 503, get("/readyz").Code)
	assert.NotContains(t, get("/readyz").Body.String(), "canary")
	assert.Equal(t, 200, get("/healthz").Code)
}

func TestAPanicIsAnsweredSoThatTheSenderSendsAgain(t *testing.T) {
	t.Parallel()
	b := setup(t, func(b *bundle, _ *identify.Identity) {
		b.source.Judge = func(identify.Identified) Verdict { panic("canary-payload") }
	})
	w := b.send(post(`{"id":"e1"}`))
	assert.Equal(t, 503, w.Code)
	assert.NotContains(t, b.log.String(), "canary")
	assert.Contains(t, b.log.String(), "panic")
}

func TestTheSignedURLIsTheConfiguredOne(t *testing.T) {
	t.Parallel()
	r := httptest.NewRequest(http.MethodPost, "/webhooks/shop?a=%2Fb&c", nil)
	r.Host = "evil.example"
	r.Header.Set("X-Forwarded-Host", "evil.example")
	assert.Equal(t, "https://hooks.example.com/webhooks/shop?a=%2Fb&c", publicURL("https://hooks.example.com", r))
}
