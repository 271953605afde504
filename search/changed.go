package search

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"quarry/fault"
)

// Changed says which files count as changed; the zero value lets all files pass.
// A file has to be changed in every way that is asked for; a folder never is.
type Changed struct {
	// Git wants files that differ from the last commit (HEAD) of the repository they
	// are in, staged or not, and files that are new there. A file in no repository
	// is not changed.
	Git bool
	// Since wants files that were modified at this time or later.
	Since time.Time
}

// Any reports whether anything is asked for.
func (c Changed) Any() bool { return c.Git || !c.Since.IsZero() }

// ErrChanged is for a time or a word that says nothing about changes.
var ErrChanged = fault.New(fault.InvalidArgument, "neither git nor a time such as 2h, 3d, 2weeks or 2026-05-01", "")

// ParseChanged reads git (or true), an age as 2h, 3d or 2weeks, or a date. Empty
// and false ask for nothing.
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

// ParseTime reads a time that has passed: 90s, 2h, 3d or 2weeks ago, or a date, with
// or without a time of day.
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
	return now, fmt.Errorf("%q is no time: it is 2h, 3d or 2weeks, or a date such as 2026-05-01", s)
}

func hasWord(words, word string) bool {
	return word != "" && strings.Contains(" "+words+" ", " "+word+" ")
}
