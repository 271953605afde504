package search

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"quarry/fault"
)

// Changed restricts a query to changed files; the zero value does not. A file has
// to meet every condition that is set. Folders never do.
type Changed struct {
	// Git selects files that differ from the last commit (HEAD) of their
	// repository, staged or not, and new files. Files outside of a repository do
	// not count as changed.
	Git bool
	// Since selects files that were modified at this time or later.
	Since time.Time
}

// Any reports whether any condition is set.
func (c Changed) Any() bool { return c.Git || !c.Since.IsZero() }

// ErrChanged is returned for a word that is neither git nor a time.
var ErrChanged = fault.New(fault.InvalidArgument, "neither git nor a time such as 2h, 3d, 2weeks or 2026-05-01", "")

// ParseChanged parses git (or true), an age such as 2h, 3d or 2weeks, or a date.
// "" and false set no condition.
func ParseChanged(s string, now time.Time) (Changed, error) {
	switch s = strings.ToLower(strings.TrimSpace(s)); s {
	case "", "false":
		return Changed{}, nil
	case "git", "true", "head":
		return Changed{Git: true}, nil
	}
	t, err := ParseTime(s, now)
	if err != nil {
		return Changed{}, ErrChanged
	}
	return Changed{Since: t}, nil
}

// ParseTime parses a time in the past: an age such as 90s, 2h, 3d or 2weeks, or a
// date with or without a time of day.
func ParseTime(s string, now time.Time) (time.Time, error) {
	for _, form := range []string{time.RFC3339, "2006-01-02 15:04:05", "2006-01-02T15:04:05", "2006-01-02"} {
		if t, err := time.ParseInLocation(form, strings.ToUpper(s), now.Location()); err == nil {
			return t, nil
		}
	}
	digits := strings.TrimRight(s, "abcdefghijklmnopqrstuvwxyz")
	unit := s[len(digits):]
	if len(unit) > 1 {
		unit = strings.TrimSuffix(unit, "s")
	}
	for _, u := range []struct {
		names string
		one   time.Duration
	}{
		{"s sec second", time.Second}, {"m min minute", time.Minute}, {"h hour", time.Hour}, {"d day", 24 * time.Hour},
		{"w week", 7 * 24 * time.Hour}, {"mo month", 30 * 24 * time.Hour}, {"y year", 365 * 24 * time.Hour},
	} {
		if n, err := strconv.ParseUint(digits, 10, 16); err == nil && hasWord(u.names, unit) {
			return now.Add(-time.Duration(n) * u.one), nil
		}
	}
	if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	return now, fmt.Errorf("invalid time %q: use 2h, 3d or 2weeks, or a date such as 2026-05-01", s)
}

func hasWord(words, word string) bool {
	return word != "" && strings.Contains(" "+words+" ", " "+word+" ")
}
