package cli

import (
	"testing"

	"quarry/change"
)

// The log names up to three top-level folders or files of a change of many files.
func TestTopOfAChange(t *testing.T) {
	for _, c := range []struct {
		want string
		ch   change.Change
	}{
		{"", change.Change{Did: change.Action{Verb: change.Outside, Count: 1}, Paths: []string{"a"}}},
		{"", change.Change{Did: change.Action{Verb: change.Moved}, Paths: []string{"a", "b"}}},
		{": a, b", change.Change{Did: change.Action{Verb: change.Outside, Count: 2}, Paths: []string{"a", "b"}}},
		{": c/, a/, b and 2 more", change.Change{Did: change.Action{Verb: change.Outside, Count: 8}, Paths: []string{"a", "a/1", "b", "c/1", "c/2", "c/3", "d", "e"}}},
		{": a/, b", change.Change{Did: change.Action{Verb: change.Undid, Count: 2}, Paths: []string{"b", "a/x"}}},
	} {
		if got := tops(&c.ch); got != c.want {
			t.Errorf("%v: %q, want %q", c.ch.Paths, got, c.want)
		}
	}
}
