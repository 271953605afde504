package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"quarry"
)

type findFlags struct {
	globs    []string
	hidden   bool
	noIgnore bool
	kind     string
	sort     string
	nul      bool
	json     bool
	maxDepth int
	limit    int
	root     string
}

func newFind(s Streams) *cobra.Command {
	var f findFlags
	cmd := &cobra.Command{
		Use:   "find [GLOB] [PATH]",
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
		Args: cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error { return runFind(cmd, s, &f, args) },
	}
	fl := cmd.Flags()
	fl.SortFlags = false
	fl.StringArrayVarP(&f.globs, "glob", "g", nil, "list only what this glob matches; ! excludes; may be given several times")
	fl.BoolVar(&f.hidden, "hidden", false, "list hidden files and folders too")
	fl.BoolVar(&f.noIgnore, "no-ignore", false, "list what ignore files leave out too")
	fl.StringVarP(&f.kind, "type", "t", "file", "file, dir or any")
	fl.StringVar(&f.sort, "sort", "path", "path, mtime (newest first) or size (largest first)")
	fl.IntVarP(&f.maxDepth, "max-depth", "d", 0, "go at most this many folders deep")
	fl.IntVar(&f.limit, "limit", 0, "list at most this many")
	fl.BoolVarP(&f.nul, "null", "0", false, "end each path with a NUL")
	fl.BoolVar(&f.json, "json", false, "write one JSON object a line")
	fl.StringVar(&f.root, "root", "", "workspace folder (default: found from here)")
	return cmd
}

func (f *findFlags) query(globs []string) (quarry.FindQuery, error) {
	q := quarry.FindQuery{Limit: f.limit}
	q.Globs = append(globs, f.globs...)
	q.Hidden, q.Ignored, q.MaxDepth = f.hidden, f.noIgnore, f.maxDepth
	q.Stat = f.json
	switch f.kind {
	case "file", "f":
	case "dir", "d":
		q.Kind = quarry.OnlyFolders
	case "any":
		q.Kind = quarry.FilesAndFolders
	default:
		return q, fmt.Errorf("unknown type %q: file, dir or any", f.kind)
	}
	switch f.sort {
	case "path":
	case "mtime", "modified":
		q.Order = quarry.ByModTime
	case "size":
		q.Order = quarry.BySize
	default:
		return q, fmt.Errorf("unknown order %q: path, mtime or size", f.sort)
	}
	return q, nil
}

// splitFindArgs tells a glob from a path: a lone argument without glob
// characters that names something is a path.
func splitFindArgs(args []string) (globs, paths []string) {
	switch len(args) {
	case 1:
		if !strings.ContainsAny(args[0], `*?[{!`) && exists(args[0]) {
			return nil, args
		}
		return args, nil
	case 2:
		return args[:1], args[1:]
	}
	return nil, nil
}

func runFind(cmd *cobra.Command, s Streams, f *findFlags, args []string) error {
	globs, paths := splitFindArgs(args)
	q, err := f.query(globs)
	if err != nil {
		return err
	}
	ws := &workspaces{open: map[string]*quarry.Workspace{}}
	defer ws.close()
	var failed error
	targets, err := ws.find(f.root, paths, func(err error) { failed = err })
	if err != nil || failed != nil {
		return errors.Join(err, failed)
	}
	t := targets[0]
	q.Paths = []string{t.path}
	res, err := t.ws.Find(cmd.Context(), q)
	if err != nil {
		return err
	}
	if err := f.write(s, &t, res); err != nil {
		return err
	}
	failed = nil
	for _, k := range res.Skipped {
		failed = errReported
		fmt.Fprintf(s.Err, "quarry: %v\n", skipError(&t, k))
	}
	if failed != nil {
		return failed
	}
	if len(res.Entries) == 0 {
		return errNone
	}
	return nil
}

// jsonEntry is a path of quarry find --json.
type jsonEntry struct {
	Path     jsonText `json:"path"`
	Type     string   `json:"type"`
	Size     int64    `json:"size"`
	Modified string   `json:"modified,omitempty"`
}

func (f *findFlags) write(s Streams, t *target, res *quarry.FindResult) error {
	w := bufio.NewWriterSize(s.Out, 64<<10)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	escape := s.outTerminal() && !f.nul
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
			entry := jsonEntry{textOrBytes([]byte(path)), kind, e.Size, e.ModTime.UTC().Format(time.RFC3339Nano)}
			if err := enc.Encode(entry); err != nil {
				return err
			}
			continue
		}
		row = row[:0]
		if escape {
			row = appendEscaped(row, []byte(path))
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
	return w.Flush()
}
