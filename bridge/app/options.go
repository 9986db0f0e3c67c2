package app

import (
	"log/slog"
	"slices"
	"time"

	"sfbridge/bridge/poll"
	"sfbridge/bridge/receive"
	"sfbridge/config"
)

// Role is one part of the service.
type Role string

const (
	Receive   Role = "receive"   // take deliveries and stage them
	Process   Role = "process"   // apply what is due
	Effects   Role = "effects"   // deliver what transitions have caused
	Reconcile Role = "reconcile" // compare with the providers' truth
	Retain    Role = "retain"    // clear and delete what is finished and old
)

// Roles lists the roles.
func Roles() []Role { return []Role{Receive, Process, Effects, Reconcile, Retain} }

// Options say what to run.
type Options struct {
	Config *config.Config // as loaded, with references
	Env    config.Env     // where references are filled from
	Roles  []Role         // empty: all
	Log    *slog.Logger   // nil: discarded
	// Now is the clock by which deliveries are judged and work is due; nil: time.Now.
	Now   func() time.Time
	Seams Seams
	// LeaseTTL is how long the others wait for the queues of a process that says
	// nothing; 0: 30 s.
	LeaseTTL time.Duration
	// StopWithin is how long all work in flight is waited for when stopping, three
	// quarters of it for deliveries and batches; 0: 8 s.
	StopWithin time.Duration
}

// DefaultStopWithin ends a stop before most supervisors kill what does not end.
const DefaultStopWithin = 8 * time.Second

func (o Options) stopWithin() time.Duration {
	if o.StopWithin <= 0 {
		return DefaultStopWithin
	}
	return o.StopWithin
}

// drainWithin is how long single deliveries and batches in flight are waited for.
func (o Options) drainWithin() time.Duration { return o.stopWithin() * 3 / 4 }

func (o Options) has(r Role) bool { return len(o.Roles) == 0 || slices.Contains(o.Roles, r) }

// Seams are the places where a part can be replaced or wrapped: by the demo's
// own test, which breaks one part after the other, and by fault tests. A nil
// seam leaves the part as it is.
type Seams struct {
	Org      func(Org) Org
	Verifier func(source string, v receive.Verifier) receive.Verifier
	Stager   func(receive.Stager) receive.Stager
	Applier  func(poll.Applier) poll.Applier
	Keys     func(Keys) Keys
}

func (s Seams) keys(k Keys) Keys {
	if s.Keys == nil {
		return k
	}
	return s.Keys(k)
}

func (s Seams) org(o Org) Org {
	if s.Org == nil {
		return o
	}
	return s.Org(o)
}

func (s Seams) verifier(source string, v receive.Verifier) receive.Verifier {
	if s.Verifier == nil {
		return v
	}
	return s.Verifier(source, v)
}

func (s Seams) stager(st receive.Stager) receive.Stager {
	if s.Stager == nil {
		return st
	}
	return s.Stager(st)
}

func (s Seams) applier(a poll.Applier) poll.Applier {
	if s.Applier == nil {
		return a
	}
	return s.Applier(a)
}
