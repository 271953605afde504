package replacer

import (
	"errors"
	"testing"

	"quarry/match"
)

// A replacement must not have a group that the pattern lacks: it would be empty, and text
// would be lost.
func TestUnknownGroups(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		literal       bool
		group, fix    string // "" if accepted
	}{
		{`def (\w+)`, "def $1_x", false, "$1_x", "${1}_x"},
		{`def (\w+)`, "def ${1}_x", false, "", ""},
		{`def (\w+)`, "def $2", false, "$2", ""},
		{`def (\w+)`, "def ${2}", false, "${2}", ""},
		{`def (\w+)`, "def $10", false, "$10", "${1}0"},
		{`def (?P<name>\w+)`, "def $name", false, "", ""},
		{`def (?P<name>\w+)`, "def $names", false, "$names", "${name}s"},
		{`def \w+`, "costs $5", false, "$5", ""},
		{`def \w+`, "costs $$5", false, "", ""},
		{`def \w+`, "costs $ 5 $", false, "", ""},
		{`def (\w+)`, "$0 again", false, "", ""},
		{`def (\w+)`, `def \1`, false, `\1`, "${1}"},
		{`def (\w+)`, `def \1`, true, "", ""},
		{`def \w+`, `def \1`, false, "", ""}, // the pattern has no groups that \1 could mean
		{`def (\w+)`, `def \9`, false, "", ""},
		{`def (\w+)`, "def $1_x", true, "", ""},
	} {
		p, err := match.CompileAny([]string{c.pattern}, match.Options{})
		if err != nil {
			t.Fatal(err)
		}
		err = NewTemplate(c.text, c.literal, p.NewMatcher()).check()
		var unknown *GroupError
		switch {
		case c.group == "" && err != nil:
			t.Errorf("%s by %s: %v", c.pattern, c.text, err)
		case c.group != "" && (!errors.As(err, &unknown) || unknown.Group != c.group || unknown.Fix != c.fix):
			t.Errorf("%s by %s: %+v, want group %s and fix %s", c.pattern, c.text, err, c.group, c.fix)
		}
	}
}
