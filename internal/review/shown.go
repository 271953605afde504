package review

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/rootfs/version"
	"quarry/internal/textedit"
	"quarry/internal/textfile"
	"quarry/search"
)

// files returns the files of a plan for display. It omits no effect of the plan: every
// diff is shown with a file, deletions are marked, and lines that are not shown are
// counted. Paths are those of the plan, not as the client spelled them.
func (g *Gate) files(ctx context.Context, set *change.Set, plan *change.Change) []File {
	files := filesOf(set, plan)
	rest := slices.Clone(plan.Diffs)
	for i := range files {
		f := &files[i]
		var own []change.PathDiff
		rest = slices.DeleteFunc(rest, func(d change.PathDiff) bool {
			mine := d.Old == f.Path || d.New == f.Path || f.To != "" && d.New == f.To
			if mine {
				own = append(own, d)
			}
			return mine
		})
		g.fill(ctx, set, plan, f, own)
		for _, b := range plan.Broken {
			if b.Path == f.Path || b.Path == f.To {
				f.note(b.Words())
			}
		}
	}
	// A diff that belongs to no operation has link updates caused by a move.
	if i := slices.IndexFunc(files, func(f File) bool { return f.Op == change.MovePath }); i >= 0 && len(set.Ops) > 0 {
		files[i].rewrites(rest)
		return files
	}
	for _, d := range rest {
		files = append(files, g.fileOf(ctx, d))
	}
	for _, p := range plan.Paths {
		if len(set.Ops) == 0 && !slices.ContainsFunc(files, func(f File) bool { return f.Path == p || f.To == p }) {
			files = append(files, File{Path: p, Before: stateNow(ctx, g, p), After: unknownVersion, Hunks: whole("")})
		}
	}
	return files
}

// filesOf returns the files that a plan reports, and those of operations that the plan
// does not report because they change no content.
func filesOf(set *change.Set, plan *change.Change) []File {
	var files []File
	reported := map[int]bool{}
	for _, pf := range plan.Files {
		f := File{Path: pf.Path, To: pf.To, Op: verbs[pf.Did]}
		if len(set.Ops) > 0 { // without operations, the stored plan has them
			f.Ops = pf.Ops
		}
		for _, k := range f.Ops {
			f.Op, reported[k] = set.Ops[f.Ops[0]].Verb, true
		}
		files = append(files, f)
	}
	for i, op := range set.Ops {
		if !reported[i] {
			files = append(files, File{Path: path.Clean(op.Path), To: op.To, Op: op.Verb, Ops: []int{i}})
		}
	}
	return files
}

var verbs = map[change.Verb]change.OpVerb{
	change.Created: change.CreateFile, change.Overwrote: change.WriteFile, change.Deleted: change.DeletePath, change.Moved: change.MovePath,
}

// fileOf makes a File from only a diff.
func (g *Gate) fileOf(ctx context.Context, d change.PathDiff) File {
	f := File{Path: firstText(d.Old, d.New), After: unknownVersion, Hunks: whole(d.Hunks)}
	switch {
	case d.Kind == change.DiffTrashed, d.New == "":
		f.Op = change.DeletePath
	case d.Kind == change.DiffRestored, d.Kind == change.DiffMade, d.Old == "":
		f.Op = change.CreateFile
	case d.New != f.Path:
		f.Op, f.To = change.MovePath, d.New
	}
	f.Before = stateNow(ctx, g, f.Path)
	f.note(noteOf(d))
	f.notShown(Lines{d.Cut.Added, d.Cut.Removed})
	return f
}

func (f *File) note(text string) {
	if text != "" {
		f.Note = strings.TrimPrefix(f.Note+"\n"+text, "\n")
	}
}

func (f *File) notShown(cut Lines) {
	if n := cut.Added + cut.Removed; n > 0 {
		f.Cut = cut
		f.note(cutNote(n))
	}
}

func cutNote(lines int) string {
	return fmt.Sprintf("too long to be shown at once: %d of the changed lines are left out here", lines)
}

// rewrites adds the diffs of other files to f, whose move causes them.
func (f *File) rewrites(diffs []change.PathDiff) {
	var text strings.Builder
	var hidden Lines
	for _, d := range diffs {
		name := fault.Printable(firstText(d.New, d.Old))
		if d.Hunks == "" {
			f.note(name + ": " + noteOf(d))
			continue
		}
		f.note("rewrites links in " + name)
		text.WriteString(d.Hunks)
		hidden.Added += d.Cut.Added
		hidden.Removed += d.Cut.Removed
	}
	if f.notShown(hidden); text.Len() > 0 {
		f.Split, f.Old = false, nil
		f.Hunks = whole(textOf(f.Hunks) + text.String())
	}
}

