package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"quarry"
	"quarry/fault"
	"quarry/internal/cli/command"
	"quarry/internal/cli/env"
	"quarry/internal/cli/printing"
	"quarry/internal/config"
	"quarry/internal/doctor"
	"quarry/internal/render"
	"quarry/search"
)

type indexFlags struct {
	bar   *printing.Progress
	root  string
	json  bool
	quiet bool
	force bool
}

func (f *indexFlags) place() (root string, opts *quarry.Options, err error) {
	if root, err = env.FindRoot(f.root); err != nil {
		return "", nil, err
	}
	opts = env.Personal(root, 0)
	opts.Index, err = env.IndexPlace(root)
	return root, opts, err
}

// open is like place and also applies the configured limit on index size.
func (f *indexFlags) open(s env.Streams) (root string, opts *quarry.Options, err error) {
	if root, opts, err = f.place(); err == nil {
		err = s.IndexCap(root, opts.Index)
	}
	return root, opts, err
}

// keep opens the workspace as the owner of its index. If with isn't nil, it completes the options.
func (f *indexFlags) keep(s env.Streams, with func(root string, opts *quarry.Options) error) (*quarry.Workspace, error) {
	root, opts, err := f.open(s)
	if err == nil && with != nil {
		err = with(root, opts)
	}
	if err != nil {
		return nil, err
	}
	if err := env.RefuseHuge(root, f.force); err != nil {
		return nil, err
	}
	if err := config.MakeIndexDir(opts.Index); err != nil {
		return nil, err
	}
	if err := env.TryWrite(opts.Index.Dir); err != nil {
		return nil, fmt.Errorf("%w\n  indexes are kept there: set XDG_CACHE_HOME to a folder of yours that can be written to", err)
	}
	opts.Index.Progress = f.progress(s, "indexing")
	ws, err := quarry.Open(root, opts)
	if err != nil {
		f.endProgress()
	}
	return ws, err
}

// progress starts a progress display on the terminal while files are read; endProgress ends it.
func (f *indexFlags) progress(s env.Streams, doing string) func(search.Progress) {
	f.endProgress()
	if f.bar = s.Progress(f.quiet, doing); f.bar == nil {
		return nil
	}
	return func(p search.Progress) { f.bar.Set(p.Files, p.Total, "files", p.Bytes) }
}

func (f *indexFlags) endProgress() { f.bar.End() }

func newIndex(s env.Streams) *cobra.Command {
	var f indexFlags
	cmd := &cobra.Command{
		Use:   "index",
		Short: "Build, check or delete the index of a workspace",
		Long: `An index makes searches a hundred times faster and never changes their answer.
A process that stays, quarry serve or an MCP server, keeps it up to date and
answers the command line; without one, searches read the files.`,
		Args: command.Args(0, 0),
	}
	cmd.PersistentFlags().StringVar(&f.root, "root", "", "workspace `folder` (default: found from here)")
	cmd.PersistentFlags().BoolVar(&f.json, "json", false, "write JSON")
	cmd.PersistentFlags().BoolVarP(&f.quiet, "quiet", "q", false, "show no progress")
	cmd.PersistentFlags().BoolVar(&f.force, "force", false, "index even the home folder or /")
	cmd.AddCommand(
		&cobra.Command{Use: "build", Short: "Build the index, or bring it up to date", Args: command.Args(0, 0),
			RunE: func(c *cobra.Command, _ []string) error { return f.build(c.Context(), s) }},
		&cobra.Command{Use: "status", Short: "Show how the index is doing", Args: command.Args(0, 0),
			RunE: func(c *cobra.Command, _ []string) error { return f.status(c.Context(), s) }},
		&cobra.Command{Use: "verify", Short: "Compare answers by index with answers by scan", Args: command.Args(0, 0),
			RunE: func(c *cobra.Command, _ []string) error { return f.verify(c.Context(), s) }},
		&cobra.Command{Use: "list", Short: "List the indexes of all folders", Args: command.Args(0, 0),
			RunE: func(c *cobra.Command, _ []string) error { return f.list(s) }},
		&cobra.Command{Use: "delete", Short: "Delete the index", Args: command.Args(0, 0),
			RunE: func(c *cobra.Command, _ []string) error { return f.delete(s) }},
	)
	return cmd
}

