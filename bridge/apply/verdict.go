package apply

import (
	"fmt"
	"strings"

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

// missingParent names the parents that may be the missing one: those that the
// error mentions, else all.
func missingParent(w *row, f salesforce.Fault) string {
	if w == nil || len(w.parents) == 0 {
		return f.Message
	}
	var named, all []string
	for _, p := range w.parents {
		text := fmt.Sprintf("%s.%s=%s", p.Object, p.Field, p.Value)
		all = append(all, text)
		if strings.Contains(f.Message, p.Value) {
			named = append(named, text)
		}
	}
	if len(named) == 0 {
		named = all
	}
	return "missing parent " + strings.Join(named, " or ") + ": " + f.Message
}
