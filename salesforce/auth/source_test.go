package auth_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/salesforce"
	"sfbridge/salesforce/auth"
)

func TestOneLoginHoweverManyCallersMeetAnExpiredSession(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		h := inTurn("T1", "T2", "T3")
		slow := h.answer
		h.answer = func(r *http.Request, body string, n int) (int, string) {
			if n == 2 {
				<-release
			}
			return slow(r, body, n)
		}
		s := newSource(t, credentials(h))
		stale := session(t, s)
		var renewed atomic.Int64
		for range 64 {
			go func() {
				got, err := s.Renew(context.Background(), stale)
				if assert.NoError(t, err) && got.Token.Reveal() == "T2" {
					renewed.Add(1)
				}
			}()
		}
		synctest.Wait()
		close(release)
		synctest.Wait()
		assert.Equal(t, int64(64), renewed.Load())
		assert.Equal(t, 2, h.count())

		late, err := s.Renew(context.Background(), stale)
		require.NoError(t, err)
		assert.Equal(t, "T2", late.Token.Reveal(), "who comes with the old token after the login gets the new one")
		assert.Equal(t, 2, h.count())
	})
}

func TestACallerWhoGivesUpDoesNotTakeTheOthersWithHim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		h := inTurn("T1")
		answer := h.answer
		h.answer = func(r *http.Request, body string, n int) (int, string) {
			select {
			case <-release:
				return answer(r, body, n)
			case <-r.Context().Done():
				return 500, "the login was given up"
			}
		}
		s := newSource(t, credentials(h))
		leader, cancel := context.WithCancel(context.Background())
		var leaderErr, otherErr error
		var other salesforce.Session
		go func() { _, leaderErr = s.Session(leader) }()
		synctest.Wait()
		go func() { other, otherErr = s.Session(context.Background()) }()
		synctest.Wait()
		cancel()
		synctest.Wait()
		require.ErrorIs(t, leaderErr, context.Canceled)
		close(release)
		synctest.Wait()
		require.NoError(t, otherErr)
		assert.Equal(t, "T1", other.Token.Reveal())
		assert.Equal(t, 1, h.count())
	})
}

func TestALoginHostThatIsSilent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSource(t, credentials(hang()))
		began := time.Now()
		e := failure(t, s)
		assert.Equal(t, salesforce.ClassRetryable, e.Class)
		require.ErrorIs(t, e, context.DeadlineExceeded)
		assert.Equal(t, 30*time.Second, time.Since(began))
	})
}

func TestAFailedLoginIsNotRepeatedAtOnce(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		status int
		reply  string
		pause  time.Duration
	}{
		{"too many logins", 400, `{"error":"rate_limit_exceeded"}`, 30 * time.Minute},
		{"too many logins, in words", 400, `{"error":"invalid_grant","error_description":"login rate exceeded"}`, 30 * time.Minute},
		{"refused", 400, `{"error":"invalid_grant"}`, 30 * time.Second},
		{"outage", 503, `busy`, 250 * time.Millisecond},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			now := newClock()
			h := always(c.status, c.reply)
			s := newSource(t, credentials(h, func(cfg *auth.Config) { cfg.Now = now.Now }))
			first := failure(t, s)
			now.add(c.pause - time.Millisecond)
			held := failure(t, s)
			assert.Equal(t, 1, h.count())
			assert.Equal(t, first.Class, held.Class)
			assert.Equal(t, time.Millisecond, held.RetryAfter(), "the error tells how long it stands")
			now.add(time.Millisecond)
			failure(t, s)
			assert.Equal(t, 2, h.count())
		})
	}
}

func TestPausesGrowToAMinute(t *testing.T) {
	t.Parallel()
	now := newClock()
	h := always(503, "busy")
	s := newSource(t, credentials(h, func(cfg *auth.Config) { cfg.Now = now.Now; cfg.Jitter = func() float64 { return 1 } }))
	failure(t, s)
	pause := 500 * time.Millisecond
	for n := 2; n < 30; n++ {
		now.add(pause - time.Millisecond)
		failure(t, s)
		require.Equal(t, n-1, h.count(), "before the pause of %s is over", pause)
		now.add(time.Millisecond)
		failure(t, s)
		require.Equal(t, n, h.count(), "after the pause of %s", pause)
		pause = min(2*pause, time.Minute)
	}
}

