package event

// Work is a kind of work that yields when the org's daily calls run short, in
// this order. Staging is not among them: it never yields.
type Work int

const (
	ReconcileWork Work = iota // comparing with the provider's truth
	RetainWork                // purging what is old
	CountWork                 // counts for people
	EffectWork                // delivering the outbox
	PollWork                  // due rows

	kinds = iota
)

// Yields says whether the work has to rest: used of limit calls are gone, and
// share is the part of the day's calls from which on work yields. What is left
// above share is divided so that one kind after another comes to rest. A limit
// of zero is not known yet: nothing yields.
func (w Work) Yields(used, limit int64, share float64) bool {
	if limit <= 0 {
		return false
	}
	from := share + (1-share)*float64(w)/kinds
	return float64(used) >= from*float64(limit)
}
