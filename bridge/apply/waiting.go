package apply

import (
	"time"

	"sfbridge/bridge/event"
	"sfbridge/salesforce"
)

// minWait is the shortest time between two looks for something that is still
// to come.
const minWait = time.Second

// charged is a failure of the event itself: one attempt, and a person's when
// the attempts are used up.
func (r *run) charged(it *item, code, why string, least time.Duration) *verdict {
	attempts := it.ev.Attempts + 1
	if attempts >= r.cfg.MaxAttempts {
		return &verdict{status: event.Review, code: code, why: why, attempts: attempts}
	}
	delay := max(least, r.cfg.Backoff.Delay(attempts, r.cfg.Float))
	return &verdict{status: event.Retryable, code: code, why: why, attempts: attempts, next: r.cfg.Now().Add(delay)}
}

// await is a wait for a record that may still come. It costs no attempt within
// ParentWait of the receipt. After that a row that has waited before goes to
// Review; one that has not (the service was down, or a person replayed it)
// waits as if it had failed.
func (r *run) await(it *item, code, why string) *verdict {
	age := r.cfg.Now().Sub(it.ev.ReceivedAt)
	waited := it.ev.Status == event.Retryable && it.ev.ErrorCode == code
	switch {
	case age < r.cfg.ParentWait:
		return &verdict{
			status: event.Retryable, code: code, why: why, attempts: it.ev.Attempts,
			next: r.cfg.Now().Add(r.patience(age)), waits: true,
		}
	case waited:
		return &verdict{status: event.Review, code: code, why: why, attempts: it.ev.Attempts}
	}
	v := r.charged(it, code, why, minWait)
	v.waits = v.status == event.Retryable
	return v
}

// locked is a row that another transaction holds. It costs no attempt within
// LockGrace of the receipt.
func (r *run) locked(it *item, f salesforce.Fault) *verdict {
	age := r.cfg.Now().Sub(it.ev.ReceivedAt)
	if age >= r.cfg.LockGrace {
		return r.charged(it, f.Code, f.Message, 0)
	}
	return &verdict{
		status: event.Retryable, code: f.Code, why: f.Message, attempts: it.ev.Attempts,
		next: r.cfg.Now().Add(max(f.Pause, r.patience(age))),
	}
}

// patience grows with the age of what waits, within the bounds of the backoff:
// half to a whole quarter of the age, so that waiters don't come in step.
func (r *run) patience(age time.Duration) time.Duration {
	quarter := min(max(age/4, r.cfg.Backoff.Base), r.cfg.Backoff.Max)
	return max(minWait, quarter/2+time.Duration(r.cfg.Float()*float64(quarter/2)))
}