func (f *indexFlags) build(ctx context.Context, s env.Streams) error {
	started := time.Now()
	ws, err := f.keep(s, nil)
	if err != nil {
		return err
	}
	defer ws.Close()
	err = ws.Index().Wait(ctx)
	f.endProgress()
	if errors.Is(err, quarry.ErrNotOwner) {
		fmt.Fprintln(s.Err, "quarry: another process owns the index")
		return f.status(ctx, s)
	}
	if err != nil {
		return err
	}
	st, err := ws.Index().Status(ctx)
	if err != nil {
		return err
	}
	if f.json {
		return printing.WriteJSON(s.Out, st)
	}
	s.Say("Indexed %s, %s of text, in %.1f s; %s on disk.\n", fault.Count(st.Files, "file"), render.Size(st.TextBytes), time.Since(started).Seconds(), render.Size(st.DiskBytes))
	return nil
}

// status asks the index owner for the status. Without an owner it reports on the stored index.
func (f *indexFlags) status(ctx context.Context, s env.Streams) error {
	root, opts, err := f.open(s)
	if err != nil {
		return err
	}
	opts.Index.Ask = true
	ws, err := quarry.Open(root, opts)
	if err != nil {
		return err
	}
	defer ws.Close()
	st, err := ws.Index().Status(ctx)
	if err != nil {
		return err
	}
	if st.State == "not_found" && st.DiskBytes > 0 {
		st.State = "idle"
	}
	if f.json {
		return printing.WriteJSON(s.Out, st)
	}
	var text strings.Builder
	writeStatus(&text, root, st, time.Now())
	s.Say("%s", text.String())
	if st.State == "not_found" || st.State == "failed" {
		return env.ErrNone
	}
	return nil
}

// writeStatus prints a status in readable form.
func writeStatus(w io.Writer, root string, st *search.IndexStatus, now time.Time) {
	const indent = "          "
	line := func(name, text string) { fmt.Fprintf(w, "%-10s%s\n", name, printing.AppendEscaped(nil, []byte(text))) }
	row := func(name, format string, args ...any) {
		text := printing.Wrap(string(printing.AppendEscaped(nil, fmt.Appendf(nil, format, args...))), indent)
		fmt.Fprintf(w, "%-10s%s", name, strings.TrimPrefix(text, indent))
	}
	line("workspace", root)
	switch st.State {
	case "not_found":
		row("state", "no index; quarry index build makes one, quarry serve keeps it fresh")
	case "idle":
		row("state", "idle: on disk, but no process keeps it up to date")
	case "failed":
		row("state", "failed: %s", st.Error)
	case "indexing":
		row("state", "indexing: %d of %d files, %s; until then searches read the files", st.Building.Files, st.Building.Total, render.Size(st.Building.Bytes))
	default:
		of := ""
		if st.Version != "" {
			of = ", version " + st.Version
		}
		row("state", "%s, kept by process %d%s", st.State, st.PID, of)
	}
	line("place", st.Dir)
	if st.DiskBytes > 0 {
		share := ""
		if st.TextBytes > 0 {
			share = fmt.Sprintf(", %.1f %% of the text", 100*float64(st.DiskBytes)/float64(st.TextBytes))
		}
		row("size", "%s%s", render.Size(st.DiskBytes), share)
	}
	if st.State == "ready" || st.State == "indexing" {
		ignored := ""
		if st.Ignored {
			ignored = ", ignored ones included"
		}
		row("files", "%d with %s of text%s; %d to be read again", st.Files, render.Size(st.TextBytes), ignored, st.Pending)
		unwatched := ""
		if st.Unwatched > 0 {
			unwatched = fmt.Sprintf("; %d parts of the tree are compared before each answer", st.Unwatched)
		}
		row("watches", "%d folders%s", st.Watches, unwatched)
	}
	if !st.Updated.IsZero() {
		row("compared", "with the whole tree %s ago; sweeps so far: %d", now.Sub(st.Updated).Round(time.Second), st.Sweeps)
	}
	if !st.Used.IsZero() {
		row("used", "last opened %s ago", now.Sub(st.Used).Round(time.Second))
	}
	if st.MaxBytes > 0 {
		row("all", "indexes take %s of %s (index.max-size)", render.Size(st.AllBytes), render.Size(st.MaxBytes))
	}
	if next := indexAdvice(st); next != "" {
		row("next", "%s", next)
	}
}

