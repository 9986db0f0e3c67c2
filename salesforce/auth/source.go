package auth

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"sfbridge/salesforce"
)

const (
	defaultTimeout = 30 * time.Second

	// Pauses after failed logins: doubled from the first to the longest.
	firstPause   = 500 * time.Millisecond
	longestPause = time.Minute
	// refusedPause follows a login that was refused and won't be accepted by itself.
	refusedPause = time.Minute

	// Logins that succeed are bounded too, far below the 3,600 an hour at which
	// Salesforce locks a user out: a token that is refused as soon as it is
	// issued would otherwise be replaced without end.
	loginEvery = 10 * time.Second
	loginBurst = 10
)

// Source keeps one session for all callers. It is safe for use by many
// goroutines.
type Source struct {
	cfg    Config
	method login
	vault  *vault // nil: this login is shared with nobody
	bucket *rate.Limiter

	mu       sync.Mutex
	current  *salesforce.Session
	running  *attempt
	failed   error // of the last login, until
	until    time.Time
	failures int
	stale    salesforce.Secret // the last token that was refused
	looked   time.Time         // last look for a session of others while no login may be made
}

// attempt is a login under way, shared by those who wait for it.
type attempt struct {
	stale   salesforce.Secret // refused, if any
	held    error             // no login may be made: only what others have left helps
	done    chan struct{}
	session salesforce.Session
	err     error
}

// New checks the settings, all at once, and makes a source. It logs in with the
// first call of Session.
func New(cfg Config) (*Source, error) {
	cfg = cfg.withDefaults()
	method, err := cfg.method()
	if err != nil {
		return nil, err
	}
	vault, err := cfg.newVault()
	if err != nil {
		return nil, err
	}
	return &Source{cfg: cfg, method: method, vault: vault, bucket: rate.NewLimiter(rate.Every(loginEvery), loginBurst)}, nil
}

func (c Config) withDefaults() Config {
	if c.Transport == nil {
		c.Transport = salesforce.NewTransport()
	}
	if c.Timeout == 0 {
		c.Timeout = defaultTimeout
	}
	if c.Observer == nil {
		c.Observer = func(string, salesforce.Class, time.Duration) {}
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Jitter == nil {
		c.Jitter = rand.Float64
	}
	return c
}

// Format shows flow and login host only, whatever the verb.
func (s *Source) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "salesforce sessions by %s at %s", s.cfg.Flow, hostname(s.cfg.LoginURL))
}

// Session implements salesforce.Sessions.
func (s *Source) Session(ctx context.Context) (salesforce.Session, error) {
	s.mu.Lock()
	if s.current != nil {
		defer s.mu.Unlock()
		return *s.current, nil
	}
	return s.join(ctx)
}

// Renew implements salesforce.Sessions. The token tells whether somebody else
// has renewed the session already.
func (s *Source) Renew(ctx context.Context, stale salesforce.Session) (salesforce.Session, error) {
	s.mu.Lock()
	if s.current != nil && s.current.Token != stale.Token {
		defer s.mu.Unlock()
		return *s.current, nil
	}
	if s.cfg.Flow == GivenSession {
		defer s.mu.Unlock()
		return salesforce.Session{}, refusedSession()
	}
	s.current, s.stale = nil, stale.Token
	return s.join(ctx)
}

func refusedSession() error {
	return &salesforce.Error{Op: salesforce.OpToken, Fault: salesforce.Fault{Class: salesforce.ClassAuth, Pause: refusedPause,
		Message: "the session given in salesforce.auth.access_token is refused and can't be renewed"},
		Advice: "give a new access token, or use flow jwt or client_credentials"}
}

// join waits for the login under way, beginning one if there is none: for
// another session than the stale one. It is called with the lock held and gives
// it back.
func (s *Source) join(ctx context.Context) (salesforce.Session, error) {
	if s.running == nil {
		held := s.pausing()
		if held != nil && !s.mayLook() {
			s.mu.Unlock()
			return salesforce.Session{}, held
		}
		s.running = &attempt{stale: s.stale, held: held, done: make(chan struct{})}
		go s.run(context.WithoutCancel(ctx), s.running)
	}
	a := s.running
	s.mu.Unlock()
	select {
	case <-a.done:
		return a.session, a.err
	case <-ctx.Done():
		return salesforce.Session{}, &salesforce.Error{Op: salesforce.OpToken, Err: ctx.Err(),
			Fault: salesforce.Fault{Message: "given up while waiting for a login", Class: salesforce.ClassRetryable}}
	}
}

// pausing gives the error that stands while no login may be made.
func (s *Source) pausing() error {
	now := s.cfg.Now()
	if wait := s.until.Sub(now); s.failed != nil && wait > 0 {
		return s.hopeful(s.failed, wait)
	}
	if !s.bucket.AllowN(now, 1) {
		return &salesforce.Error{Op: salesforce.OpToken, Fault: salesforce.Fault{Class: salesforce.ClassAuth, Pause: loginEvery,
			Message: "new sessions are refused as soon as they are made"},
			Advice: "check the integration user's session settings, IP ranges and API access"}
	}
	return nil
}

// run makes the login for all who wait. ctx carries the values of the caller
// who began it, not its end.
func (s *Source) run(ctx context.Context, a *attempt) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	if a.held == nil {
		a.session, a.err = s.obtain(ctx, a.stale)
	} else {
		a.session, a.err = s.look(ctx, a)
	}
	s.mu.Lock()
	s.running = nil
	switch {
	case a.err == nil:
		session := a.session
		s.current, s.failed, s.failures = &session, nil, 0
	case a.held == nil:
		pause := s.pauseAfter(a.err)
		s.failed, s.until = a.err, s.cfg.Now().Add(pause)
		s.failures++
		if s.vault != nil {
			a.err = s.hopeful(a.err, pause)
		}
	}
	s.mu.Unlock()
	close(a.done)
}

// logIn makes a login of this process's own.
func (s *Source) logIn(ctx context.Context) (salesforce.Session, error) {
	started := s.cfg.Now()
	session, err := s.method.login(ctx)
	if s.cfg.Flow != GivenSession {
		s.cfg.Observer(s.cfg.operation(), salesforce.ClassOf(err), s.cfg.Now().Sub(started))
	}
	return session, err
}

// pauseAfter is the time to the next login: what Salesforce wants, or a capped
// exponential with jitter.
func (s *Source) pauseAfter(err error) time.Duration {
	base := firstPause << min(s.failures, 10)
	if salesforce.ClassOf(err) != salesforce.ClassRetryable {
		base = refusedPause
	}
	base = min(base, longestPause)
	pause := base/2 + time.Duration(s.cfg.Jitter()*float64(base/2))
	if e, ok := salesforce.AsError(err); ok && e.Pause > pause {
		return e.Pause
	}
	return pause
}

// withPause tells how long the error will stand.
func withPause(err error, wait time.Duration) error {
	var e *salesforce.Error
	if !errors.As(err, &e) {
		return err
	}
	held := *e
	held.Pause = wait
	return &held
}

func (c Config) operation() string {
	if c.Flow == Password {
		return salesforce.OpLogin
	}
	return salesforce.OpToken
}
