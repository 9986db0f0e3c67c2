package salesforce

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func encoded(t require.TestingT, v any) []byte {
	e := newEncoder(0)
	e.value(v)
	require.NoError(t, e.err)
	return e.bytes()
}

// anyValue makes the values that a field may have.
func anyValue() *rapid.Generator[any] {
	leaf := rapid.OneOf(
		rapid.Just[any](nil),
		rapid.String().AsAny(),
		rapid.StringOfN(rapid.RuneFrom([]rune("\x00\x01\t\n\r\"\\\x7f é名🥇\u2028<>&")), 0, 20, -1).AsAny(),
		rapid.Bool().AsAny(),
		rapid.Int().AsAny(),
		rapid.Int64().AsAny(),
		rapid.Custom(func(t *rapid.T) any { return json.Number(fmt.Sprint(rapid.Int64().Draw(t, "n"))) }),
		rapid.Float64Range(-1e6, 1e6).AsAny(),
	)
	list := rapid.SliceOfN(leaf, 0, 4).AsAny()
	object := rapid.MapOfN(rapid.String(), rapid.OneOf(leaf, list), 0, 4).AsAny()
	return rapid.OneOf(leaf, list, object, rapid.MapOfN(rapid.String(), object, 0, 3).AsAny())
}

func TestEncoderAgreesWithTheStandardLibrary(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := anyValue().Draw(t, "value")
		var want bytes.Buffer
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		require.NoError(t, enc.Encode(v))
		require.Equal(t, decoded(t, want.Bytes()), decoded(t, encoded(t, v)))
	})
}

func decoded(t require.TestingT, text []byte) (v any) {
	require.True(t, unmarshal(text, &v), "%s", text)
	return v
}

func TestEncoderText(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                `""`,
		"plain":           `"plain"`,
		"a\"b\\c":         `"a\"b\\c"`,
		"\x00\t\n\r\x1f":  `"\u0000\t\n\r\u001F"`,
		"<b>&\u2028🥇":     "\"<b>&\u2028🥇\"",
		"Jos\xe9":         "\"Jos\ufffd\"",
		"\xf0\x9f\xa5":    "\"\ufffd\ufffd\ufffd\"",
		"\ufffd is valid": "\"\ufffd is valid\"",
	} {
		got := encoded(t, in)
		assert.Equal(t, want, string(got))
		assert.True(t, json.Valid(got))
	}
}

func TestEncoderValues(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 30, 9, 9, 10, 123456789, time.FixedZone("", 3600))
	assert.Equal(t, `"2026-11-30T08:09:10.123Z"`, string(encoded(t, at)))
	assert.Equal(t, `{"Ext__c":"x","N":1.10}`, string(encoded(t, map[string]any{"N": json.Number("1.10"), "Ext__c": "x"})))
	for _, n := range []json.Number{"", "NaN", "+1", "1,5", "01", "0x10", `"1"`, "1 ", "true", "1}"} {
		e := newEncoder(0)
		e.value(n)
		assert.Error(t, e.err, "%q", n)
	}
}

func FuzzSegment(f *testing.F) {
	for _, s := range []string{"INV/2026/001", "a+b@ex.test", "50% off #1?", "名前 1", "..", "", "A/../B", "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, value string) {
		got, err := segment(value)
		if err != nil {
			return
		}
		back, err := url.PathUnescape(got)
		require.NoError(t, err)
		assert.Equal(t, value, back)
		u, err := url.Parse("https://x/" + got)
		require.NoError(t, err)
		assert.Equal(t, "/"+got, u.EscapedPath(), "no hop rewrites it")
		assert.NotContains(t, got, "/")
	})
}

func FuzzFaults(f *testing.F) {
	for _, s := range []string{`[{"errorCode":"X","message":"m","fields":["A"]}]`, `{"error":"e","error_description":"d"}`, `[]`, `"t"`, ``,
		`<Errors><Error><errorCode>X</errorCode></Error></Errors>`, `<html><title>x</title>`, `["/a","/b"]`, `{"code":1}`, "\xff\xfe",
		`[null]`, `[{"fields":null}]`, `[{"message":{"a":1}}]`} {
		f.Add(400, []byte(s))
		f.Add(300, []byte(s))
	}
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		faults := decodeFaults(status, body, Answer{Write: true})
		require.NotEmpty(t, faults)
		for _, fault := range faults {
			assert.LessOrEqual(t, len(fault.Message), maxMessage+len("…"))
			_ = fault.NamedFields()
			_, _ = fault.Duplicate()
		}
	})
}

func FuzzPage(f *testing.F) {
	for _, s := range []string{`{"totalSize":1,"done":true,"records":[{"Id":"a"}]}`, `{"done":false,"nextRecordsUrl":"/services/data/x","records":[]}`,
		`{"records":null}`, `{}`, `[]`, ``, `{"done":true,"records":[{"A":{"records":[1]}}]}x`, `{"done":1}`, `{"records":[`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var p page
		n := 0
		err := p.read(bytes.NewReader(body), func(Record) error { n++; return nil })
		if err == nil && p.finish() == nil {
			assert.True(t, json.Valid(body))
			assert.True(t, *p.done == (p.next == ""))
		}
	})
}

