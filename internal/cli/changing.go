package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"quarry"
	"quarry/change"
	"quarry/fault"
	"quarry/internal/cli/env"
	"quarry/internal/cli/printing"
	"quarry/internal/config"
	"quarry/internal/render"
	"quarry/internal/review"
	"quarry/internal/rootfs/names"
	"quarry/match"
)

// changer holds the flags and the open workspace of a command that changes files.
type changer struct {
	s       env.Streams
	root    string
	json    bool
	dryRun  bool
	diff    bool
	version string
	trash   string
	quiet   bool
	force   bool
	entries bool // move or delete a symlink itself, not its target
	// recorded makes the undo log include other programs' changes up to now.
	recorded bool
	skip     bool   // undo skips files that were modified since the change
	again    string // the command that shows the diffs omitted from the output

	ws  *quarry.Workspace
	dir string // base of the paths in errors; "" if there is none
}

// flags adds the flags common to all changing commands.
func (c *changer) flags(fl *pflag.FlagSet, versioned bool) {
	fl.SortFlags = false
	fl.BoolVarP(&c.dryRun, "dry-run", "n", false, "show what would change, and change nothing")
	fl.BoolVar(&c.diff, "diff", false, "show the change as a diff")
	if versioned {
		fl.StringVar(&c.version, "expected-version", "", "refuse unless the file is this `version`, as quarry read shows it")
	}
	fl.BoolVar(&c.force, "force", false, "change even what belongs to Git, below .git")
	c.commonFlags(fl)
}

// mayTouch refuses to change Git's own files without --force: Git would run a hook added by a patch
// at the next commit. For a symlink it checks the target, unless link is set because the symlink
// itself changes.
func (c *changer) mayTouch(given, root, real string, link bool) error {
	if !link {
		real = followed(real)
	}
	rel, inside := env.Below(root, real)
	if c.force || !inside {
		return nil // paths outside the workspace are refused elsewhere
	}
	for part := range strings.SplitSeq(filepath.ToSlash(rel), "/") {
		if strings.EqualFold(part, ".git") {
			return fmt.Errorf("%s belongs to Git; --force changes it all the same", render.Quote(given))
		}
	}
	return nil
}

// followed returns the target of a symlink, which need not exist.
func followed(real string) string {
	for range 40 {
		to, err := os.Readlink(real)
		if err != nil {
			return real
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(real), to)
		}
		if to, err = realEntry(to); err != nil {
			return real
		}
		real = to
	}
	return real
}

func (c *changer) commonFlags(fl *pflag.FlagSet) {
	fl.SortFlags = false
	fl.BoolVar(&c.json, "json", false, "write the result as JSON")
	fl.StringVar(&c.root, "root", "", "workspace `folder` (default: found from here)")
}

func (c *changer) options() change.Options {
	return change.Options{ExpectedVersion: c.version, DryRun: c.dryRun}
}

// patientFlags adds the flags of commands whose changes may take a while.
func (c *changer) patientFlags(fl *pflag.FlagSet) {
	fl.BoolVarP(&c.quiet, "quiet", "q", false, "show no progress")
}

// openFor opens the workspace that contains the path given and returns the path relative to it. The
// path need not exist; a symlink as its last element is not followed.
func (c *changer) openFor(given string) (string, error) {
	real, err := realEntry(given)
	if err != nil {
		return "", env.PathError(given, err)
	}
	root, err := env.FindRoot(c.root)
	if err != nil {
		return "", err
	}
	rel, inside := env.Below(root, real)
	if !inside {
		return "", outsideError(given, root, config.FindRoot(config.ExistingDir(filepath.Dir(real))))
	}
	if err := c.mayTouch(given, root, real, c.entries); err != nil {
		return "", err
	}
	return filepath.ToSlash(rel), c.openAt(root)
}

// open opens the workspace of --root, or else that of the current folder.
func (c *changer) open() error {
	root, err := env.FindRoot(c.root)
	if err != nil {
		return err
	}
	return c.openAt(root)
}

func (c *changer) openAt(root string) error {
	state, err := c.s.StateDir(root)
	if err != nil {
		return err
	}
	opts := &quarry.Options{
		Trusted: true, AllowAny: true,
		StateDir: state, TrashDir: config.TrashHome(c.s.Env()), Trash: change.TrashKind(c.trash),
	}
	if err := c.s.Journal(root, opts); err != nil {
		return err
	}
	if c.recorded { // have the recorder add the most recent changes
		env.Asking(root, opts)
	}
	c.ws, err = quarry.Open(root, opts)
	c.dir = root
	return err
}

