package event

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func decode(t testing.TB, s string) any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	var v any
	require.NoError(t, d.Decode(&v))
	return v
}

func TestEveryMoveOutsideTheTableIsAnError(t *testing.T) {
	t.Parallel()
	allowed := map[string]bool{
		"Received>Applied": true, "Received>Completed": true, "Received>Retryable": true, "Received>Review": true,
		"Retryable>Applied": true, "Retryable>Completed": true, "Retryable>Retryable": true, "Retryable>Review": true,
		"Applied>Completed": true, "Applied>Review": true,
		"Review>Received": true, "Review>Applied": true, "Review>Completed": true,
		"Completed>Received": true,
	}
	for _, from := range Statuses() {
		for _, to := range Statuses() {
			err := CheckMove(from, to)
			if allowed[string(from)+">"+string(to)] {
				assert.NoError(t, err, "%s -> %s", from, to)
				continue
			}
			var move *MoveError
			require.ErrorAs(t, err, &move, "%s -> %s", from, to)
		}
	}
}

func TestIDs(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 300)
	hash := strings.Repeat("ab", 32)
	assert.Equal(t, "stripe:evt_1", ID("stripe", "evt_1"))
	assert.Regexp(t, `^stripe:sha256:[0-9a-f]{64}$`, ID("stripe", long))
	assert.NotEqual(t, ID("stripe", long), ID("stripe", long+"y"))
	assert.Equal(t, "stripe:evt_1#conflict:abababababababab", ConflictID("stripe:evt_1", hash))
	at := "s:" + strings.Repeat("x", 253)
	require.Equal(t, 255, UTF16Len(ID("s", at[2:])))
	assert.Regexp(t, `^s:sha256:[0-9a-f]{64}#conflict:[0-9a-f]{16}$`, ConflictID(at, hash))
	assert.True(t, IsConflict(ConflictID(at, hash)))
	assert.True(t, IsRepair("stripe:reconcile:ch_1:5:9"))
	assert.False(t, IsRepair("stripe:evt:reconcile:1"))
	assert.Equal(t, "Payment__c:ch_1", BusinessKey("Payment__c", "ch_1"))
	assert.Regexp(t, `^Payment__c:sha256:`, BusinessKey("Payment__c", long))
}

func TestOneEntityHasOneQueue(t *testing.T) {
	t.Parallel()
	assert.Equal(t, Entity("stripe", "ch_1", "stripe:evt_9"), "stripe:ch_1")
	assert.Equal(t, Entity("stripe", "", "stripe:evt_9"), "stripe:evt_9")
	q := HomeQueue(ByBridge, "stripe:ch_1")
	assert.Regexp(t, `^B(0\d|1[0-5])$`, q)
	assert.Equal(t, "O"+q[1:], HomeQueue(ByOrg, "stripe:ch_1"))
	assert.Equal(t, "O"+q[1:], SisterQueue(q))
	assert.Equal(t, q, SisterQueue("O"+q[1:]))
	assert.Equal(t, "B10", HomeQueue(ByBridge, "abc"), "sha256(abc) begins with ba, and 0xba mod 16 is 10")
}

func TestCanonicalForm(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, want string }{
		{"members sorted by code point", `{"b":1,"a":2,"é":3,"A":4,"\ud83d\ude00":5}`, `{"A":4,"a":2,"b":1,"é":3,"😀":5}`},
		{"numbers as written", `[1.0,1e3,-0,820982911946154508,0.10]`, `[1.0,1e3,-0,820982911946154508,0.10]`},
		{"strings minimally escaped", `"\u2028<b>&\/\u0001\t\"\\"`, "\"\u2028<b>&/\\u0001\\t\\\"\\\\\""},
		{"white space", " { \"a\" : [ ] , \"b\" : { } } ", `{"a":[],"b":{}}`},
		{"literals", `[null,true,false]`, `[null,true,false]`},
	} {
		got, err := AppendCanonical(nil, decode(t, c.in), nil)
		require.NoError(t, err)
		assert.Equal(t, c.want, string(got), c.name)
	}
}

