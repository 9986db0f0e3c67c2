//go:build !race

package fault

const raceDetector = false
