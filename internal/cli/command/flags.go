package command

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"quarry/internal/config"
)

// choice is one of several mutually exclusive flags; the last one given wins.
type choice struct {
	to   *string
	name string
}

func (c choice) String() string { return fmt.Sprint(c.to != nil && *c.to == c.name && c.name != "") }

func (c choice) Type() string { return "bool" }

func (c choice) IsBoolFlag() bool { return true }

func (c choice) Set(s string) error {
	switch {
	case s == "true":
		*c.to = c.name
	case s != "false":
		return fmt.Errorf("%q is neither true nor false", s)
	case *c.to == c.name:
		*c.to = ""
	}
	return nil
}

func AddChoice(fl *pflag.FlagSet, to *string, name, short, usage string) {
	fl.VarPF(choice{to, name}, name, short, usage).NoOptDefVal = "true"
}

// Group is a group of a command's flags, with the title shown in the help.
type Group struct {
	Title string
	Flags *pflag.FlagSet
}

func NewFlags() *pflag.FlagSet {
	fl := pflag.NewFlagSet("", pflag.ContinueOnError)
	fl.SortFlags = false
	return fl
}

// texts is the value of a flag that may be given several times. pflag's own type creates a CSV
// writer to print an empty default, which takes 0.1 ms for all flags of a search.
type texts struct {
	list  *[]string
	given bool
}

func AddTexts(fl *pflag.FlagSet, list *[]string, name, short, usage string) {
	fl.VarP(&texts{list: list}, name, short, usage)
}

func (t *texts) Type() string { return "stringArray" }

func (t *texts) String() string { return "[" + strings.Join(*t.list, ",") + "]" }

func (t *texts) GetSlice() []string { return slices.Clone(*t.list) }

func (t *texts) Append(s string) error { *t.list = append(*t.list, s); return nil }

func (t *texts) Replace(s []string) error { *t.list = slices.Clone(s); return nil }

// Set adds a value; the first one replaces the default.
func (t *texts) Set(s string) error {
	if !t.given {
		*t.list, t.given = nil, true
	}
	return t.Append(s)
}

// days is a duration that may be given in days.
type days time.Duration

func (d *days) String() string { return config.ShortDuration(time.Duration(*d).String()) }

func (d *days) Type() string { return "time" }

func (d *days) Set(s string) error {
	v, err := config.ParseDuration(s)
	*d = days(v)
	return err
}

func AddDuration(fl *pflag.FlagSet, to *time.Duration, name string, value time.Duration, usage string) {
	*to = value
	fl.Var((*days)(to), name, usage)
}