func TestVolatilePathsLeaveTheHash(t *testing.T) {
	t.Parallel()
	volatile := []Segments{{"sent_at"}, {"meta", "attempt"}, {"items", 0, "n"}, {"items", -1, "z"}}
	base, err := HashJSON(decode(t, `{"id":1,"sent_at":5,"meta":{"attempt":1,"k":2},"items":[{"n":1,"z":2},{"z":1}]}`), volatile)
	require.NoError(t, err)
	same, err := HashJSON(decode(t, `{"meta":{"k":2},"id":1,"items":[{"n":9,"z":2},{"z":7}]}`), volatile)
	require.NoError(t, err)
	other, err := HashJSON(decode(t, `{"meta":{"k":3},"id":1,"items":[{"z":2},{}]}`), volatile)
	require.NoError(t, err)
	assert.Equal(t, base, same)
	assert.NotEqual(t, base, other)
	assert.Regexp(t, `^[0-9a-f]{64}$`, base)
}

func TestHashOfALargeEventEqualsTheHashOfItsCanonicalBytes(t *testing.T) {
	t.Parallel()
	tree := decode(t, `{"a":["`+strings.Repeat("x", 5000)+`",`+strings.Repeat(`{"k":"v"},`, 2000)+`1]}`)
	canonical, err := AppendCanonical(nil, tree, nil)
	require.NoError(t, err)
	hash, err := HashJSON(tree, nil)
	require.NoError(t, err)
	assert.Equal(t, HashBytes(canonical), hash)
}

func TestPayloadEncoding(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		in   string
		want Encoding
	}{
		{"plain", `{"a":"é🥇"}`, Plain},
		{"tab and line feed survive", "{\t\n}", Plain},
		{"trailing line feed would be trimmed", "{}\n", Base64},
		{"leading blank would be trimmed", " {}", Base64},
		{"no-break space is white space too", "{}\u00a0", Base64},
		{"carriage return", "{\r\n}", Base64},
		{"not UTF-8", "{\"n\":\"Jos\xe9\"}", Base64},
		{"NUL", "{\x00}", Base64},
		{"at the limit", strings.Repeat("x", PayloadLimit), Plain},
		{"over the limit", strings.Repeat("x", PayloadLimit+1), Chunked},
		{"140,000 bytes but under the limit in characters", strings.Repeat("é", 70000), Plain},
		{"emoji count as two", strings.Repeat("🥇", PayloadLimit/2) + "x", Chunked},
		{"Base64 over the limit", strings.Repeat("x", ChunkBytes) + "\n", Chunked},
		{"the largest", strings.Repeat("x", MaxPayload), Chunked},
	} {
		p, err := EncodePayload([]byte(c.in))
		require.NoError(t, err, c.name)
		assert.Equal(t, c.want, p.Encoding, c.name)
		assert.LessOrEqual(t, len(p.Chunks), MaxChunks)
		back, err := DecodePayload(p.Encoding, p.Text, p.Chunks)
		require.NoError(t, err, c.name)
		assert.Equal(t, c.in, string(back), c.name)
	}
	_, err := EncodePayload(make([]byte, MaxPayload+1))
	assert.ErrorIs(t, err, ErrTooLarge)
}

func TestHistoryFoldsItsOldestLines(t *testing.T) {
	t.Parallel()
	history := ""
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for range 2000 {
		history = AppendHistory(history, Line{At: at, From: Received, To: Retryable, Who: "bridge", Why: "the record\nis locked"})
		require.LessOrEqual(t, UTF16Len(history), HistoryLimit)
	}
	lines := strings.Split(history, "\n")
	assert.Regexp(t, `^\.\.\. \d+ earlier lines folded$`, lines[0])
	var folded int
	_, err := strings.NewReader(lines[0]).Read(nil)
	require.NoError(t, err)
	for _, c := range lines[0] {
		if c >= '0' && c <= '9' {
			folded = folded*10 + int(c-'0')
		}
	}
	assert.Equal(t, 2000, folded+len(lines)-1, "no decision is lost from the count")
	assert.Equal(t, "2026-01-02T03:04:05Z Received -> Retryable by bridge: the record is locked", lines[len(lines)-1])
}

