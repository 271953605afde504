package manual

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"quarry/internal/cli/command"
	"quarry/internal/cli/env"
	"quarry/internal/config"
)

// manPages makes all manual pages, by file name.
func manPages(root *cobra.Command) map[string]string {
	pages := map[string]string{}
	command.Each(root, func(cmd *cobra.Command) {
		if cmd.Hidden || cmd.Name() == "help" {
			return
		}
		pages[pageName(cmd)+".1"] = commandPage(cmd)
	})
	for _, t := range Topics() {
		m := newRoff("quarry-"+t.Name, 7, strings.ToLower(t.short[:1])+t.short[1:])
		if t.Name == "config" {
			m = newRoff(config.FileName, 5, "configuration of Quarry")
			m.section("DESCRIPTION")
			m.literal(t.Text(root))
			pages[config.FileName+".5"] = m.String()
			continue
		}
		m.section("DESCRIPTION")
		m.literal(t.Text(root))
		pages["quarry-"+t.Name+".7"] = m.String()
	}
	return pages
}

// WritePage writes the manual page of a topic or a command, whose name is its path without
// "quarry". It reports whether the page exists.
func WritePage(root *cobra.Command, name string, w io.Writer) (bool, error) {
	pages := manPages(root)
	for _, section := range []string{".1", ".5", ".7"} {
		for _, file := range []string{"quarry-" + strings.ReplaceAll(name, " ", "-"), name} {
			if page, ok := pages[file+section]; ok {
				_, err := io.WriteString(w, page)
				return true, err
			}
		}
	}
	return false, nil
}

func pageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

func commandPage(cmd *cobra.Command) string {
	m := newRoff(pageName(cmd), 1, strings.ToLower(cmd.Short[:1])+cmd.Short[1:])
	m.section("SYNOPSIS")
	if cmd.Runnable() && !command.IsGroup(cmd) {
		m.line(".B " + roffText(cmd.CommandPath()) + `\fR ` + roffText(strings.TrimPrefix(cmd.UseLine(), cmd.CommandPath())))
	}
	if cmd.HasAvailableSubCommands() {
		m.line(".br")
		m.line(".B " + roffText(cmd.CommandPath()) + `\fR COMMAND`)
	}
	m.section("DESCRIPTION")
	m.paragraphs(cmd.Long)
	if cmd.HasAvailableSubCommands() {
		m.section("COMMANDS")
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() {
				m.item(`\fB`+roffText(pageName(sub))+`\fR(1)`, sub.Short)
			}
		}
	}
	writeRoffFlags(m, cmd)
	if keys := KeysOf(cmd); len(keys) > 0 {
		m.section("CONFIGURATION")
		m.paragraphs("These keys of quarry.toml(5) set flags:")
		for _, k := range keys {
			m.item(`\fB`+roffText(k.Path())+`\fR`, "--"+k.Name+", or the variable "+k.Variable())
		}
	}
	if cmd.Example != "" {
		m.section("EXAMPLES")
		m.literal(cmd.Example + "\n")
	}
	m.section("EXIT STATUS")
	m.paragraphs("0 when something was found or done, 1 when nothing was, 2 for an error.")
	m.section("SEE ALSO")
	also := []string{"quarry(1)", "quarry.toml(5)", "quarry-syntax(7)", "quarry-globs(7)", "quarry-profiles(7)"}
	m.line(roffText(strings.Join(also, ", ")))
	return m.String()
}

func writeRoffFlags(m *roff, cmd *cobra.Command) {
	started := false
	cmd.Flags().VisitAll(func(fl *pflag.Flag) {
		if fl.Hidden || fl.Name == "help" {
			return
		}
		if !started {
			m.section("OPTIONS")
			started = true
		}
		name, usage := pflag.UnquoteUsage(fl)
		head := `\fB--` + roffText(fl.Name) + `\fR`
		if fl.Shorthand != "" {
			head = `\fB-` + roffText(fl.Shorthand) + `\fR, ` + head
		}
		if name != "" {
			head += ` \fI` + roffText(name) + `\fR`
		}
		m.item(head, strings.Join(strings.Fields(usage), " "))
	})
}

// roff builds the roff text of a manual page.
type roff struct{ b strings.Builder }

func newRoff(name string, section int, short string) *roff {
	m := &roff{}
	fmt.Fprintf(&m.b, ".TH %q %d \"\" \"Quarry %s\" \"Quarry manual\"\n", strings.ToUpper(name), section, env.Version())
	m.section("NAME")
	m.line(roffText(name) + ` \- ` + roffText(short))
	return m
}

func (m *roff) String() string { return m.b.String() }

func (m *roff) section(title string) { m.line(".SH " + title) }

// line adds a line of roff.
func (m *roff) line(s string) { m.b.WriteString(s + "\n") }

func (m *roff) item(head, text string) {
	m.line(".TP")
	m.line(head)
	m.line(roffText(text))
}

func (m *roff) paragraphs(text string) {
	for i, p := range strings.Split(strings.TrimSpace(text), "\n\n") {
		if i > 0 {
			m.line(".PP")
		}
		for line := range strings.Lines(p) {
			m.line(roffText(strings.TrimRight(line, "\n")))
		}
	}
}

// literal adds text whose lines and columns are kept.
func (m *roff) literal(text string) {
	m.line(".nf\n.ft CW")
	for line := range strings.Lines(text) {
		m.line(roffText(strings.TrimRight(line, "\n")))
	}
	m.line(".ft\n.fi")
}

// roffText escapes characters that roff would interpret as a request or an escape.
func roffText(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", "\\`", "^", `\(ha`, "~", `\(ti`).Replace(s)
	if strings.HasPrefix(s, ".") {
		return `\&` + s
	}
	return s
}

// NewMan returns the command "quarry man".
func NewMan(s env.Streams) *cobra.Command {
	return command.New("man DIR", "Write the manual pages into a folder",
		`Write a manual page for every command, quarry.toml(5), and a page for each topic
of quarry help. The folder is made if it is missing. The name of a command or topic
instead of a folder prints its page.`,
		`  quarry man ~/.local/share/man/man1
  man quarry-search
  quarry man search | man -l -`,
		command.Args(1, 1), func(cmd *cobra.Command, args []string) error {
			if known, err := WritePage(cmd.Root(), args[0], s.Out); known || err != nil {
				return err
			}
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return env.PathError(args[0], err)
			}
			pages := manPages(cmd.Root())
			for name, text := range pages {
				if err := os.WriteFile(filepath.Join(args[0], name), []byte(text), 0o644); err != nil {
					return err
				}
			}
			_, err := fmt.Fprintf(s.Out, "Wrote %d pages to %s.\n", len(pages), args[0])
			return err
		})
}