// also checks that a further path is in the open workspace and returns it relative to the
// workspace.
func (c *changer) also(given string) (string, error) {
	real, err := realEntry(given)
	if err != nil {
		return "", env.PathError(given, err)
	}
	rel, inside := env.Below(c.ws.Dir(), real)
	if !inside {
		return "", fmt.Errorf("%s is not in the workspace %s", render.Quote(given), printing.Escape(c.ws.Dir()))
	}
	if err := c.mayTouch(given, c.ws.Dir(), real, c.entries); err != nil {
		return "", err
	}
	return filepath.ToSlash(rel), nil
}

// openAll opens the workspace of the first path. The other paths must be in it too.
func (c *changer) openAll(given []string) (paths []string, err error) {
	find := c.openFor
	for _, g := range given {
		path, err := find(g)
		if err != nil {
			return nil, err
		}
		paths, find = append(paths, path), c.also
	}
	return paths, nil
}

// realEntry returns the absolute path of an entry that may not exist yet. Symlinks
// above it are resolved; the entry itself is not followed.
func realEntry(given string) (string, error) {
	if err := names.CheckTyped(given); err != nil {
		return "", err
	}
	abs, err := env.Abs(filepath.FromSlash(given))
	if err != nil {
		return "", err
	}
	dir, base := filepath.Split(abs)
	dir = filepath.Clean(dir)
	exists := config.ExistingDir(dir)
	real, err := filepath.EvalSymlinks(exists)
	if err != nil {
		return "", err
	}
	rest, err := filepath.Rel(exists, dir)
	if err != nil {
		return "", err
	}
	return filepath.Join(real, rest, base), nil
}

// run finishes a command: it closes the workspace and turns err into a message for a person.
func (c *changer) run(action render.Action, path string, err error) error {
	if c.ws != nil {
		err = errors.Join(err, c.ws.Close())
	}
	var pattern *match.Error
	if err == nil || errors.Is(err, env.ErrNone) || errors.Is(err, change.ErrRolledBack) && !c.json || errors.As(err, &pattern) && !c.json {
		return err
	}
	text, hint := c.words(action, path, err)
	if c.json && !isUnreported(err) {
		problem := map[string]string{"code": string(fault.CodeOf(err)), "message": text}
		if hint != "" {
			problem["hint"] = hint
		}
		if err := c.s.Encode(map[string]any{"error": problem}); err != nil {
			return err
		}
		return env.ErrReported
	}
	if hint = strings.TrimRight(hint, "\n"); strings.Contains(hint, "\n") {
		text += "\n" + hint // a hint may have several lines, some quoted from the file
	} else if hint != "" {
		text += "\n  " + hint
	}
	return errors.New(text)
}

// words returns an error's text and its hint.
func (c *changer) words(action render.Action, path string, err error) (text, hint string) {
	text, hint = render.Error(action, path, err), fault.HintOf(err)
	var stream *fs.PathError
	if errors.As(err, &stream) && stream.Path == os.Stdout.Name() && !isUnreported(err) {
		return err.Error(), "" // the full disk is standard output's, not the workspace's
	}
	var at *fault.PathError
	if errors.As(err, &at) && at.Kind == fault.Permission && c.dir != "" {
		inRoot := func(p string) string { return filepath.Join(c.dir, filepath.FromSlash(p)) }
		return render.Quote(at.Path) + ": permission denied", cmp.Or(hint, toAllow(action, inRoot(at.Path), inRoot(path)))
	}
	if path == "" && at == nil {
		return text, hint
	}
	if action == render.Undoing {
		switch {
		case errors.Is(err, change.ErrBadID) && review.IsID(path):
			return fmt.Sprintf("%q is not the id of a change", path), "it is one of a proposal: quarry review show " + path
		case errors.Is(err, change.ErrBadID):
			return fmt.Sprintf("%q is not the id of a change", path), "quarry log lists them"
		case fault.CodeOf(err) == fault.NotFound && hint == "":
			return text, "quarry log lists the changes that are kept"
		}
		return text, hint
	}
	if at == nil || c.dir == "" {
		return text, hint
	}
	name := filepath.Join(c.dir, filepath.FromSlash(at.Path))
	switch at.Kind {
	case fault.InvalidArgument:
		if at.Err != nil {
			return render.Quote(at.Path) + ": " + at.Err.Error(), hint
		}
	case fault.NotRegular:
		switch info, err := os.Stat(name); {
		case err != nil:
		case info.IsDir():
			return render.Quote(at.Path) + " is a folder, not a file", "quarry find " + render.ShellQuote(fromHere(name)) + " lists what is in it"
		case !info.Mode().IsRegular():
			return render.Quote(at.Path) + " is a pipe, a socket or a device, not a file", hint
		}
	case fault.NotFolder:
		if file := env.FileAbove(name); file != "" {
			return render.Quote(filepath.ToSlash(strings.TrimPrefix(file[len(c.dir):], string(filepath.Separator)))) + " is a file, not a folder", hint
		}
	case fault.NotFound:
		if near := env.Near(name); near != "" && hint == "" && action != render.Writing && action != render.MakeDir {
			return text, "did you mean " + printing.Escape(fromHere(near)) + "?"
		}
	}
	return text, hint
}