// textOf joins hunks into one diff.
func textOf(hunks []Hunk) string {
	var b strings.Builder
	for _, h := range hunks {
		if h.Text != "" {
			b.WriteString(h.Head() + "\n" + h.Text)
		}
	}
	return b.String()
}

// fill reads the file's content and splits its change into hunks.
func (g *Gate) fill(ctx context.Context, set *change.Set, plan *change.Change, f *File, diffs []change.PathDiff) {
	var text strings.Builder
	for _, d := range diffs {
		if n := noteOf(d); d.Kind != change.DiffRenamed {
			f.note(n)
		}
		text.WriteString(d.Hunks)
	}
	f.Before, f.After = stateNow(ctx, g, f.Path), unknownVersion
	var old []byte
	err := error(fault.ErrNotText)
	if isVersion(f.Before) {
		old, err = g.ReadBytes(ctx, f.Path, 0)
	}
	var lines Lines // lines added and removed by the change
	for _, pf := range plan.Files {
		if pf.Path == f.Path && pf.To == f.To {
			f.After, lines = firstText(pf.Version, unknownVersion), Lines{pf.Added, pf.Removed}
		}
	}
	if f.After == unknownVersion && len(plan.Files) < 2 && plan.Version != "" && isVersion(f.Before) {
		f.After = plan.Version
	}
	switch f.Op {
	case change.DeletePath:
		f.After = ""
		g.deletes(ctx, set, f, old, err)
		return
	case change.MovePath:
		if !g.isLink(ctx, f.Path) {
			g.holds(ctx, f, "moves")
		}
	}
	if new, ok := contentAfter(set, f, old, err); ok && splittable(old) && splittable(new) {
		made := version.Of(new).String()
		if hunks := hunksOf(old, new); len(hunks) > 0 && (f.After == unknownVersion || f.After == made) {
			f.After, f.Split, f.Old, f.Hunks = made, len(hunks) > 1, old, hunks
			return
		}
	}
	f.Hunks = whole(text.String())
	added, removed := linesOf(f.Hunks)
	f.notShown(Lines{max(lines.Added-added, 0), max(lines.Removed-removed, 0)})
}

// deletes adds the text of a deleted file, or the names in a deleted folder.
func (g *Gate) deletes(ctx context.Context, set *change.Set, f *File, old []byte, readErr error) {
	f.Hunks = whole("")
	final := len(f.Ops) > 0 && set.Ops[f.Ops[0]].Trash == change.TrashNone
	switch {
	case g.isLink(ctx, f.Path):
		f.note("deletes the symlink")
	case readErr == nil && splittable(old):
		f.Hunks = whole(textedit.DiffTexts(old, nil, &textedit.DiffOptions{MaxLine: -1, MaxLines: -1}))
		f.note("deletes the file")
	case f.Before == unknownVersion || !strings.HasPrefix(f.Before, folderMark):
		f.note("deletes the file")
	default:
		g.holds(ctx, f, "deletes")
	}
	if final {
		f.note("permanently, not into the trash")
	}
}

// maxNames limits how many names of a folder are shown, and maxNoted the number of
// characters of each.
const (
	maxNames = 200
	maxNoted = 400
)

// holds lists the contents of a folder that is moved or deleted.
func (g *Gate) holds(ctx context.Context, f *File, does string) {
	if !strings.HasPrefix(f.Before, folderMark) {
		return
	}
	entries, err := below(ctx, g, f.Path)
	if err != nil {
		f.note(does + " the folder with everything in it; it can't be listed: " + err.Error())
		return
	}
	if len(entries) == 0 {
		f.note(does + " the empty folder")
		return
	}
	f.note(fmt.Sprintf("%s the folder with everything in it, %s:", does, fault.Count(len(entries), "entry", "entries")))
	for i, e := range entries {
		if i == maxNames {
			f.note(fmt.Sprintf("and %d more", len(entries)-i))
			break
		}
		f.note("  " + change.OneLine(fault.Printable(e.Path), maxNoted))
	}
}

// below lists everything in a folder and its subfolders.
func below(ctx context.Context, ws Files, dir string) ([]search.Entry, error) {
	r, err := ws.Find(ctx, search.FindQuery{
		Scope: search.Scope{Paths: []string{dir}, IncludeHidden: true, IncludeIgnored: true, NoIndex: true},
		Kind:  search.FilesAndFolders, Links: true, Stat: true,
	})
	if err != nil {
		return nil, err
	}
	return r.Entries, nil
}