func TestBackoffIsCappedAndNeverOverflows(t *testing.T) {
	t.Parallel()
	b := Backoff{Base: 2 * time.Second, Max: 15 * time.Minute}
	almostOne := func() float64 { return 0.999999 }
	assert.InDelta(t, 2*time.Second, b.Delay(1, almostOne), float64(time.Millisecond))
	assert.InDelta(t, 4*time.Second, b.Delay(2, almostOne), float64(time.Millisecond))
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(-5, 1<<40).Draw(t, "n")
		d := b.Delay(n, func() float64 { return rapid.Float64Range(0, 0.9999).Draw(t, "r") })
		if d < 0 || d > b.Max {
			t.Fatalf("delay %v after %d failures", d, n)
		}
	})
}

func TestRevisionAlwaysMovesOn(t *testing.T) {
	t.Parallel()
	assert.Equal(t, int64(8), NextRevision(7, func(int64) int64 { return 0 }))
	assert.Equal(t, int64(1_000_007), NextRevision(7, func(n int64) int64 { return n - 1 }))
}

func TestRowRoundTrip(t *testing.T) {
	t.Parallel()
	order := int64(1767225600000)
	at := time.Date(2026, 1, 1, 0, 0, 0, 123e6, time.UTC)
	e := &Event{ID: "stripe:evt_1", Source: "stripe", Type: "charge.succeeded", ObjectID: "ch_1", Payload: []byte(`{"a":1}`),
		Hash: "ff", Context: []byte(`{"$$.x":1}`), Trust: SignedBody, SourceTime: at, Order: &order, ReceivedAt: at,
		Status: Received, HomeQueue: "B03"}
	p, err := EncodePayload(e.Payload)
	require.NoError(t, err)
	fields := e.Insert(p)
	assert.Equal(t, "2026-01-01T00:00:00.123Z", fields[FieldSourceTime])
	assert.Equal(t, "B03", fields[FieldQueue])
	assert.NotContains(t, fields, FieldDeliveryID)
	raw, err := json.Marshal(fields)
	require.NoError(t, err)
	record, ok := decode(t, string(raw)).(map[string]any)
	require.True(t, ok)
	record["Revision__c"] = json.Number("1.0E0")
	record[FieldSourceTime] = "2026-01-01T00:00:00.123+0000"
	back, err := FromRecord(record)
	require.NoError(t, err)
	e.Revision, e.Encoding, e.Queue = 1, Plain, "B03"
	assert.Equal(t, e, back)
	_, err = FromRecord(map[string]any{"Id": "a01", FieldOrder: json.Number("1.5")})
	assert.ErrorContains(t, err, "Source_Order__c is no whole number")
}

func TestReviewRowsHaveNoQueue(t *testing.T) {
	t.Parallel()
	e := &Event{ID: "s:1", Status: Review, HomeQueue: "B01"}
	assert.NotContains(t, e.Insert(StoredPayload{Encoding: Plain, Text: "{}"}), FieldQueue)
}

func FuzzCanonicalIsValidAndStable(f *testing.F) {
	for _, seed := range []string{`{"a":[1,2.0,{"b":null}]}`, `"\u2028"`, `[]`, `{"a":"\ud83d"}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d := json.NewDecoder(strings.NewReader(s))
		d.UseNumber()
		var v any
		if d.Decode(&v) != nil {
			return
		}
		once, err := AppendCanonical(nil, v, nil)
		require.NoError(t, err)
		require.True(t, json.Valid(once), "%s", once)
		twice, err := AppendCanonical(nil, decode(t, string(once)), nil)
		require.NoError(t, err)
		assert.Equal(t, string(once), string(twice))
	})
}