// toAllow returns the chmod command that restores a missing permission on the first of the paths,
// or of their folders, whose mode denies it to everyone. It returns "" if there is none.
func toAllow(action render.Action, paths ...string) string {
	for _, path := range paths {
		for _, p := range []string{path, filepath.Dir(path)} {
			info, err := os.Lstat(p)
			if err != nil || info.Mode()&fs.ModeSymlink != 0 {
				continue
			}
			rights, mode := "", info.Mode().Perm()
			if mode&0o444 == 0 {
				rights += "r"
			}
			if mode&0o222 == 0 && action != render.Reading {
				rights += "w"
			}
			if mode&0o111 == 0 && info.IsDir() {
				rights += "x"
			}
			if rights != "" {
				return "if it is yours, chmod u+" + rights + " " + printing.Escape(render.ShellQuote(fromHere(p))) + " allows it"
			}
		}
	}
	return ""
}

// fromHere returns a full path relative to the current folder.
func fromHere(path string) string {
	here, err := env.RealPath(".")
	if err != nil {
		return path
	}
	if rel, err := filepath.Rel(here, path); err == nil {
		return rel
	}
	return path
}

// report prints sentences that describe a change, and the diff if requested. After a dry run it
// prints the same sentences, marked as such.
func (c *changer) report(ch *change.Change, sentences ...string) error {
	return c.tell(ch, "Dry run, nothing was changed. It would say: ", sentences)
}

// unreported is an error in reporting a change that was already made.
type unreported struct{ error }

func (e *unreported) Unwrap() error { return e.error }

func (e *unreported) Hint() string {
	return "the change was made all the same: quarry log shows it, quarry undo undoes it"
}

// isUnreported reports whether err is a failure to write the output. An error in JSON could not be
// written either.
func isUnreported(err error) bool {
	_, lost := errors.AsType[*unreported](err)
	return lost
}

// tell is like report, but prints planned before the sentences of a dry run. If the output can't be
// written, the error says that the change was made.
func (c *changer) tell(ch *change.Change, planned string, sentences []string) (err error) {
	defer func() {
		if err != nil && !ch.DryRun && !ch.Unchanged {
			err = &unreported{err}
		}
	}()
	if c.json {
		return c.s.Encode(ch)
	}
	var b strings.Builder
	if ch.DryRun && !ch.Unchanged {
		b.WriteString(planned)
	}
	for _, s := range sentences {
		if s != "" {
			b.WriteString(s + "\n")
		}
	}
	if ch.NoUndo != "" {
		fmt.Fprintf(&b, "This can't be undone: %s.\n", ch.NoUndo)
	}
	for _, broken := range ch.Broken {
		b.WriteString(broken.String() + "\n")
	}
	for _, w := range ch.Warnings {
		fmt.Fprintf(&b, "Note: %s.\n", w)
	}
	text := c.s.Safe(b.String())
	if c.diff || ch.DryRun {
		text += c.s.Paint().Diff(ch.Diffs, c.s.Safe)
		if all := c.again; ch.MoreDiffs > 0 {
			if !ch.DryRun {
				all = "quarry diff " + ch.ID
			}
			text += fmt.Sprintf("%s; %s shows all\n", fault.Count(ch.MoreDiffs, "more file"), all)
		}
	}
	return c.s.Write(text)
}

// maxText returns the largest size of a file that may be changed; larger files are not read into
// memory.
func (c *changer) maxText() (int64, error) {
	file, err := c.s.File()
	if err != nil {
		return 0, err
	}
	root, err := env.Here()
	if root = config.FindRoot(root); c.root != "" {
		root, err = c.root, nil
	}
	if err != nil {
		return 0, err
	}
	size, err := file.Get(c.s.Env(), root, "change.max-size")
	if err != nil {
		return 0, err
	}
	return config.ParseSize(cmp.Or(size.Text, size.Default)) // a default value has no Text
}

// text returns the value of a flag, or standard input for "-".
func (c *changer) text(ctx context.Context, value string) (string, error) {
	if value != "-" {
		return value, nil
	}
	c.s.AskText()
	most, err := c.maxText()
	if err != nil {
		return "", err
	}
	var text strings.Builder
	n, err := io.Copy(&text, io.LimitReader(env.InputOf(ctx, c.s.In), most+1))
	if err == nil && n > most {
		err = fmt.Errorf("standard input has more than %s, which is as large as a change may make a file (change.max-size)", render.Size(most))
	}
	return text.String(), err
}
