package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"quarry"
	"quarry/internal/config"
)

// refuseHuge keeps the top of the file system and the home folder from being
// indexed by accident.
func refuseHuge(root string, force bool) error {
	if force {
		return nil
	}
	home, _ := os.UserHomeDir()
	if filepath.Dir(root) == root || root == home {
		return fmt.Errorf("%s is very large to index: name a folder in it with --root, or add --force", root)
	}
	return nil
}

type indexFlags struct {
	root  string
	json  bool
	quiet bool
	force bool
}

func (f *indexFlags) place() (root string, opts *quarry.Options, err error) {
	here, err := os.Getwd()
	if err != nil {
		return "", nil, err
	}
	if root = f.root; root == "" {
		root = config.FindRoot(here)
	}
	if root, err = realPath(root); err != nil {
		return "", nil, err
	}
	opts = personal(root, 0)
	opts.Index, err = indexPlace(root, opts)
	return root, opts, err
}

// keep opens the workspace as the keeper of its index.
func (f *indexFlags) keep(s Streams) (*quarry.Workspace, error) {
	root, opts, err := f.place()
	if err != nil {
		return nil, err
	}
	if err := refuseHuge(root, f.force); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(opts.Index.Dir, 0o700); err != nil {
		return nil, err
	}
	opts.Index.Progress = f.progress(s)
	// Building makes garbage fast: at 25 % the Linux tree peaks at 230 MB, mapped
	// files included, at 50 % at 280 MB. Most of the heap has no pointers, so
	// collecting costs little.
	debug.SetGCPercent(25)
	return quarry.Open(root, opts)
}

// progress shows how a build goes, on a terminal.
func (f *indexFlags) progress(s Streams) func(files int, bytes int64) {
	if f.quiet || !s.errTerminal() {
		return nil
	}
	started := time.Now()
	var files, size, last atomic.Int64
	return func(n int, b int64) {
		done, bytes := files.Add(int64(n)), size.Add(b)
		now := time.Now().UnixMilli()
		if prev := last.Load(); now-prev < 100 || !last.CompareAndSwap(prev, now) {
			return
		}
		seconds := max(time.Since(started).Seconds(), 0.001)
		fmt.Fprintf(s.Err, "\r\x1b[Kindexing: %d files, %s, %s/s", done, sizeText(bytes), sizeText(int64(float64(bytes)/seconds)))
	}
}

func sizeText(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d bytes", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KB", float64(n)/(1<<10))
	case n < 1<<30:
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f GB", float64(n)/(1<<30))
}

func newIndex(s Streams) *cobra.Command {
	var f indexFlags
	cmd := &cobra.Command{
		Use:   "index",
		Short: "Build, check or delete the index of a workspace",
		Long: `An index makes searches a hundred times faster and never changes their answer.
A process that stays, quarry serve or an MCP server, keeps it up to date and
answers the command line; without one, searches read the files.`,
		Args: cobra.NoArgs,
	}
	cmd.PersistentFlags().StringVar(&f.root, "root", "", "workspace folder (default: found from here)")
	cmd.PersistentFlags().BoolVar(&f.json, "json", false, "write JSON")
	cmd.PersistentFlags().BoolVarP(&f.quiet, "quiet", "q", false, "show no progress")
	cmd.PersistentFlags().BoolVar(&f.force, "force", false, "index even the home folder or /")
	cmd.AddCommand(
		&cobra.Command{Use: "build", Short: "Build the index, or bring it up to date", Args: cobra.NoArgs,
			RunE: func(c *cobra.Command, _ []string) error { return f.build(c.Context(), s) }},
		&cobra.Command{Use: "status", Short: "Show how the index is doing", Args: cobra.NoArgs,
			RunE: func(c *cobra.Command, _ []string) error { return f.status(c.Context(), s) }},
		&cobra.Command{Use: "verify", Short: "Compare answers by index with answers by scan", Args: cobra.NoArgs,
			RunE: func(c *cobra.Command, _ []string) error { return f.verify(c.Context(), s) }},
		&cobra.Command{Use: "delete", Short: "Delete the index", Args: cobra.NoArgs,
			RunE: func(c *cobra.Command, _ []string) error { return f.delete(s) }},
	)
	return cmd
}

func (f *indexFlags) build(ctx context.Context, s Streams) error {
	started := time.Now()
	ws, err := f.keep(s)
	if err != nil {
		return err
	}
	defer ws.Close()
	err = ws.WaitIndex(ctx)
	if s.errTerminal() && !f.quiet {
		fmt.Fprint(s.Err, "\r\x1b[K")
	}
	if errors.Is(err, quarry.ErrNotKeeper) {
		fmt.Fprintln(s.Err, "quarry: another process keeps the index up to date")
		return f.status(ctx, s)
	}
	if err != nil {
		return err
	}
	st, err := ws.IndexStatus(ctx)
	if err != nil {
		return err
	}
	if f.json {
		return writeJSON(s.Out, st)
	}
	fmt.Fprintf(s.Out, "Indexed %d files, %s of text, in %.1f s; %s on disk.\n", st.Files, sizeText(st.TextBytes), time.Since(started).Seconds(), sizeText(st.DiskBytes))
	return nil
}

