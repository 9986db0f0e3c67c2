package auth_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/salesforce"
	"sfbridge/salesforce/auth"
)

// commons is a store in memory that several processes share.
type commons struct {
	mu    sync.Mutex
	notes map[string][]byte
	locks map[string]lock
	fail  error
}

type lock struct {
	owner *seat
	until time.Time
}

func newCommons() *commons { return &commons{notes: map[string][]byte{}, locks: map[string]lock{}} }

// seat is the view that one process has of it.
type seat struct{ *commons }

func (c *seat) Read(_ context.Context, name string) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.notes[name], c.fail
}

func (c *seat) Write(_ context.Context, name string, text []byte, _ time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.notes[name] = text
	return c.fail
}

func (c *seat) Lock(_ context.Context, name string, ttl time.Duration) (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l, held := c.locks[name]; held && l.owner != c && time.Now().Before(l.until) {
		return false, c.fail
	}
	c.locks[name] = lock{c, time.Now().Add(ttl)}
	return true, c.fail
}

func (c *seat) Unlock(_ context.Context, name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.locks[name].owner == c {
		delete(c.locks, name)
	}
	return c.fail
}

// sharing makes a process of its own on the commons.
func sharing(t *testing.T, h *host, c *commons, change ...func(*auth.Config)) *auth.Source {
	t.Helper()
	return newSource(t, credentials(h, append(change, func(cfg *auth.Config) { cfg.Shared = &seat{c} })...))
}

func TestOneLoginForManyProcesses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, c := inTurn("T1", "T2", "T3"), newCommons()
		var processes []*auth.Source
		for range 8 {
			processes = append(processes, sharing(t, h, c))
		}
		all := func(token string, get func(*auth.Source) (salesforce.Session, error)) {
			var work sync.WaitGroup
			for _, p := range processes {
				work.Go(func() {
					got, err := get(p)
					if assert.NoError(t, err) {
						assert.Equal(t, token, got.Token.Reveal())
						assert.Equal(t, "https://acme.my.salesforce.com", got.Instance)
					}
				})
			}
			work.Wait()
		}
		all("T1", func(p *auth.Source) (salesforce.Session, error) { return p.Session(t.Context()) })
		assert.Equal(t, 1, h.count(), "the first session")
		stale := session(t, processes[0])
		all("T2", func(p *auth.Source) (salesforce.Session, error) { return p.Renew(t.Context(), stale) })
		assert.Equal(t, 2, h.count(), "all meet the end of the session")
		late := sharing(t, h, c)
		assert.Equal(t, "T2", session(t, late).Token.Reveal(), "who starts later finds it")
		assert.Equal(t, 2, h.count())
	})
}

func TestASharedSessionIsSealed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, c := inTurn("canary-token", "T2", "T3", "T4"), newCommons()
		session(t, sharing(t, h, c))
		require.Len(t, c.notes, 1)
		name, note := "", []byte(nil)
		for name, note = range c.notes {
			assert.NotContains(t, string(note), "canary")
			assert.NotContains(t, string(note), "acme")
			assert.NotContains(t, name, "client")
		}
		other := sharing(t, h, c, func(cfg *auth.Config) { cfg.ClientSecret = "another-secret" })
		assert.Equal(t, "T2", session(t, other).Token.Reveal(), "who has another secret can't open it")
		user := sharing(t, h, c, func(cfg *auth.Config) { cfg.LoginURL = "https://other.my.salesforce.com" })
		assert.Equal(t, "T3", session(t, user).Token.Reveal(), "it is bound to its login")
		for _, bad := range [][]byte{{}, {1}, {9, 9}, note[:len(note)-1], append([]byte{2}, note[1:]...), flipped(note)} {
			c.notes[name] = bad
			n := h.count()
			assert.NotEqual(t, "canary-token", session(t, sharing(t, h, c)).Token.Reveal())
			assert.Equal(t, n+1, h.count(), "what was changed is not opened")
		}
	})
}

func flipped(note []byte) []byte {
	bad := bytes.Clone(note)
	bad[len(bad)/2] ^= 1
	return bad
}

func TestWithoutTheStoreEachProcessLogsIn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, c := inTurn("T1", "T2", "T3"), newCommons()
		c.fail = errors.New("away")
		one, two := sharing(t, h, c), sharing(t, h, c)
		assert.Equal(t, "T1", session(t, one).Token.Reveal())
		assert.Equal(t, "T2", session(t, two).Token.Reveal())
		assert.Equal(t, 2, h.count())
	})
}

// silent is a store that takes requests and never answers.
type silent struct{}