func TestSuccessEndsThePause(t *testing.T) {
	t.Parallel()
	now := newClock()
	h := inTurn("T1", "T2")
	good := h.answer
	h.answer = func(r *http.Request, body string, n int) (int, string) {
		if n == 1 {
			return 503, "busy"
		}
		return good(r, body, n)
	}
	s := newSource(t, credentials(h, func(cfg *auth.Config) { cfg.Now = now.Now }))
	failure(t, s)
	now.add(time.Minute)
	stale := session(t, s)
	_, err := s.Renew(t.Context(), stale)
	require.NoError(t, err)
}

// A token host that always gives tokens which the API always refuses must not
// make the bridge reach Salesforce's 3,600 logins an hour.
func TestLoginsAreBoundedEvenWhenTheySucceed(t *testing.T) {
	t.Parallel()
	now := newClock()
	n := 0
	h := &host{answer: func(*http.Request, string, int) (int, string) {
		n++
		return 200, strings.Replace(tokenReply, "T1", strings.Repeat("T", n), 1)
	}}
	s := newSource(t, credentials(h, func(cfg *auth.Config) { cfg.Now = now.Now }))
	for range 3600 {
		if got, err := s.Session(t.Context()); err == nil {
			_, err = s.Renew(t.Context(), got)
			if err != nil {
				assert.Equal(t, salesforce.ClassAuth, salesforce.ClassOf(err))
			}
		}
		now.add(time.Second)
	}
	assert.LessOrEqual(t, h.count(), 400, "in an hour")
	assert.Greater(t, h.count(), 100)
}

func TestGivenSession(t *testing.T) {
	t.Parallel()
	s := newSource(t, auth.Config{Flow: auth.GivenSession, AccessToken: "T0", InstanceURL: "acme.my.salesforce.com/", Transport: hang()})
	got := session(t, s)
	assert.Equal(t, salesforce.Session{Token: "T0", Instance: "https://acme.my.salesforce.com"}, got)
	_, err := s.Renew(t.Context(), got)
	require.ErrorContains(t, err, "can't be renewed")
	e, ok := salesforce.AsError(err)
	require.True(t, ok)
	assert.Equal(t, salesforce.ClassAuth, e.Class)
	assert.Equal(t, time.Minute, e.RetryAfter())
	assert.Equal(t, got, session(t, s), "a redirect that asked for a renewal takes nothing away")
}

func TestObserverHearsOfLogins(t *testing.T) {
	t.Parallel()
	var heard []string
	s := newSource(t, credentials(inTurn("T1"), func(c *auth.Config) {
		c.Observer = func(op string, class salesforce.Class, _ time.Duration) { heard = append(heard, op+" "+class.String()) }
	}))
	session(t, s)
	assert.Equal(t, []string{"token ok"}, heard)
}

// TestClientAndSourceTogether lets 64 callers of a client meet an expired
// session: one login, all calls succeed on the new instance.
func TestClientAndSourceTogether(t *testing.T) {
	t.Parallel()
	var logins, stale atomic.Int64
	var api *httptest.Server
	api = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.URL.Path == "/services/oauth2/token":
			n := logins.Add(1)
			_, _ = io.WriteString(w, `{"access_token":"token-`+string(rune('0'+n))+`","instance_url":"`+api.URL+`/","issued_at":"1767225600000"}`)
		case r.Header.Get("Authorization") != "Bearer token-2":
			stale.Add(1)
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `[{"message":"Session expired or invalid","errorCode":"INVALID_SESSION_ID"}]`)
		default:
			_, _ = io.WriteString(w, `{"totalSize":0,"done":true,"records":[]}`)
		}
	}))
	t.Cleanup(api.Close)
	transport := salesforce.NewTransport()
	t.Cleanup(transport.CloseIdleConnections)
	source := newSource(t, auth.Config{Flow: auth.ClientCredentials, LoginURL: api.URL, AllowHTTP: true,
		ClientID: "id", ClientSecret: "secret", Transport: transport})
	client, err := salesforce.New(salesforce.Config{Sessions: source, Transport: transport})
	require.NoError(t, err)
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			_, err := client.Query(t.Context(), "SELECT Id FROM X")
			assert.NoError(t, err)
		})
	}
	wg.Wait()
	assert.Equal(t, int64(2), logins.Load(), "one to begin with, one for the expired session")
	assert.Positive(t, stale.Load())
}
