// Package soak runs the service for a long time under steady traffic, with one
// call in a hundred failing, and says whether memory, goroutines, open files and
// the latency of answers stay flat.
//
//	make soak                             # ten minutes
//	make soak DURATION=1h RATE=500
//
// The settings of a run come from the environment:
//
//	SOAK_DURATION  how long; without it only a short run is made, which is no
//	               measurement
//	SOAK_RATE      deliveries a second; 1000, half of what the benchmark takes to
//	               the record
//	SOAK_FAULTS    share of the org's calls that fail; 0.01
//	SOAK_RECEIVER  section receiver of the settings, such as {linger: 1s}; as it
//	               comes
//	SOAK_PAGE      page whose part between the markers is written anew; empty: none
//
// Memory and files are the process's own figures, read from /metrics. The
// verdict is on what comes after the first fifth of the run, and after 100,000
// events, which fill the service's memory of confirmed keys: the median of the
// slopes between all pairs of samples, which single peaks don't move, times the
// time they span. In the end every accepted event must be one record.
package soak
