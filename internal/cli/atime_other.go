//go:build !linux && !darwin && !windows

package cli

import "time"

// accessTime is unknown on these systems.
func accessTime(string) time.Time { return time.Time{} }
