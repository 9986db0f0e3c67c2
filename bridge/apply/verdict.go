package apply

import (
	"fmt"

	"sfbridge/bridge/event"
	"sfbridge/salesforce"
)

// verdictOn is what a row's error means for its event. This is the one place
// that maps the classes of row errors to states.
func (r *run) verdictOn(it *item, w *row, f salesforce.Fault) *verdict {
	switch {
	case f.Class == salesforce.ClassDependency:
		return r.await(it, event.CodeParent, missingParent(w, f))
	case f.Lock():
		return r.locked(it, f)
	case f.Class == salesforce.ClassRetryable, f.Class == salesforce.ClassUnknownOutcome:
		return r.charged(it, codeOf(f), f.Message, f.Pause)
	}
	return r.permanent(it, f)
}

// missingParent names the parent that is not there.
func missingParent(w *row, f salesforce.Fault) string {
	if w == nil || w.parents == "" {
		return f.Message
	}
	return fmt.Sprintf("waiting for a parent of %s.%s=%s: %s", w.object, w.keyField, w.target.key, f.Message)
}
