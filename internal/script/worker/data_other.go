//go:build unix && !linux

package worker

// limitData does nothing: other systems don't count mapped memory here. The watch
// bounds it.
func limitData(int64) error { return nil }
