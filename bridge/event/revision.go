package event

import "time"

// MaxRevisionStep bounds the random step of Revision__c.
const MaxRevisionStep = 1_000_000

// NextRevision is the number a writer sends as Revision__c: the one it read
// plus 1 to 1,000,000, new for every send, so that no two sends are alike and
// exactly one of several writers moves a row on. intn returns 0 to n-1.
func NextRevision(read int64, intn func(n int64) int64) int64 {
	return read + 1 + intn(MaxRevisionStep)
}

// Backoff is a capped exponential with full jitter.
type Backoff struct {
	Base time.Duration // ceiling of the first delay
	Max  time.Duration // ceiling of every delay
}

// Delay is how long to wait before the next attempt after n failures (1 for
// the first). random returns 0 (inclusive) to 1 (exclusive). It never
// overflows.
func (b Backoff) Delay(n int, random func() float64) time.Duration {
	ceiling := b.Max
	if n < 1 {
		n = 1
	}
	if shift := n - 1; shift < 62 && b.Base<<shift>>shift == b.Base {
		ceiling = min(b.Max, b.Base<<shift)
	}
	return time.Duration(random() * float64(ceiling))
}
