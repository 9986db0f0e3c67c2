package salesforce_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/salesforce"
)

// brokenAnswers are answers after which nobody knows whether a write happened.
func brokenAnswers() map[string]func(http.ResponseWriter, *http.Request, int) {
	hijack := func(w http.ResponseWriter, text string) {
		conn, buf, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		_, _ = buf.WriteString(text)
		_ = buf.Flush()
		_ = conn.Close()
	}
	return map[string]func(http.ResponseWriter, *http.Request, int){
		"html 200":       says(200, "<html><head><title>Down for Maintenance</title></head></html>"),
		"html 503":       says(503, "<html><body>Service Unavailable</body></html>"),
		"edge 420":       says(420, "<h1>no route</h1>"),
		"server busy":    says(503, `[{"message":"Server too busy","errorCode":"SERVER_UNAVAILABLE"}]`),
		"empty 200":      says(200, ""),
		"cut JSON":       says(200, `[{"id":"a0100000`),
		"other JSON":     says(200, `{"hello":"world"}`),
		"null":           says(200, `null`),
		"JSON and more":  says(200, savedRows+`[]`),
		"count mismatch": says(200, `[]`),
		"dropped":        func(w http.ResponseWriter, _ *http.Request, _ int) { hijack(w, "") },
		"no HTTP":        func(w http.ResponseWriter, _ *http.Request, _ int) { hijack(w, "hello\r\n\r\n") },
		"truncated": func(w http.ResponseWriter, _ *http.Request, _ int) {
			hijack(w, "HTTP/1.1 200 OK\r\nContent-Length: 5000\r\nContent-Type: application/json\r\n\r\n"+savedRows)
		},
		"too long": says(200, "["+strings.Repeat(" ", 70_000)+"]"),
	}
}

func TestAWriteWithoutAUsableAnswerHasAnUnknownOutcome(t *testing.T) {
	t.Parallel()
	for name, answer := range brokenAnswers() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOrg(t, answer)
			client := newClient(t, o, func(c *salesforce.Config) { c.MaxReply = 60_000 })
			results, err := client.InsertAll(t.Context(), oneRow(), false)
			assert.Equal(t, salesforce.ClassUnknownOutcome, asError(t, err).Class, "%v", err)
			require.Len(t, results, 1)
			assert.Equal(t, salesforce.ClassUnknownOutcome, results[0].Class())
			assert.False(t, results[0].Success)
		})
	}
}

func TestAReadWithoutAUsableAnswerCanBeTriedAgain(t *testing.T) {
	t.Parallel()
	for name, answer := range brokenAnswers() {
		if name == "too long" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := newClient(t, newOrg(t, answer)).Query(t.Context(), "SELECT Id FROM Payment__c")
			assert.Equal(t, salesforce.ClassRetryable, asError(t, err).Class, "%v", err)
		})
	}
}

func TestErrorShapes(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, body    string
		status        int
		code, message string
		class         salesforce.Class
	}{
		{"list", `[{"errorCode":"X","message":"m","fields":["A"]}]`, 400, "X", "m", salesforce.ClassData},
		{"token host", `{"error":"invalid_grant","error_description":"d"}`, 400, "invalid_grant", "d", salesforce.ClassAuth},
		{"gateway", `{"status":400,"message":"m","code":"bad_input"}`, 400, "bad_input", "m", salesforce.ClassData},
		{"gateway, numeric code", `{"message":"m","code":17}`, 400, "17", "m", salesforce.ClassData},
		{"xml", `<?xml version="1.0"?><Errors><Error><errorCode>X</errorCode><message>m</message></Error></Errors>`, 400, "X", "m", salesforce.ClassData},
		{"empty", ``, 500, "", "empty answer", salesforce.ClassRetryable},
		{"empty list", `[]`, 400, "", "empty list of errors", salesforce.ClassData},
		{"empty object", `{}`, 400, "", "{}", salesforce.ClassData},
		{"bare text", `"text"`, 400, "", "text", salesforce.ClassData},
		{"plain text", `upstream failed`, 502, "", "upstream failed", salesforce.ClassRetryable},
		{"soap fault", `<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/"><soapenv:Body><soapenv:Fault>` +
			`<faultcode>sf:INVALID_SESSION_ID</faultcode><faultstring>gone</faultstring></soapenv:Fault></soapenv:Body></soapenv:Envelope>`,
			500, "INVALID_SESSION_ID", "gone", salesforce.ClassAuth},
		{"html", `<html><head><title>Bad &amp; worse</title><script>var x</script></head><body>x</body></html>`, 502, "",
			"a page instead of data: Bad & worse", salesforce.ClassRetryable},
		{"html without title", `<h1>Bad Message 400</h1><pre>reason: Bad URI</pre>`, 400, "", "a page instead of data: Bad Message 400 reason: Bad URI", salesforce.ClassData},
		{"byte order mark", "\ufeff" + `[{"errorCode":"X","message":"m"}]`, 400, "X", "m", salesforce.ClassData},
		{"several records", `["/services/data/v65.0/sobjects/P/a01","/services/data/v65.0/sobjects/P/a02"]`, 300, "DUPLICATE_EXTERNAL_ID",
			"more than one record has this external ID: 2", salesforce.ClassData},
		{"duplicate rule", `[{"duplicateResut":{"allowSave":true},"message":"Use one of these records?","errorCode":"DUPLICATES_DETECTED"}]`,
			400, "DUPLICATES_DETECTED", "Use one of these records?", salesforce.ClassData},
		{"cut list", `[{"errorCode":"X"`, 500, "", `[{"errorCode":"X"`, salesforce.ClassRetryable},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := newOrg(t, says(c.status, c.body))
			_, err := newClient(t, o).Read(t.Context(), "Payment__c", "a01000000000001AAA")
			e := asError(t, err)
			assert.Equal(t, c.code, e.Code)
			assert.Equal(t, c.message, e.Message)
			assert.Equal(t, c.status, e.Status)
			assert.Equal(t, c.class, e.Class)
		})
	}
}

func TestSeveralErrorsOfOneAnswerAreKept(t *testing.T) {
	t.Parallel()
	o := newOrg(t, says(400, `[{"errorCode":"A","message":"first"},{"errorCode":"B","message":"second"}]`))
	_, err := newClient(t, o).Insert(t.Context(), payment("x", "1"))
	e := asError(t, err)
	assert.Contains(t, e.Error(), "first")
	assert.Contains(t, e.Error(), "second")
	assert.Len(t, e.Others, 1)
}

func TestLongTextsAreCut(t *testing.T) {
	t.Parallel()
	secretPart := strings.Repeat("private ", 100)
	o := newOrg(t, says(400, `[{"errorCode":"STRING_TOO_LONG","message":"Note: data value too large: `+secretPart+` (max length=255)"}]`))
	_, err := newClient(t, o).Insert(t.Context(), payment("x", "1"))
	assert.Equal(t, "Note: data value too large: … (max length=255)", asError(t, err).Message)

	o = newOrg(t, says(502, strings.Repeat("é", 5000)))
	_, err = newClient(t, o).Insert(t.Context(), payment("x", "1"))
	assert.LessOrEqual(t, len(err.Error()), 300)
}

func TestRetryAfterHeaderIsRespected(t *testing.T) {
	t.Parallel()
	o := newOrg(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
		w.Header().Set("Retry-After", "77")
		reply(w, 503, "busy")
	})
	_, err := newClient(t, o).Query(t.Context(), "SELECT Id FROM X")
	assert.Equal(t, 77*time.Second, asError(t, err).RetryAfter())
}
