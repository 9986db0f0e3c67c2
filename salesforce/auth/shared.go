package auth

import (
	"context"
	"time"

	"sfbridge/internal/pause"
	"sfbridge/salesforce"
)

// Shared is where processes that log in as the same user leave their session
// for each other. What is left there is sealed: see vault. When it can't be
// reached each process logs in by itself.
type Shared interface {
	// Read gives what was left under a name; nil for nothing.
	Read(ctx context.Context, name string) ([]byte, error)
	// Write leaves something under a name for a time.
	Write(ctx context.Context, name string, text []byte, ttl time.Duration) error
	// Lock says whether this process alone may log in now, for a time at most.
	Lock(ctx context.Context, name string, ttl time.Duration) (bool, error)
	// Unlock ends that time.
	Unlock(ctx context.Context, name string) error
}

const (
	sharedFor  = 2 * time.Hour          // how long a session is left for others
	lockFor    = 10 * time.Second       // how long a login keeps others from theirs: a process may die in it
	lookEvery  = 100 * time.Millisecond // while another process logs in
	sharedWait = 2 * time.Second        // for one look at the store, its repeats included: a login waits for it
)

// obtain gives a session other than the stale one: one that another process has
// left, or that of a login, which one process makes for all.
func (s *Source) obtain(ctx context.Context, stale salesforce.Secret) (salesforce.Session, error) {
	if s.vault == nil {
		return s.logIn(ctx)
	}
	for {
		session, found, err := s.left(ctx, stale)
		if found {
			return session, nil
		}
		var mine bool
		if err == nil {
			mine, err = s.lock(ctx)
		}
		switch {
		case err != nil:
			return s.logIn(ctx) // there is nobody to wait for
		case mine:
			return s.logInForAll(ctx, stale)
		}
		if pause.For(ctx, lookEvery) != nil {
			return s.logIn(ctx) // which says that the time is over
		}
	}
}

// lookAgain is how often a process that may not log in looks for a session of
// another one: what was refused to it may have been granted there.
const lookAgain = 5 * time.Second

// mayLook says whether it is time for such a look. The lock is held.
func (s *Source) mayLook() bool {
	now := s.cfg.Now()
	if s.vault == nil || now.Sub(s.looked) < lookAgain {
		return false
	}
	s.looked = now
	return true
}

// look takes what another process has left, and nothing else.
func (s *Source) look(ctx context.Context, a *attempt) (salesforce.Session, error) {
	if session, found, _ := s.left(ctx, a.stale); found {
		return session, nil
	}
	return salesforce.Session{}, a.held
}

// hopeful tells how long an error will stand: where sessions are shared, no
// longer than until the next look.
func (s *Source) hopeful(err error, wait time.Duration) error {
	if s.vault != nil {
		wait = min(wait, lookAgain)
	}
	return withPause(err, wait)
}

// logInForAll logs in while the others wait, unless one of them has done so
// just before.
func (s *Source) logInForAll(ctx context.Context, stale salesforce.Secret) (salesforce.Session, error) {
	defer s.unlock(ctx)
	if session, found, _ := s.left(ctx, stale); found {
		return session, nil
	}
	session, err := s.logIn(ctx)
	if err != nil {
		return session, err
	}
	if sealed, err := s.vault.seal(session); err == nil {
		ctx, cancel := context.WithTimeout(ctx, sharedWait)
		defer cancel()
		_ = s.cfg.Shared.Write(ctx, s.vault.name, sealed, sharedFor) // else the others log in too
	}
	return session, nil
}

// left reads what another process has left; found is false for the stale
// session and for what can't be opened.
func (s *Source) left(ctx context.Context, stale salesforce.Secret) (session salesforce.Session, found bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, sharedWait)
	defer cancel()
	sealed, err := s.cfg.Shared.Read(ctx, s.vault.name)
	if err != nil || sealed == nil {
		return salesforce.Session{}, false, err
	}
	session, ok := s.vault.open(sealed)
	if !ok || session.Token == stale {
		return salesforce.Session{}, false, nil
	}
	session.Instance, err = salesforce.InstanceURL(session.Instance, s.cfg.AllowHTTP)
	return session, err == nil, nil
}

func (s *Source) lock(ctx context.Context) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, sharedWait)
	defer cancel()
	return s.cfg.Shared.Lock(ctx, s.vault.name, lockFor)
}

// unlock lets the others go on. When it fails the lock ends by itself.
func (s *Source) unlock(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sharedWait)
	defer cancel()
	_ = s.cfg.Shared.Unlock(ctx, s.vault.name)
}
