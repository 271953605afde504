package cli

import (
	"time"

	"github.com/spf13/pflag"

	"quarry/search"
)

// changedFlag is the flag --changed. Its value is a time; without one, the flag means changed
// according to git.
type changedFlag struct {
	text string
	to   search.Changed
}

func (c *changedFlag) String() string { return c.text }
func (c *changedFlag) Type() string   { return "when" }

func (c *changedFlag) Set(s string) (err error) {
	c.text = s
	c.to, err = search.ParseChanged(s, time.Now())
	return err
}

func (c *changedFlag) add(fl *pflag.FlagSet) {
	fl.VarPF(c, "changed", "", "only files that differ from git's last commit, or\nwith =`time` those changed since: 2h, 3d, 2026-05-01").NoOptDefVal = "git"
}
