package ledger

import "time"

// Cost is what a run took.
type Cost struct {
	Tries     int           // deliveries, with those that were refused
	Events    int           // events that were taken
	Instances int           // processes at once
	Starts    int           // processes in all
	Took      time.Duration // from the first delivery to the end of the last
	Calls     int           // API calls
	Logins    int           // requests for a session
	Lines     int           // of the logs
	RSS       int           // largest resident memory of a process, in MiB; 0: not measured
}

// Bounds of what is no storm. A loop without a pause passes each of them within
// a second; a slow machine does not.
const (
	callsPerEvent    = 3
	callsPerSecond   = 25 // of each instance: polling, retries, leases of work
	loginsPerStart   = 4
	loginsPerMinute  = 30 // of each instance
	linesPerTry      = 2
	linesPerSecond   = 20 // of each instance, besides
	linesPerStart    = 50
	mostResidentMiB  = 256
	smallestDuration = 5 * time.Second
)

// Bound asks that the costs are within bounds.
func (v *Verdict) Bound(c Cost) {
	seconds := int(max(c.Took, smallestDuration)/time.Second) + 1
	for _, b := range []struct {
		what      string
		got, most int
	}{
		{"API calls", c.Calls, callsPerEvent*c.Events + callsPerSecond*seconds*c.Instances},
		{"logins", c.Logins, loginsPerStart*c.Starts + loginsPerMinute*c.Instances*(seconds/60+1)},
		{"lines of log", c.Lines, linesPerTry*c.Tries + linesPerSecond*seconds*c.Instances + linesPerStart*c.Starts},
		{"MiB of memory", c.RSS, mostResidentMiB},
	} {
		if b.got > b.most {
			v.say("%d %s, where %d are enough: %+v", b.got, b.what, b.most, c)
		}
	}
}