func (silent) Read(ctx context.Context, _ string) ([]byte, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (s silent) Write(ctx context.Context, name string, _ []byte, _ time.Duration) error {
	_, err := s.Read(ctx, name)
	return err
}

func (s silent) Lock(ctx context.Context, name string, _ time.Duration) (bool, error) {
	_, err := s.Read(ctx, name)
	return false, err
}

func (s silent) Unlock(ctx context.Context, name string) error {
	_, err := s.Read(ctx, name)
	return err
}

func TestAStoreThatNeverAnswersHoldsNoLoginUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSource(t, credentials(inTurn("T1", "T2"), func(cfg *auth.Config) { cfg.Shared = silent{} }))
		began := time.Now()
		first := session(t, s)
		assert.Equal(t, 2*time.Second, time.Since(began), "all that a login waits for it")
		_, err := s.Renew(t.Context(), first)
		require.NoError(t, err)
		assert.Equal(t, 4*time.Second, time.Since(began), "each")
	})
}

func TestAProcessThatDiesInItsLoginKeepsTheOthersForAMomentOnly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, c := inTurn("T1", "T2"), newCommons()
		session(t, sharing(t, h, c))
		for name := range c.notes {
			ghost := &seat{c}
			mine, err := ghost.Lock(t.Context(), name, 10*time.Second)
			require.NoError(t, err)
			require.True(t, mine)
		}
		p := sharing(t, h, c)
		begun := time.Now()
		got, err := p.Renew(t.Context(), session(t, p))
		require.NoError(t, err)
		assert.Equal(t, "T2", got.Token.Reveal())
		assert.Equal(t, 10*time.Second, time.Since(begun))
	})
}

func TestARefusedLoginLetsTheOthersTry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCommons()
		bad, good := always(400, `{"error":"invalid_client"}`), inTurn("T1")
		e := failure(t, sharing(t, bad, c))
		assert.Equal(t, salesforce.ClassAuth, e.Class)
		assert.Equal(t, "T1", session(t, sharing(t, good, c)).Token.Reveal())
	})
}

// A session made with what people choose, or from outside, is not left anywhere.
func TestWhatIsNeverShared(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCommons()
		for name, cfg := range map[string]auth.Config{
			"a session from outside": {Flow: auth.GivenSession, AccessToken: "T", InstanceURL: "https://acme.my.salesforce.com"},
			"a password alone": {Flow: auth.Password, LoginURL: "https://login.salesforce.com", Username: "u", Password: "p",
				Transport: always(500, soapFault("INVALID_LOGIN", "m"))},
		} {
			cfg.Shared = &seat{c}
			_, _ = newSource(t, cfg).Session(t.Context())
			assert.Empty(t, c.notes, name)
			assert.Empty(t, c.locks, name)
		}
	})
}

// A login that is refused for half an hour keeps a process from working only
// while no other one has a session.
func TestARefusedLoginIsHelpedByOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, c := inTurn("T1", "", "T2"), newCommons()
		granted := h.answer
		h.answer = func(r *http.Request, body string, n int) (int, string) {
			if n == 2 {
				return 400, `{"error":"rate_limit_exceeded"}`
			}
			return granted(r, body, n)
		}
		refused, other := sharing(t, h, c), sharing(t, h, c)
		stale := session(t, refused)
		require.Equal(t, stale, session(t, other))
		_, err := refused.Renew(t.Context(), stale)
		e, ok := salesforce.AsError(err)
		require.True(t, ok)
		assert.LessOrEqual(t, e.Pause, 5*time.Second, "whoever waits asks again soon")
		for range 10 {
			time.Sleep(3 * time.Second)
			failure(t, refused)
		}
		assert.Equal(t, 2, h.count(), "it only looks, and takes no stale session")
		renewed, err := other.Renew(t.Context(), stale)
		require.NoError(t, err)
		time.Sleep(6 * time.Second)
		assert.Equal(t, renewed, session(t, refused))
		assert.Equal(t, 3, h.count())
	})
}

// Without others the pause that Salesforce wants is told as it is.
func TestARefusedLoginAlone(t *testing.T) {
	t.Parallel()
	assert.Greater(t, failure(t, newSource(t, credentials(always(400, `{"error":"rate_limit_exceeded"}`)))).Pause, 29*time.Minute)
}

// A session that was refused stands in the store until somebody has another one.
// A process that has to wait for its login doesn't take it up again: else it
// would find it dead each time, and never log in.
func TestARefusedSessionIsNotTakenUpAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, c := inTurn("T1", "T2", "T3", "T4", "T5", "T6", "T7", "T8", "T9", "T10", "T11"), newCommons()
		s := sharing(t, h, c)
		held := session(t, s)
		var err error
		for err == nil {
			var renewed salesforce.Session
			if renewed, err = s.Renew(t.Context(), held); err == nil {
				held = renewed
			}
		}
		logins := h.count()
		time.Sleep(11 * time.Second) // one login may be made again
		assert.NotEqual(t, held.Token, session(t, s).Token)
		assert.Equal(t, logins+1, h.count())
	})
}
