package effect

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"sfbridge/bridge/event"
	"sfbridge/bridge/outbound"
	"sfbridge/salesforce"
)

// result is how one try ended.
type result struct {
	at       time.Time
	status   event.EffectStatus
	attempts int       // Attempts__c from now on
	next     time.Time // Next_Attempt_At__c of a retryable one
	code     string
	answer   string // short
	why      string // for the history
}

// verdict is what a try says, before attempts are counted.
type verdict struct {
	done  bool
	final bool          // trying again can't help
	pause time.Duration // that the receiver asks for
	code  string
	text  string
}

// judge turns a verdict into a result. This is the one place that decides
// between another try and a person.
func (w *Worker) judge(e *event.Effect, v verdict) *result {
	r := &result{at: w.cfg.Now(), attempts: e.Attempts, code: event.Cut(v.code, event.CodeLimit), answer: short(v.text), why: v.code}
	if v.done {
		r.status = event.EffectDone
		return r
	}
	r.attempts++
	if v.final || r.attempts >= w.cfg.MaxAttempts {
		r.status = event.EffectReview
		r.why = fmt.Sprintf("%s, failed %d times", v.code, r.attempts)
		return r
	}
	r.status = event.EffectRetryable
	delay := max(w.cfg.Backoff.Delay(r.attempts, w.cfg.Random), min(v.pause, maxPause))
	r.next = r.at.Add(delay)
	r.why = fmt.Sprintf("%s, attempt %d, next %s", v.code, r.attempts, r.next.UTC().Format(time.RFC3339))
	return r
}

// short is the beginning of an answer as text that a field keeps.
func short(text string) string {
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\uFFFD")
	}
	text = strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, text)
	return event.Cut(strings.TrimSpace(text), shortAnswer)
}

// answered judges the answer of a receiver: only 2xx is a success. 410 says
// that the receiver is gone for good.
func answered(r outbound.Response, now time.Time) verdict {
	v := verdict{code: fmt.Sprintf("HTTP %d", r.Status), text: string(r.Body)}
	switch {
	case r.Status >= 200 && r.Status < 300:
		v.done = true
	case r.Status == 410:
		v.final = true
	case r.Status >= 300 && r.Status < 400:
		v.text = "redirects are not followed"
	}
	if !v.done {
		v.pause = outbound.RetryAfter(r.Header, now)
	}
	return v
}

// unanswered judges a request that brought no answer. An address that must not
// be called stays so until a person changes the settings.
func unanswered(err error) verdict {
	switch {
	case errors.Is(err, outbound.ErrForbidden):
		return verdict{final: true, code: "FORBIDDEN", text: err.Error() + ": it must be https and public, or stand in outbound.allow"}
	case errors.Is(err, outbound.ErrTooLarge):
		return verdict{code: "TOO_LARGE", text: err.Error()}
	}
	return verdict{code: "NO_ANSWER", text: err.Error()}
}

// saved judges what Salesforce says of one row.
func saved(r salesforce.SaveResult) verdict {
	if r.Success {
		return verdict{done: true, code: "OK", text: r.ID}
	}
	f := r.Fault()
	v := verdict{code: f.Code, text: f.Message, pause: f.Pause}
	switch f.Class {
	case salesforce.ClassRetryable, salesforce.ClassDependency, salesforce.ClassUnknownOutcome, salesforce.ClassLimit,
		salesforce.ClassAuth, salesforce.ClassStale, salesforce.ClassCollateral:
	default:
		v.final = !f.Lock()
	}
	if v.code == "" {
		v.code = "UNKNOWN"
	}
	return v
}
