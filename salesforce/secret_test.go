package salesforce_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/salesforce"
)

// lockedBuffer collects what a logger writes.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

const bodyCanary = "body-canary-4242"

// TestNoTokenAndNoBodyInErrorsAndLogs provokes every kind of answer, each of
// which echoes the token and the request.
//
// It changes the standard logger's output and so is not parallel.
func TestNoTokenAndNoBodyInErrorsAndLogs(t *testing.T) {
	before := log.Writer()
	t.Cleanup(func() { log.SetOutput(before) })
	logged := &lockedBuffer{}
	log.SetOutput(logged)

	echo := "Authorization: Bearer " + token1
	hijack := func(text string) func(http.ResponseWriter, *http.Request, int) {
		return func(w http.ResponseWriter, _ *http.Request, _ int) {
			conn, buf, _ := w.(http.Hijacker).Hijack()
			_, _ = buf.WriteString(text)
			_ = buf.Flush()
			_ = conn.Close()
		}
	}
	padded := strings.Repeat("x", 190) + token1 // the token stands where the text is cut
	answers := map[string]func(http.ResponseWriter, *http.Request, int){
		"list":         says(400, `[{"errorCode":"X","message":"`+echo+`"},{"errorCode":"Y","message":"`+echo+`"}]`),
		"empty list":   says(400, `[]`),
		"object":       says(400, `{"error":"x","error_description":"`+echo+`"}`),
		"unauthorized": says(401, `[{"errorCode":"INVALID_SESSION_ID","message":"`+echo+`"}]`),
		"text":         says(500, echo),
		"cut text":     says(500, padded),
		"html":         says(502, "<html><title>"+echo+"</title></html>"),
		"html 200":     says(200, "<html><title>"+echo+"</title></html>"),
		"json 200":     says(200, `{"x":"`+echo+`"`),
		"not http":     hijack(echo + "\r\n\r\n"),
		"dropped":      hijack(""),
		"bad header":   hijack("HTTP/1.1 200 OK\r\n" + token1 + "\r\n\r\n"),
		"redirect": func(w http.ResponseWriter, _ *http.Request, _ int) {
			w.Header().Set("Location", "https://elsewhere.example/?t="+token1)
			w.WriteHeader(302)
		},
	}
	row := payment(bodyCanary, "1")
	for name, answer := range answers {
		t.Run(name, func(t *testing.T) {
			o := newOrg(t, answer)
			client := newClientWith(t, sessionsAt(o.URL))
			_, insertErr := client.InsertAll(t.Context(), []salesforce.Row{row}, false)
			_, rowErr := client.Insert(t.Context(), row)
			_, upsertErr := client.Upsert(t.Context(), chargeKey, row)
			_, queryErr := client.Query(t.Context(), "SELECT Id FROM X WHERE A = '"+bodyCanary+"'")
			_, compositeErr := client.Composite(t.Context(), []salesforce.Subrequest{salesforce.InsertRow("a", row)}, true)
			for _, err := range []error{insertErr, rowErr, upsertErr, queryErr, compositeErr} {
				require.Error(t, err)
				for _, verb := range []string{"%v", "%+v", "%s", "%q", "%#v"} {
					assertClean(t, fmt.Sprintf(verb, err))
				}
			}
		})
	}
	log.Print("another program part logs as before")
	assertClean(t, logged.String())
	assert.NotContains(t, logged.String(), "[simpleforce]")
	assert.Contains(t, logged.String(), "another program part logs as before")
}

func assertClean(t *testing.T, text string) {
	t.Helper()
	assert.NotContains(t, text, token1)
	assert.NotContains(t, text, token1[:9], "nor a part of it")
	assert.NotContains(t, text, bodyCanary)
}

func TestSecretsPrintAsStars(t *testing.T) {
	t.Parallel()
	session := salesforce.Session{Token: "canary-token", Instance: "https://acme.my.salesforce.com"}
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		fmt.Fprintf(&out, verb+verb+"\n", session, session.Token)
	}
	encoded, err := json.Marshal(session)
	require.NoError(t, err)
	out.Write(encoded)
	slog.New(slog.NewTextHandler(&out, nil)).Info("x", "session", session, "token", session.Token)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "session", session, "token", session.Token)
	assert.NotContains(t, out.String(), "canary")
	assert.NotContains(t, out.String(), fmt.Sprintf("%x", "canary-token"))
	assert.Equal(t, "***", session.Token.String())
	assert.Equal(t, "canary-token", session.Token.Reveal())
}

func TestInstanceURL(t *testing.T) {
	t.Parallel()
	const want = "https://acme.my.salesforce.com"
	for _, raw := range []string{"https://acme.my.salesforce.com", "acme.my.salesforce.com", "https://acme.my.salesforce.com/",
		"https://acme.my.salesforce.com/services/data?x=1#y", " https://ACME.my.salesforce.com// ", "//acme.my.salesforce.com", "HTTPS://acme.my.salesforce.com"} {
		got, err := salesforce.InstanceURL(raw, false)
		require.NoError(t, err, raw)
		assert.Equal(t, want, got, raw)
	}
	for raw, allow := range map[string]bool{
		"http://acme.my.salesforce.com": true, "http://127.0.0.1:1": false, "http://localhost": false,
		"ftp://127.0.0.1": true, "": true, "https://": true, "https://user:secret@host": true, "http://127.0.0.1.evil.example": true,
	} {
		_, err := salesforce.InstanceURL(raw, allow)
		require.Error(t, err, raw)
		assert.NotContains(t, err.Error(), "secret")
	}
	for _, raw := range []string{"http://127.0.0.1:8089", "http://localhost:8089", "http://[::1]:8089"} {
		got, err := salesforce.InstanceURL(raw, true)
		require.NoError(t, err)
		assert.Equal(t, raw, got)
	}
}

func TestErrorTellsWhatToDo(t *testing.T) {
	t.Parallel()
	e := &salesforce.Error{Op: salesforce.OpQuery, Status: 403, Advice: "do this", Fault: salesforce.Fault{
		Code: "C", Message: "m", Class: salesforce.ClassLimit, Pause: time.Minute}}
	assert.Equal(t, "salesforce query: limit: status 403: C: m (do this)", e.Error())
	assert.Equal(t, time.Minute, e.RetryAfter())
	assert.Equal(t, salesforce.ClassLimit, salesforce.ClassOf(fmt.Errorf("staging: %w", e)))
	assert.Equal(t, salesforce.ClassOK, salesforce.ClassOf(nil))
	assert.Equal(t, salesforce.ClassRetryable, salesforce.ClassOf(fmt.Errorf("other")))
}
