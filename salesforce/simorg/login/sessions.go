// Package login gives out and checks the sessions of the simulated org: OAuth
// 2.0 token requests and SOAP login.
package login

import (
	"crypto/rand"
	"sync"
	"time"
)

// Sessions is the access tokens in use. It is safe for concurrent use.
type Sessions struct {
	orgID   string
	timeout time.Duration
	now     func() time.Time

	mu   sync.Mutex
	used map[string]time.Time // token to its last use
	kept map[string]bool      // tokens that no idle time ends
}

// NewSessions makes an empty set; a session ends after timeout without use.
func NewSessions(orgID string, timeout time.Duration, now func() time.Time) *Sessions {
	return &Sessions{orgID: orgID, timeout: timeout, now: now, used: map[string]time.Time{}, kept: map[string]bool{}}
}

// Issue starts a session and returns its access token.
func (s *Sessions) Issue() string { return s.issue(false) }

// IssueKept starts a session that only Revoke ends.
func (s *Sessions) IssueKept() string { return s.issue(true) }

func (s *Sessions) issue(keep bool) string {
	token := s.orgID[:15] + "!AQ" + rand.Text() + rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used[token] = s.now()
	if keep {
		s.kept[token] = true
	}
	return token
}

// Valid reports whether the token's session goes on, and counts as use.
func (s *Sessions) Valid(token string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	last, ok := s.used[token]
	if !ok {
		return false
	}
	now := s.now()
	if now.Sub(last) > s.timeout && !s.kept[token] {
		delete(s.used, token)
		return false
	}
	s.used[token] = now
	return true
}

// Revoke ends a session.
func (s *Sessions) Revoke(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.used, token)
	delete(s.kept, token)
}