func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// status asks the process that keeps the index, else looks at what is on disk.
func (f *indexFlags) status(ctx context.Context, s Streams) error {
	root, opts, err := f.place()
	if err != nil {
		return err
	}
	dir := opts.Index.Dir
	opts.Index.Ask = true
	ws, err := quarry.Open(root, opts)
	if err != nil {
		return err
	}
	defer ws.Close()
	st, err := ws.IndexStatus(ctx)
	if err != nil {
		return err
	}
	if st.State == "not_found" {
		if size := folderSize(dir); size > 0 {
			st.State, st.DiskBytes = "idle", size
		}
	}
	if f.json {
		return writeJSON(s.Out, st)
	}
	switch st.State {
	case "not_found":
		fmt.Fprintln(s.Out, "No index. Build one with quarry index build.")
		return errNone
	case "idle":
		fmt.Fprintf(s.Out, "An index of %s is on disk; no process keeps it up to date. Start one with quarry serve.\n", sizeText(st.DiskBytes))
		return nil
	case "failed":
		return fmt.Errorf("the index failed: %s", st.Error)
	}
	fmt.Fprintf(s.Out, "%s: %d files, %s of text, %s on disk; %d to be read again\n", st.State, st.Files, sizeText(st.TextBytes), sizeText(st.DiskBytes), st.Pending)
	fmt.Fprintf(s.Out, "%d folders watched", st.Watches)
	if st.Unwatched > 0 {
		fmt.Fprintf(s.Out, ", %d parts of the tree compared before each answer", st.Unwatched)
	}
	fmt.Fprintln(s.Out)
	return nil
}

func folderSize(dir string) int64 {
	list, err := os.ReadDir(dir)
	if err != nil {
		return 0
	}
	var size int64
	for _, e := range list {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			size += info.Size()
		}
	}
	return size
}

// verify compares what the index says with the files: the list of paths, and
// searches for words taken from them.
func (f *indexFlags) verify(ctx context.Context, s Streams) error {
	ws, err := f.keep(s)
	if err != nil {
		return err
	}
	defer ws.Close()
	if err := ws.WaitIndex(ctx); err != nil && !errors.Is(err, quarry.ErrNotKeeper) {
		return err
	}
	if s.errTerminal() && !f.quiet {
		fmt.Fprint(s.Err, "\r\x1b[K")
	}
	indexed, err := ws.Find(ctx, quarry.FindQuery{})
	if err != nil {
		return err
	}
	scanned, err := ws.Find(ctx, quarry.FindQuery{Scope: quarry.Scope{NoIndex: true}})
	if err != nil {
		return err
	}
	differences := diffPaths(s.Err, indexed.Entries, scanned.Entries)
	words, err := sampleWords(ctx, ws, scanned.Entries)
	if err != nil {
		return err
	}
	for _, word := range words {
		n, err := compareSearch(ctx, s.Err, ws, word)
		if err != nil {
			return err
		}
		differences += n
	}
	if differences > 0 {
		return fmt.Errorf("%d differences: delete the index with quarry index delete, and please report this", differences)
	}
	fmt.Fprintf(s.Out, "%d files and %d searches: the index and a full scan agree.\n", len(scanned.Entries), len(words))
	return nil
}

func diffPaths(w io.Writer, a, b []quarry.Entry) int {
	have := map[string]bool{}
	for _, e := range a {
		have[e.Path] = true
	}
	n := 0
	for _, e := range b {
		if !have[e.Path] {
			n++
			fmt.Fprintf(w, "quarry: %s is missing in the index\n", appendEscaped(nil, []byte(e.Path)))
		}
		delete(have, e.Path)
	}
	for path := range have {
		n++
		fmt.Fprintf(w, "quarry: %s is in the index but not there\n", appendEscaped(nil, []byte(path)))
	}
	return n
}

// sampleWords takes words from files spread over the tree.
func sampleWords(ctx context.Context, ws *quarry.Workspace, files []quarry.Entry) ([]string, error) {
	const most = 40
	var words []string
	step := max(1, len(files)/most)
	for i := 0; i < len(files) && len(words) < most; i += step {
		t, err := ws.Read(ctx, files[i].Path, &quarry.ReadOptions{MaxLines: 200})
		if err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			continue
		}
		longest := ""
		for _, line := range t.Lines {
			for _, w := range strings.FieldsFunc(line, func(r rune) bool {
				return r < 0x80 && r != '_' && (r < '0' || r > 'z' || r > '9' && r < 'A' || r > 'Z' && r < 'a')
			}) {
				if len(w) > len(longest) && len(w) < 40 {
					longest = w
				}
			}
		}
		if longest != "" && !slices.Contains(words, longest) {
			words = append(words, longest)
		}
	}
	return words, nil
}

func compareSearch(ctx context.Context, w io.Writer, ws *quarry.Workspace, word string) (int, error) {
	var lists [2]map[string]int
	for i := range lists {
		lists[i] = map[string]int{}
		q := quarry.Query{Pattern: word, Detail: quarry.Counts, Scope: quarry.Scope{NoIndex: i == 1}}
		q.Match.Syntax = literalSyntax
		if _, err := ws.SearchEach(ctx, q, func(f *quarry.File) error { lists[i][f.Path] = f.Matched; return nil }); err != nil {
			return 0, err
		}
	}
	n := 0
	for path, count := range lists[1] {
		if lists[0][path] != count {
			n++
			fmt.Fprintf(w, "quarry: %q in %s: %d lines by index, %d by scan\n", word, appendEscaped(nil, []byte(path)), lists[0][path], count)
		}
		delete(lists[0], path)
	}
	return n + len(lists[0]), nil
}

func (f *indexFlags) delete(s Streams) error {
	_, opts, err := f.place()
	if err != nil {
		return err
	}
	if _, err := os.Stat(opts.Index.Dir); err != nil {
		fmt.Fprintln(s.Out, "No index.")
		return errNone
	}
	if err := os.RemoveAll(opts.Index.Dir); err != nil {
		return err
	}
	fmt.Fprintln(s.Out, "Deleted the index. A process that keeps it goes on with what it has until it ends.")
	return nil
}
