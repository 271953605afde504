package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"quarry/internal/cli/printing"
	"quarry/search"
)

type findFlags struct {
	globs        []string
	hidden       bool
	noIgnore     bool
	noIndex      bool
	unrestricted int
	kind         string
	sort         string
	nul          bool
	json         bool
	maxDepth     int
	limit        int
	root         string
	backendFlags
}

func newFind(s Streams) *cobra.Command {
	var f findFlags
	cmd := &cobra.Command{
		Use:   "find [GLOB] [PATH...]",
		Short: "List files by name",
		Long: `List the files below a folder, without hidden and ignored ones, or those a glob
matches. A glob without a slash matches names at any depth; one with a slash
matches paths from the folder searched. {a,b} and [a-z] work, a leading !
excludes.

Exit code 0 when something was found, 1 when nothing was, 2 for an error.`,
		Example: `  quarry find                       every file
  quarry find '*.go'                Go files
  quarry find 'src/**/*_test.*' -t file --sort mtime
  quarry find -g '*.md' -g '!README.md' docs`,
		DisableFlagsInUseLine: true,
		RunE:                  func(cmd *cobra.Command, args []string) error { return runFind(cmd, s, &f, args) },
	}
	setGroups(cmd, f.groups())
	return cmd
}

func (f *findFlags) groups() []flagGroup {
	what, how := newFlagSet(), newFlagSet()
	what.StringArrayVarP(&f.globs, "glob", "g", nil, "only what this `glob` matches; ! excludes;\nmay be given several times")
	what.StringVarP(&f.kind, "type", "t", "file", "`kind`: file (the default), dir or any")
	what.BoolVarP(&f.hidden, "hidden", ".", false, "hidden files and folders too")
	what.BoolVar(&f.noIgnore, "no-ignore", false, "ignored files too")
	what.CountVarP(&f.unrestricted, "unrestricted", "u", "-u is --no-ignore, -uu also --hidden")
	what.BoolVar(&f.noIndex, "no-index", false, "list the folders, even if an index could tell")
	what.IntVarP(&f.maxDepth, "max-depth", "d", 0, "at most `n` folders deep; 1 is the folder alone")
	what.StringVar(&f.root, "root", "", "workspace `folder` (default: found from here)")
	f.backendFlags.add(what)
	how.StringVar(&f.sort, "sort", "path", "`order`: path (the default), mtime (newest first) or\nsize (largest first)")
	how.IntVar(&f.limit, "limit", 0, "at most `n` paths")
	how.BoolVarP(&f.nul, "null", "0", false, "a NUL after each path instead of a line feed")
	how.BoolVar(&f.json, "json", false, "one JSON object a line")
	return []flagGroup{{"What to list", what}, {"How to show it", how}}
}

func (f *findFlags) query(globs []string) (search.FindQuery, error) {
	q := search.FindQuery{Limit: f.limit}
	q.Globs = append(globs, f.globs...)
	q.IncludeHidden, q.IncludeIgnored = f.hidden || f.unrestricted >= 2, f.noIgnore || f.unrestricted >= 1
	q.MaxDepth, q.NoIndex = f.maxDepth, f.noIndex
	if f.maxDepth < 0 || f.limit < 0 {
		return q, errors.New("--max-depth and --limit can't be negative")
	}
	q.Stat = f.json
	switch f.kind {
	case "file", "f":
	case "dir", "d":
		q.Kind = search.OnlyFolders
	case "any":
		q.Kind = search.FilesAndFolders
	default:
		return q, fmt.Errorf("--type %q: file, dir or any", f.kind)
	}
	switch f.sort {
	case "path":
	case "mtime":
		q.Order = search.ByModTime
	case "size":
		q.Order = search.BySize
	default:
		return q, fmt.Errorf("--sort %q: path, mtime or size", f.sort)
	}
	return q, nil
}

// splitFindArgs tells a glob from a path: a lone argument without glob
// characters that names something, ends in a slash or stands beside -g is a
// path.
func splitFindArgs(args []string, haveGlob bool) (globs, paths []string) {
	if len(args) == 0 {
		return nil, nil
	}
	if first := args[0]; len(args) == 1 && !strings.ContainsAny(first, `*?[{!`) &&
		(haveGlob || exists(first) || strings.HasSuffix(first, "/")) {
		return nil, args
	}
	return args[:1], args[1:]
}

func runFind(cmd *cobra.Command, s Streams, f *findFlags, args []string) error {
	globs, paths := splitFindArgs(args, len(f.globs) > 0)
	q, err := f.query(globs)
	if err != nil {
		return err
	}
	found, err := f.list(cmd.Context(), s, f.root, paths, "there are no files to list in stdin", func(w *bufio.Writer, t *target) (int, []search.Skip, error) {
		q.Paths = []string{t.path}
		res, err := t.ws.Find(cmd.Context(), q)
		if err != nil {
			return 0, nil, err
		}
		return len(res.Entries), res.Skipped, f.write(w, s.outTerminal(), t, res)
	})
	switch {
	case err != nil:
		return err
	case found == 0 && f.json:
		return errNone
	case found == 0:
		return s.nothing(f.noFiles())
	}
	return nil
}

// noFiles says what would list more.
func (f *findFlags) noFiles() string {
	if f.unrestricted >= 2 || f.hidden && (f.noIgnore || f.unrestricted == 1) {
		return "no file found"
	}
	return "no file found\n  -u lists ignored files too, -uu also hidden ones"
}

// jsonEntry is a path of quarry find --json.
type jsonEntry struct {
	Path     printing.JSONText `json:"path"`
	Type     string            `json:"type"`
	Size     int64             `json:"size"`
	Modified string            `json:"modified,omitempty"`
}

func (f *findFlags) write(w *bufio.Writer, tty bool, t *target, res *search.FindResult) error {
	enc := json.NewEncoder(printing.JSONWriter(w, tty))
	enc.SetEscapeHTML(false)
	escape := tty && !f.nul
	end := byte('\n')
	if f.nul {
		end = 0
	}
	var row []byte
	for i := range res.Entries {
		e := &res.Entries[i]
		path := t.shown(e.Path)
		if f.json {
			kind := "file"
			if e.Folder {
				kind = "dir"
			}
			entry := jsonEntry{printing.TextOrBytes([]byte(path)), kind, e.Size, e.ModTime.UTC().Format(time.RFC3339Nano)}
			if err := enc.Encode(entry); err != nil {
				return err
			}
			continue
		}
		row = row[:0]
		if escape {
			row = printing.AppendEscaped(row, []byte(path))
		} else {
			row = append(row, path...)
		}
		if e.Folder {
			row = append(row, '/')
		}
		if _, err := w.Write(append(row, end)); err != nil {
			return err
		}
	}
	return nil
}
