package salesforce_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/salesforce"
)

const (
	expired   = `[{"message":"Session expired or invalid","errorCode":"INVALID_SESSION_ID"}]`
	savedRows = `[{"id":"a01000000000001AAA","success":true,"errors":[],"created":true}]`
)

func oneRow() []salesforce.Row { return []salesforce.Row{payment("ch_1", "12.50")} }

// expireOnce answers the first request with 401 and the others as then says.
func expireOnce(then func(http.ResponseWriter, *http.Request, int)) func(http.ResponseWriter, *http.Request, int) {
	return func(w http.ResponseWriter, r *http.Request, n int) {
		if n == 1 {
			reply(w, 401, expired)
			return
		}
		then(w, r, n)
	}
}

func TestExpiredSessionIsRenewedOnceAndTheWholeCallSentAgain(t *testing.T) {
	t.Parallel()
	o := newOrg(t, expireOnce(says(200, savedRows)))
	s := sessionsAt(o.URL, o.URL)
	results, err := newClientWith(t, s).UpsertAll(t.Context(), chargeKey, oneRow(), false)
	require.NoError(t, err)
	assert.True(t, results[0].Success)
	assert.Equal(t, 1, s.count())
	got := o.requests()
	require.Len(t, got, 2)
	assert.Equal(t, []string{token1, token2}, []string{got[0].Token, got[1].Token})
	assert.NotEmpty(t, got[0].Body)
	assert.Equal(t, got[0].Body, got[1].Body)
}

func TestRetriedCallGoesToTheNewInstance(t *testing.T) {
	t.Parallel()
	a := newOrg(t, says(401, expired))
	b := newOrg(t, saysInTurn(
		`{"totalSize":2,"done":false,"nextRecordsUrl":"/services/data/v65.0/query/01g-1","records":[{"Id":"1"}]}`,
		`{"totalSize":2,"done":true,"records":[{"Id":"2"}]}`,
		savedRows))
	s := sessionsAt(a.URL, b.URL)
	client := newClientWith(t, s)
	records, err := client.Query(t.Context(), "SELECT Id FROM Payment__c")
	require.NoError(t, err)
	assert.Len(t, records, 2)
	_, err = client.InsertAll(t.Context(), oneRow(), false)
	require.NoError(t, err)
	assert.Len(t, a.requests(), 1)
	assert.Len(t, b.requests(), 3)
	assert.Equal(t, 1, s.count())
}

func TestEndlessExpiryEndsAfterOneRenewal(t *testing.T) {
	t.Parallel()
	o := newOrg(t, says(401, expired))
	s := sessionsAt(o.URL, o.URL, o.URL)
	_, err := newClientWith(t, s).InsertAll(t.Context(), oneRow(), false)
	e := asError(t, err)
	assert.Equal(t, salesforce.ClassAuth, e.Class)
	assert.Equal(t, "INVALID_SESSION_ID", e.Code)
	assert.Equal(t, 1, s.count())
	assert.Len(t, o.requests(), 2)
}

func TestAnswersThatAreNoReasonForANewSession(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		status int
		body   string
		class  salesforce.Class
		pause  time.Duration
	}{
		{"daily limit", 403, `[{"message":"TotalRequests Limit exceeded.","errorCode":"REQUEST_LIMIT_EXCEEDED"}]`, salesforce.ClassLimit, 5 * time.Minute},
		{"concurrency limit", 403, `[{"message":"ConcurrentPerOrgLongTxn Limit exceeded.","errorCode":"REQUEST_LIMIT_EXCEEDED"}]`, salesforce.ClassLimit, 5 * time.Second},
		{"API disabled", 403, `[{"message":"The REST API is not enabled for this Organization.","errorCode":"API_DISABLED_FOR_ORG"}]`, salesforce.ClassConfiguration, 0},
		{"lost permission", 403, `[{"message":"insufficient access rights","errorCode":"INSUFFICIENT_ACCESS"}]`, salesforce.ClassConfiguration, 0},
		{"bad reference", 400, `[{"message":"invalid cross reference id","errorCode":"INVALID_CROSS_REFERENCE_KEY"}]`, salesforce.ClassData, 0},
		{"no agent", 401, `[{"message":"Connected app is not attached to Agent","errorCode":"INVALID_SESSION_ID"}]`, salesforce.ClassAuth, 0},
		{"not for REST", 401, `[{"message":"This session is not valid for use with the REST API","errorCode":"INVALID_SESSION_ID"}]`, salesforce.ClassAuth, 0},
		{"header", 401, `[{"message":"INVALID_HEADER_TYPE","errorCode":"INVALID_AUTH_HEADER"}]`, salesforce.ClassAuth, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := newOrg(t, says(c.status, c.body))
			s := sessionsAt(o.URL, o.URL)
			_, err := newClientWith(t, s).InsertAll(t.Context(), oneRow(), false)
			e := asError(t, err)
			assert.Equal(t, c.class, e.Class)
			assert.Equal(t, c.pause, e.RetryAfter())
			assert.Equal(t, c.status, e.Status)
			assert.Zero(t, s.count())
			assert.Len(t, o.requests(), 1)
		})
	}
}

func TestARedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	thief := newOrg(t, says(200, savedRows))
	redirect := func(w http.ResponseWriter, _ *http.Request, _ int) {
		w.Header().Set("Location", thief.URL+"/path?sid=canary-in-location")
		reply(w, 302, "")
	}

	t.Run("moved org: new session, new instance", func(t *testing.T) {
		t.Parallel()
		a, b := newOrg(t, redirect), newOrg(t, says(200, savedRows))
		s := sessionsAt(a.URL, b.URL)
		_, err := newClientWith(t, s).InsertAll(t.Context(), oneRow(), false)
		require.NoError(t, err)
		assert.Len(t, b.requests(), 1)
	})
	t.Run("same instance: an error", func(t *testing.T) {
		t.Parallel()
		a := newOrg(t, redirect)
		_, err := newClientWith(t, sessionsAt(a.URL, a.URL)).InsertAll(t.Context(), oneRow(), false)
		e := asError(t, err)
		assert.Equal(t, salesforce.ClassRetryable, e.Class)
		assert.Contains(t, e.Error(), "redirected to 127.0.0.1")
		assert.NotContains(t, e.Error(), "canary-in-location")
		assert.Len(t, a.requests(), 1)
	})
	t.Cleanup(func() { assert.Empty(t, thief.requests(), "the token must not go to the other host") })
}

func TestAWriteThatWasNeverSentIsRetryable(t *testing.T) {
	t.Parallel()
	closed := httptest.NewServer(nil)
	closed.Close()
	_, err := newClientWith(t, sessionsAt(closed.URL)).InsertAll(t.Context(), oneRow(), false)
	assert.Equal(t, salesforce.ClassRetryable, asError(t, err).Class)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	o := newOrg(t, says(200, savedRows))
	_, err = newClient(t, o).InsertAll(ctx, oneRow(), false)
	assert.Equal(t, salesforce.ClassRetryable, asError(t, err).Class)
	require.ErrorIs(t, err, context.Canceled)
	assert.Empty(t, o.requests())
}

// silent takes a request and never answers it.
type silent struct{}

func (silent) RoundTrip(r *http.Request) (*http.Response, error) {
	httptrace.ContextClientTrace(r.Context()).GotConn(httptrace.GotConnInfo{})
	<-r.Context().Done()
	return nil, r.Context().Err()
}

func TestGivingUpLeavesTheOutcomeUnknown(t *testing.T) {
	t.Parallel()
	arrived, release := make(chan struct{}), make(chan struct{})
	o := newOrg(t, func(http.ResponseWriter, *http.Request, int) {
		arrived <- struct{}{}
		<-release
	})
	t.Cleanup(func() { close(release) })

	t.Run("by the caller", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-arrived; cancel() }()
		_, err := newClient(t, o).InsertAll(ctx, oneRow(), false)
		require.ErrorIs(t, err, context.Canceled)
		assert.Equal(t, salesforce.ClassUnknownOutcome, asError(t, err).Class)
	})
	t.Run("by the time limit of the client", func(t *testing.T) {
		client := newClient(t, o, func(c *salesforce.Config) { c.Transport, c.Timeout = silent{}, time.Millisecond })
		_, err := client.InsertAll(t.Context(), oneRow(), false)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, salesforce.ClassUnknownOutcome, asError(t, err).Class)
	})
	t.Run("of a read", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-arrived; cancel() }()
		_, err := newClient(t, o).Query(ctx, "SELECT Id FROM Payment__c")
		require.ErrorIs(t, err, context.Canceled)
		assert.Equal(t, salesforce.ClassRetryable, asError(t, err).Class)
	})
}

func TestHeadersOfWrites(t *testing.T) {
	t.Parallel()
	o := newOrg(t, says(200, savedRows))
	_, err := newClient(t, o).InsertAll(t.Context(), oneRow(), false)
	require.NoError(t, err)
	h := o.requests()[0].Header
	assert.Equal(t, "FALSE", h.Get("Sforce-Auto-Assign"))
	assert.Empty(t, h.Get("Sforce-Duplicate-Rule-Header"))
	assert.Equal(t, "application/json; charset=UTF-8", h.Get("Content-Type"))

	_, err = newClient(t, o, func(c *salesforce.Config) { c.AllowDuplicates = true }).InsertAll(t.Context(), oneRow(), false)
	require.NoError(t, err)
	assert.Contains(t, o.requests()[1].Header.Get("Sforce-Duplicate-Rule-Header"), "allowSave=true")
}