// isLink reports whether p is a symlink. A move or deletion affects the link itself.
func (g *Gate) isLink(ctx context.Context, p string) bool {
	r, err := g.Find(ctx, search.FindQuery{
		Scope: search.Scope{Paths: []string{path.Dir(p)}, IncludeHidden: true, IncludeIgnored: true, NoIndex: true, MaxDepth: 1},
		Kind:  search.FilesAndFolders, Links: true,
	})
	return err == nil && slices.ContainsFunc(r.Entries, func(e search.Entry) bool { return e.Path == p && e.Link })
}

func firstText(list ...string) string {
	for _, s := range list {
		if s != "" {
			return s
		}
	}
	return ""
}

// whole returns a single hunk for a change that can't be split.
func whole(text string) []Hunk {
	all := Hunk{}
	var b strings.Builder
	for _, h := range parseHunks(text) {
		if all.OldStart == 0 && all.NewStart == 0 {
			all.OldStart, all.NewStart = h.OldStart, h.NewStart
		}
		if b.Len() > 0 {
			b.WriteString(h.Head() + "\n")
		}
		b.WriteString(h.Text)
		all.OldCount += h.OldCount
		all.NewCount += h.NewCount
	}
	all.Text = b.String()
	return []Hunk{all}
}

func noteOf(d change.PathDiff) string {
	switch {
	case d.Kind == change.DiffContent:
		return ""
	case d.Kind == change.DiffMode && (d.Modes[0]^d.Modes[1])&0o100 == 0:
	case d.Kind == change.DiffMode && d.Modes[1]&0o100 != 0:
		return "makes it executable"
	case d.Kind == change.DiffMode:
		return "makes it not executable"
	}
	return strings.TrimSpace(d.Header())
}

// contentAfter computes a file's content after an edit or a write, only to split the
// change into hunks. Apply computes the content that it writes.
func contentAfter(set *change.Set, f *File, old []byte, readErr error) ([]byte, bool) {
	if len(f.Ops) == 0 || readErr != nil {
		return nil, false
	}
	op := set.Ops[f.Ops[0]]
	if f.Op != change.EditFile && (f.Op != change.WriteFile || len(f.Ops) > 1) {
		return nil, false
	}
	d, err := textfile.New(old)
	if f.Op == change.WriteFile {
		if op.Text && err == nil {
			if data, kept, err := textedit.Overwriting(textfile.InMemory(d), op.Content); err != nil || kept != "" {
				return data, err == nil
			}
		}
		return op.Content, true
	}
	if err != nil {
		return nil, false
	}
	var edits []change.Edit
	for _, k := range f.Ops {
		if set.Ops[k].Executable != nil {
			return nil, false // a change of mode can't be split
		}
		edits = append(edits, set.Ops[k].Edits...)
	}
	c, err := textedit.ApplyTo(f.Path, textfile.InMemory(d), textedit.DefaultMaxSize, nil, edits...)
	if err != nil {
		return nil, false
	}
	return c.Bytes(), true
}

// The state of a path is the version of a small file, "" if the path does not exist, and
// otherwise a digest of properties. States are only compared with each other.
const (
	unknownVersion = "?"
	folderMark     = "folder:"
	largeMark      = "large:"
	maxHashed      = 64 << 20
)

func isVersion(state string) bool {
	return state != "" && state != unknownVersion && !strings.Contains(state, ":")
}

// stateNow returns the state of a path.
func stateNow(ctx context.Context, ws Files, p string) string {
	info, err := ws.Stat(ctx, p)
	switch {
	case errors.Is(err, fault.NotFound):
		return ""
	case err != nil || info.Special:
		return unknownVersion
	case info.Folder:
		return folderState(ctx, ws, p)
	case info.Size > maxHashed:
		return fmt.Sprintf("%s%d-%d", largeMark, info.Size, info.ModTime.UnixNano())
	}
	data, err := ws.ReadBytes(ctx, p, 0)
	switch {
	case err == nil:
		return version.Of(data).String()
	case errors.Is(err, fault.NotFound):
		return ""
	}
	return unknownVersion
}

// folderState returns a digest of all names, sizes and times in a folder.
func folderState(ctx context.Context, ws Files, dir string) string {
	entries, err := below(ctx, ws, dir)
	if err != nil {
		return unknownVersion
	}
	var b strings.Builder
	for _, e := range entries {
		fmt.Fprintf(&b, "%q %v %v %d %d\n", e.Path, e.Folder, e.Link, e.Size, e.ModTime.UnixNano())
	}
	return folderMark + version.Of([]byte(b.String())).String()
}
