// Package failpoint names the places between two steps where tests make the
// service die, stall or fail. In the product every function here does nothing:
// the other half is compiled in only with the build tag failpoint.
//
//	failpoint.Hit(failpoint.StageSending)            // may die or stall here
//	if err := failpoint.Err(failpoint.Dial); err != nil {
//		return nil, err
//	}
//
// With the tag, BRIDGE_FAILPOINTS names a folder. A test arms a point by a file
// of its name there, whose text says what is to happen:
//
//	kill          SIGKILL to the process; the file is renamed to <name>.hit first
//	kill 20ms     the same, so much later, while the work goes on
//	delay 300ms   stall for so long, at each hit
//	fail          Err gives an error, at each call
//
// A file named clock there holds a duration by which Now is off. So a test may
// arm and disarm while the service runs, and a point that killed tells so.
package failpoint
