package manual

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"quarry/internal/cli/printing"
)

// The limits of the width of help, which otherwise fits the terminal. Below 40 columns no text fits
// next to a flag's name; above 120, lines are hard to read.
const (
	Narrowest = 40
	Widest    = 120
)

// helpWidth returns the width of help written to out; 80 if out is not a terminal.
func helpWidth(out io.Writer) int {
	if f, ok := out.(*os.File); ok {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
			return min(max(w, Narrowest), Widest)
		}
	}
	return printing.Width
}

// Show sets the help of all commands: the purpose, then the usage. It calls lost with any error in
// writing the help.
func Show(root *cobra.Command, lost func(error)) {
	root.SetUsageFunc(func(c *cobra.Command) error { return writeUsage(c, nil) })
	root.SetHelpFunc(func(c *cobra.Command, _ []string) {
		about := c.Long
		about = cmp.Or(about, c.Short+".")
		out := c.OutOrStdout()
		_, err := fmt.Fprintf(out, "%s\n", reflow(about, helpWidth(out)))
		if err == nil {
			err = c.Usage()
		}
		lost(err)
	})
}

// FlagHelp lists flags in two columns, the name and the text.
func FlagHelp(flags *pflag.FlagSet, width int) string {
	const most = 32 // columns for the name; after a longer name, the text begins on the next line
	type line struct{ name, text string }
	var lines []line
	column := 0
	flags.VisitAll(func(fl *pflag.Flag) {
		if fl.Hidden {
			return
		}
		l := line{flagName(fl), flagText(fl)}
		if n := len(l.name); n <= most {
			column = max(column, n)
		}
		lines = append(lines, l)
	})
	if width < 2*most {
		column = 10 // on a narrow terminal, texts are below the names
	}
	indent := strings.Repeat(" ", column+3)
	var b strings.Builder
	for _, l := range lines {
		text := printing.WrapTo(l.text, indent, width)
		if len(l.name) > column {
			fmt.Fprintf(&b, "%s\n%s", l.name, text)
			continue
		}
		fmt.Fprintf(&b, "%-*s%s", len(indent), l.name, strings.TrimPrefix(text, indent))
	}
	return b.String()
}

// flagName returns a flag's name as in " -A, --after-context n".
func flagName(fl *pflag.Flag) string {
	name := "      --" + fl.Name
	if fl.Shorthand != "" {
		name = "  -" + fl.Shorthand + ", --" + fl.Name
	}
	value, _ := pflag.UnquoteUsage(fl)
	if fl.NoOptDefVal != "" || value == "" {
		return name
	}
	return name + " " + value
}

// flagText returns the description of a flag. It adds the default value if there is one and the
// text doesn't mention it.
func flagText(fl *pflag.Flag) string {
	_, text := pflag.UnquoteUsage(fl)
	switch fl.DefValue {
	case "", "false", "0", "0s", "[]":
		return text
	}
	if strings.Contains(text, "default") {
		return text
	}
	return text + " (default " + fl.DefValue + ")"
}

// reflow wraps the paragraphs of a text to a width. Lists and tables remain unchanged.
func reflow(text string, width int) string {
	var b strings.Builder
	for i, p := range strings.Split(strings.TrimRight(text, "\n"), "\n\n") {
		if i > 0 {
			b.WriteString("\n")
		}
		if strings.Contains("\n"+p, "\n ") {
			b.WriteString(p + "\n")
			continue
		}
		b.WriteString(printing.WrapTo(p, "", width))
	}
	return b.String()
}