func FuzzNumbersAndTimes(f *testing.F) {
	for _, s := range []string{"1", "-1", "1.0", "1e3", "1.0E8", "9223372036854775808", "1e999999999", "2026-11-30T08:09:10.000+0000", "T", "-"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if n, ok := parseInt(s); ok && len(s) < 18 && !strings.ContainsAny(s, ".eE") {
			assert.Equal(t, strings.TrimLeft(strings.TrimPrefix(s, "+"), "0"), strings.TrimPrefix(fmt.Sprint(n), "0"), "%q", s)
		}
		if at, err := ParseTime(s); err == nil {
			again, err := ParseTime(FormatTime(at))
			require.NoError(t, err)
			assert.Equal(t, at.Truncate(time.Millisecond), again)
		}
		used, limit, ok := parseUsage("api-usage=" + s)
		assert.False(t, ok && (used < 0 || limit <= 0))
	})
}

func TestExcerptNeverCutsARune(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringN(0, 400, -1).Draw(t, "text")
		got := excerpt(s)
		assert.True(t, utf8.ValidString(got))
		assert.LessOrEqual(t, len(got), maxExcerpt+len("…"))
	})
}

func TestLimitedReader(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]error{9: nil, 10: nil, 11: errTooLong, 5000: errTooLong} {
		text := strings.Repeat("x", n)
		for name, r := range map[string]io.Reader{
			"plain":           strings.NewReader(text),
			"end with data":   iotest.DataErrReader(strings.NewReader(text)),
			"one byte a read": iotest.OneByteReader(strings.NewReader(text)),
		} {
			got, err := io.ReadAll(&limitedReader{r: r, left: 10})
			require.ErrorIs(t, err, want, "%d %s", n, name)
			assert.LessOrEqual(t, len(got), 10, "%d %s", n, name)
		}
	}
}

// benchRows are staging rows as the receiver sends them: 200 of 1 kB.
func benchRows() []Row {
	payload := strings.Repeat(`{"id":"evt_1","object":"charge","amount":1250},`, 22)
	rows := make([]Row, 200)
	for i := range rows {
		rows[i] = Row{Object: "Inbound_Event__c", Fields: map[string]any{
			"Event_Id__c": fmt.Sprintf("stripe:evt_%d", i), "Source__c": "stripe", "Event_Type__c": "charge.succeeded",
			"Object_Id__c": "ch_1", "Payload__c": payload, "Payload_Encoding__c": "Plain", "Payload_Hash__c": strings.Repeat("a", 64),
			"Context__c": "{}", "Trust__c": "SignedBody", "Source_Timestamp__c": time.Unix(1767225600, 0), "Source_Order__c": json.Number("1767225600000"),
			"Received_At__c": time.Unix(1767225600, 0), "Status__c": "Received", "Home_Queue__c": "B00", "Queue__c": "B00",
			"Attempts__c": 0, "Revision__c": 1, "History__c": "2026-01-01T00:00:00Z received",
		}}
	}
	return rows
}

func BenchmarkEncode200Rows(b *testing.B) {
	rows := benchRows()
	b.ReportAllocs()
	for b.Loop() {
		s := InsertRows("a", rows, false)
		e := newEncoder(s.size)
		s.body(e)
		b.SetBytes(int64(len(e.bytes())))
	}
}

func BenchmarkDecode200Results(b *testing.B) {
	body := []byte("[" + strings.TrimSuffix(strings.Repeat(`{"id":"a01000000000001AAA","success":true,"errors":[],"created":true},`, 200), ",") + "]")
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		if results, ok := decodeSaves(body, ""); !ok || len(results) != 200 {
			b.Fatal("not decoded")
		}
	}
}

func BenchmarkReadPageOf200(b *testing.B) {
	record := `{"attributes":{"type":"Inbound_Event__c","url":"/services/data/v65.0/sobjects/Inbound_Event__c/a01000000000001AAA"},` +
		`"Id":"a01000000000001AAA","Event_Id__c":"stripe:evt_1","Source_Order__c":1767225600000,"Attempts__c":0,"Error__c":null,` +
		`"Source_Timestamp__c":"2026-01-01T00:00:00.000+0000","Payload__c":"{\"id\":\"evt_1\",\"data\":{\"object\":{\"id\":\"ch_1\",\"amount\":100}}}"},`
	body := `{"totalSize":200,"done":true,"records":[` + strings.TrimSuffix(strings.Repeat(record, 200), ",") + "]}"
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		n := 0
		p := page{}
		err := p.read(strings.NewReader(body), func(Record) error { n++; return nil })
		if err != nil || n != 200 {
			b.Fatal("not read")
		}
	}
}
