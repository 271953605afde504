//go:build race

package stress

const raceDetector = true
