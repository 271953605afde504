package cli

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"quarry/internal/cli/command"
	"quarry/internal/cli/env"
	"quarry/internal/cli/manual"
	"quarry/internal/cli/printing"
	"quarry/internal/symbols"
	"quarry/search"
)

type symbolFlags struct {
	name   string
	kind   string
	fuzzy  bool
	text   bool
	hidden bool
	ignore bool
	json   bool
	limit  int
	root   string

	changed changedFlag
}

func newSymbols(s env.Streams) *cobra.Command {
	var f symbolFlags
	cmd := &cobra.Command{
		Use:   "symbols [PATH...]",
		Short: "List definitions, or find one by name",
		Long: `List the functions, types, methods, constants and headings that files define, or
with --name find where a name is defined, the likeliest first. 22 languages are
known; no language server or index is needed.

Exit code 0 when something was found, 1 when nothing was, 2 for an error.`,
		Example: `  quarry symbols main.go               what a file defines
  quarry symbols internal --kind function
  quarry symbols -n Open               where Open is defined
  quarry symbols -n Store.Open --text  with its text`,
		DisableFlagsInUseLine: true,
		RunE:                  func(cmd *cobra.Command, args []string) error { return runSymbols(cmd, s, &f, args) },
	}
	manual.SetGroups(cmd, f.groups())
	return cmd
}

func (f *symbolFlags) groups() []command.Group {
	what, how := command.NewFlags(), command.NewFlags()
	what.StringVarP(&f.name, "name", "n", "", "only this `name`: Open, Store.Open, Store::open")
	what.StringVarP(&f.kind, "kind", "k", "", "only this `kind`: function (methods too), type (any), class, ...")
	what.BoolVar(&f.fuzzy, "fuzzy", false, "with --name: other case and style too, typos, and\nnames that contain it")
	f.changed.add(what)
	what.BoolVarP(&f.hidden, "hidden", ".", false, "hidden files and folders too")
	what.BoolVar(&f.ignore, "no-ignore", false, "ignored files too")
	what.StringVar(&f.root, "root", "", "workspace `folder` (default: found from here)")
	how.BoolVar(&f.text, "text", false, "with the text of each definition")
	how.IntVar(&f.limit, "limit", 0, "at most `n` definitions")
	how.BoolVar(&f.json, "json", false, "one JSON object a line")
	return []command.Group{{Title: "What to list", Flags: what}, {Title: "How to show it", Flags: how}}
}

func (f *symbolFlags) query() (search.SymbolQuery, error) {
	q := search.SymbolQuery{Name: f.name, Kind: f.kind, Fuzzy: f.fuzzy, Text: f.text, Limit: f.limit}
	q.IncludeHidden, q.IncludeIgnored, q.Changed = f.hidden, f.ignore, f.changed.to
	switch {
	case f.limit < 0:
		return q, errors.New("--limit can't be negative")
	case f.kind != "" && !slices.Contains(symbols.Kinds(), f.kind):
		return q, fmt.Errorf("--kind %q: one of %s", f.kind, strings.Join(symbols.Kinds(), ", "))
	case f.fuzzy && f.name == "":
		return q, errors.New("--fuzzy is for --name")
	}
	q.Limit = cmp.Or(q.Limit, 1<<20)
	return q, nil
}

func runSymbols(cmd *cobra.Command, s env.Streams, f *symbolFlags, args []string) error {
	q, err := f.query()
	if err != nil {
		return err
	}
	found, err := list(s, f.root, args, "give a file; stdin has no name to tell its language by", func(w *bufio.Writer, t *target) (int, []search.Skip, error) {
		q.Paths = []string{t.path}
		res, err := t.ws.Symbols(cmd.Context(), q)
		if err != nil {
			return 0, nil, err
		}
		for i := range res.Symbols {
			if err := f.write(w, s.OutTerminal(), t, &res.Symbols[i]); err != nil {
				return 0, nil, err
			}
		}
		ordinary := func(k search.Skip) bool {
			return k.Reason != search.Unreadable && k.Reason != search.TooLarge && k.Reason != search.Loop
		}
		return len(res.Symbols), slices.DeleteFunc(res.Skipped, ordinary), nil
	})
	switch {
	case errors.Is(err, env.ErrReported) && len(args) == 1 && args[0] != "" && f.name == "" && !env.Exists(args[0]) && !strings.ContainsAny(args[0], `/\`):
		fmt.Fprintf(s.Err, "  to find a definition by its name: quarry symbols --name %s\n", printing.Escape(args[0]))
		return err
	case err != nil:
		return err
	case found == 0 && f.json:
		return env.ErrNone
	case found == 0 && f.name != "" && !f.fuzzy:
		return s.Nothing("no definition found\n  --fuzzy finds similar names too")
	case found == 0:
		return s.Nothing("no definition found")
	}
	return nil
}

// jsonSymbol is one definition in the output of quarry symbols --json.
type jsonSymbol struct {
	Path      printing.JSONText `json:"path"`
	Name      string            `json:"name"`
	Container string            `json:"container,omitempty"`
	Kind      string            `json:"kind"`
	Line      int               `json:"line"`
	Start     int               `json:"start_line"`
	End       int               `json:"end_line"`
	Signature string            `json:"signature"`
	Text      string            `json:"text,omitempty"`
}

func (f *symbolFlags) write(w *bufio.Writer, tty bool, t *target, k *search.Symbol) error {
	path := t.shown(k.Path)
	if f.json {
		enc := json.NewEncoder(printing.JSONWriter(w, tty))
		enc.SetEscapeHTML(false)
		return enc.Encode(jsonSymbol{printing.TextOrBytes([]byte(path)), k.Name, k.Container, k.Kind, k.Line, k.StartLine, k.EndLine, k.Signature, k.Text})
	}
	name := k.Name
	if k.Container != "" {
		name = k.Container + "." + k.Name
	}
	if tty {
		path, name = printing.Escape(path), printing.Escape(name)
	}
	_, err := fmt.Fprintf(w, "%s:%d: %s %s\n", path, k.Line, k.Kind, name)
	if err == nil && f.text {
		_, err = fmt.Fprintf(w, "%s\n\n", k.Text)
	}
	return err
}