// indexAdvice advises a person on the state of an index, or returns "".
func indexAdvice(st *search.IndexStatus) string {
	switch {
	case st.ProgramReplaced || st.Version != "" && st.Version != env.Version():
		return fmt.Sprintf("process %d runs another version than this program: restart it", st.PID)
	case st.FolderReplaced:
		return "another folder stands at this path since the last answer; the next search follows it and compares all files"
	case st.State == "idle":
		return "quarry serve keeps it up to date; until then a search compares it with all files first"
	case st.State == "failed":
		return "quarry doctor looks for the cause; quarry index delete and quarry index build make it anew"
	case st.Unwatched > 0:
		return "quarry doctor tells why parts of the tree are not watched; raising fs.inotify.max_user_watches usually helps"
	case st.MaxBytes > 0 && st.AllBytes > st.MaxBytes-st.MaxBytes/10:
		return "all indexes together nearly fill index.max-size: those used longest ago are deleted next"
	}
	return ""
}

// verify compares the index with the files, and its results with the results of scans.
func (f *indexFlags) verify(ctx context.Context, s env.Streams) error {
	ws, err := f.keep(s, nil)
	if err != nil {
		return err
	}
	defer ws.Close()
	if err := ws.Index().Wait(ctx); err != nil && !errors.Is(err, quarry.ErrNotOwner) {
		return err
	}
	f.endProgress()
	started := time.Now()
	v, err := ws.Index().Verify(ctx, func(path, what string) {
		f.endProgress()
		fmt.Fprintf(s.Err, "quarry: %s: %s\n", printing.AppendEscaped(nil, []byte(path)), printing.AppendEscaped(nil, []byte(what)))
	}, f.progress(s, "verifying"))
	f.endProgress()
	if err != nil {
		return err
	}
	if f.json {
		if err := printing.WriteJSON(s.Out, v); err != nil {
			return err
		}
	}
	if v.Faults > 0 {
		return fmt.Errorf("%d differences: delete the index with quarry index delete, and please report this", v.Faults)
	}
	if f.json {
		return nil
	}
	if v.Remote {
		s.Say("Another process owns the index: its answers are compared, its files are not read.\n")
	} else {
		s.Say("%d files, %s, read again: the index has all of them.\n", v.Files, render.Size(v.Bytes))
	}
	s.Say("%d paths and %d searches: the index and a full scan agree; %.1f s.\n", v.Listed, v.Searches, time.Since(started).Seconds())
	return nil
}

// list shows the indexes of all folders, most recently used first.
func (f *indexFlags) list(s env.Streams) error {
	_, opts, err := f.open(s)
	if err != nil {
		return err
	}
	all, err := doctor.AllStored(opts.Index.Home)
	if err != nil {
		return err
	}
	slices.Reverse(all)
	if f.json {
		return printing.WriteJSON(s.Out, append([]doctor.Stored{}, all...))
	}
	if len(all) == 0 {
		s.Say("No index.\n")
		return env.ErrNone
	}
	var text strings.Builder
	writeIndexes(&text, all, time.Now())
	s.Say("%s", text.String())
	return nil
}

// writeIndexes prints the list of stored indexes in readable form.
func writeIndexes(w io.Writer, all []doctor.Stored, now time.Time) {
	var total int64
	fmt.Fprintf(w, "%9s  %-10s  %s\n", "size", "last used", "folder")
	for _, x := range all {
		total += x.Bytes
		folder := x.Folder
		folder = cmp.Or(folder, x.Dir)
		about := ""
		switch {
		case x.Gone:
			about = "  (not there)"
		case x.Kept:
			about = "  (a process keeps it up to date)"
		}
		fmt.Fprintf(w, "%9s  %-10s  %s%s\n", render.Size(x.Bytes), since(now.Sub(x.Used)), printing.AppendEscaped(nil, []byte(folder)), about)
	}
	fmt.Fprintf(w, "%9s  in all; quarry index delete FOLDER deletes one\n", render.Size(total))
}

// since formats a duration in whole units.
func since(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h ago", d/time.Hour)
	}
	return fmt.Sprintf("%d d ago", d/(24*time.Hour))
}

func (f *indexFlags) delete(s env.Streams) error {
	_, opts, missing := f.open(s)
	if missing != nil {
		gone, err := env.Abs(config.ExpandHome(f.root, os.Getenv))
		if err != nil || f.root == "" || env.Exists(gone) {
			return missing
		}
		opts = &quarry.Options{}
		if opts.Index, err = env.IndexPlace(gone); err != nil {
			return err
		}
	}
	ok, err := quarry.DeleteIndex(opts.Index)
	if errors.Is(err, quarry.ErrIndexInUse) {
		return errors.New("a process owns this index; end it first (quarry index status tells which)")
	}
	if err != nil {
		return err
	}
	if !ok && missing != nil {
		return missing
	}
	if !ok {
		s.Say("No index.\n")
		return env.ErrNone
	}
	s.Say("Deleted the index.\n")
	return nil
}
