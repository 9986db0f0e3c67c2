//go:build !race

package harness

// raceDetector tells whether the tests run under the race detector.
const raceDetector = false