// toServer sends requests for any host to one test server, so that a client can
// be shown an address that is not this machine's.
type toServer struct{ host string }

func (s toServer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host = "http", s.host
	return http.DefaultTransport.RoundTrip(r)
}

func TestLargeBodiesAreCompressedOnTheWayOut(t *testing.T) {
	t.Parallel()
	o := newOrg(t, func(w http.ResponseWriter, r *http.Request, n int) {
		reply(w, 200, "["+strings.TrimSuffix(strings.Repeat(`{"success":true,"errors":[]},`, []int{200, 1}[n-1]), ",")+"]")
	})
	t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)
	client := newClientWith(t, sessionsAt("https://acme.my.salesforce.com"), func(c *salesforce.Config) {
		c.Transport = toServer{strings.TrimPrefix(o.URL, "http://")}
	})
	rows := make([]salesforce.Row, 200)
	for i := range rows {
		rows[i] = salesforce.Row{Object: "X__c", Fields: map[string]any{"Text__c": strings.Repeat("abc", 100)}}
	}
	_, err := client.InsertAll(t.Context(), rows, false)
	require.NoError(t, err)
	_, err = client.InsertAll(t.Context(), rows[:1], false)
	require.NoError(t, err)
	got := o.requests()
	assert.Equal(t, "gzip", got[0].Header.Get("Content-Encoding"))
	assert.Len(t, got[0].json(t)["records"], 200)
	assert.Empty(t, got[1].Header.Get("Content-Encoding"), "small bodies are sent as they are")
}

func TestManyCallsAtOnceReuseTheirConnections(t *testing.T) {
	t.Parallel()
	const parallel = 100
	var opened atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		reply(w, 200, savedRows)
	}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	client := newClientWith(t, sessionsAt(server.URL))
	for range 3 {
		var wg sync.WaitGroup
		for range parallel {
			wg.Go(func() {
				_, err := client.InsertAll(t.Context(), oneRow(), false)
				assert.NoError(t, err)
			})
		}
		wg.Wait()
	}
	assert.LessOrEqual(t, opened.Load(), int64(2*parallel), "300 calls, 100 at a time")
}

func TestObserverHearsOfEveryRequest(t *testing.T) {
	t.Parallel()
	o := newOrg(t, expireOnce(says(200, savedRows)))
	var heard []string
	client := newClientWith(t, sessionsAt(o.URL, o.URL), func(c *salesforce.Config) {
		c.Observer = func(op string, class salesforce.Class, took time.Duration) {
			heard = append(heard, op+" "+class.String())
			assert.GreaterOrEqual(t, took, time.Duration(0))
		}
	})
	_, err := client.InsertAll(t.Context(), oneRow(), false)
	require.NoError(t, err)
	assert.Equal(t, []string{"collections_insert auth", "collections_insert ok"}, heard)
}

func TestNewChecksItsSettings(t *testing.T) {
	t.Parallel()
	_, err := salesforce.New(salesforce.Config{APIVersion: "v65", Timeout: -1})
	require.Error(t, err)
	for _, part := range []string{"Sessions", "api_version", "Timeout"} {
		assert.Contains(t, err.Error(), part)
	}
	_, err = salesforce.New(salesforce.Config{Sessions: sessionsAt("https://x"), APIVersion: "46.0"})
	require.ErrorContains(t, err, "50.0")
}

func TestASessionErrorKeepsItsClass(t *testing.T) {
	t.Parallel()
	limited := &salesforce.Error{Op: salesforce.OpToken, Fault: salesforce.Fault{Class: salesforce.ClassLimit, Pause: time.Hour}}
	_, err := newClientWith(t, noSession{limited}).Query(t.Context(), "SELECT Id FROM X")
	e := asError(t, err)
	assert.Equal(t, salesforce.ClassLimit, e.Class)
	assert.Equal(t, time.Hour, e.RetryAfter())

	_, err = newClientWith(t, noSession{errors.New("oops")}).InsertAll(t.Context(), oneRow(), false)
	assert.Equal(t, salesforce.ClassRetryable, asError(t, err).Class)
}

type noSession struct{ err error }

func (n noSession) Session(context.Context) (salesforce.Session, error) {
	return salesforce.Session{}, n.err
}

func (n noSession) Renew(context.Context, salesforce.Session) (salesforce.Session, error) {
	return salesforce.Session{}, n.err
}
