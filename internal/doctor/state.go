package doctor

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"slices"
	"sort"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/ignore"
	"quarry/internal/index"
	"quarry/internal/journal"
	"quarry/internal/notefields"
	"quarry/internal/owner"
	"quarry/internal/rootfs"
	"quarry/search"
)

// places has the paths to examine. Empty ones are skipped.
type places struct {
	Root    string
	Journal string
	Index   indexAt
	// KeepBytes limits the size of the journal; 0 means the default.
	KeepBytes int64
}

// indexAt is the location of the index.
type indexAt struct{ Dir, Socket string }

// tree is the result of examining the workspace.
type tree struct {
	FileSystem rootfs.FSKind
	Folders    int
	// Unreadable lists folders that can't be read, and Temps temporary files of processes
	// that have ended, each up to mostNames. The counts include all.
	Unreadable, Temps           []string
	UnreadableCount, TempsCount int
}

// journalState is the result of examining the journal.
type journalState struct {
	FileSystem rootfs.FSKind
	Bytes      int64
	Unfinished []halfDone // incomplete changes
	Damaged    int        // records that can't be read
	Lost       int        // changes that are missing but were not dropped
}

// halfDone is an incomplete change, and how far it was carried out.
type halfDone struct {
	ID   string
	What *change.Partly
}

// indexState is the result of examining the index.
type indexState struct {
	Damage []string // one line for each unusable part
	// Answers is set if a process owns the index and responds; Silent, if it doesn't
	// respond.
	Answers, Silent bool
	// Owner is the status reported by the owner; nil if there is none.
	Owner *search.IndexStatus
}

// mostNames limits the lists of names.
const mostNames = 100

// examineTree walks all folders of the workspace, including ignored and hidden ones.
func examineTree(ctx context.Context, p places) (*tree, error) {
	root, err := rootfs.Open(p.Root, &rootfs.Options{Trusted: true, AllowAny: true, ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer root.Close()
	t := &tree{FileSystem: root.FSKind()}
	top, err := root.OpenDir(rootfs.Path{})
	if err != nil {
		return nil, err
	}
	defer top.Close()
	return t, t.folder(ctx, root, top, "")
}

func (t *tree) folder(ctx context.Context, root *rootfs.Root, d *rootfs.Dir, name string) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	t.Folders++
	entries, err := d.Read(nil)
	if err != nil {
		t.unreadable(name)
		return nil
	}
	for _, e := range entries {
		path := e.Name
		if name != "" {
			path = name + "/" + e.Name
		}
		if rootfs.IsTemp(e.Name) {
			if info, err := d.Stat(e.Name); err == nil && root.LeftOver(e.Name, info) {
				if t.TempsCount++; len(t.Temps) < mostNames {
					t.Temps = append(t.Temps, path)
				}
			}
			continue
		}
		if e.Type != rootfs.TypeDir {
			continue
		}
		sub, err := d.OpenDir(e.Name)
		if err != nil {
			if rootfs.KindOf(err) == fault.Permission {
				t.unreadable(path)
			}
			continue
		}
		err = t.folder(ctx, root, sub, path)
		sub.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *tree) unreadable(path string) {
	if t.UnreadableCount++; len(t.Unreadable) < mostNames {
		t.Unreadable = append(t.Unreadable, path)
	}
}

// examineJournal examines the undo log.
func examineJournal(p places) (*journalState, error) {
	ws, err := rootfs.Open(p.Root, &rootfs.Options{Trusted: true, AllowAny: true, ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer ws.Close()
	dir, err := rootfs.Open(p.Journal, &rootfs.Options{Trusted: true, AllowAny: true})
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	j, err := journal.Open(dir, &journal.Options{MaxBytes: p.KeepBytes})
	if err != nil {
		return nil, err
	}
	defer j.Close()
	s := &journalState{FileSystem: dir.FSKind(), Bytes: sizeOf(dir, rootfs.Path{})}
	s.Unfinished, err = halfDones(j, ws)
	if err == nil {
		s.Damaged, err = j.Damage()
	}
	if err == nil {
		s.Lost, err = j.Lost()
	}
	return s, err
}

// halfDones finds changes that were only partly carried out, and incomplete ones whose
// process has ended or has given up.
func halfDones(j *journal.Journal, ws *rootfs.Root) ([]halfDone, error) {
	cut, err := j.Interrupted()
	if err != nil {
		return nil, err
	}
	all, err := j.List(0)
	if err != nil {
		return nil, err
	}
	var found []halfDone
	for _, e := range slices.Backward(all) {
		if !slices.Contains(cut, e.ID) && (e.Planned == nil || e.UndoneBy != "") {
			continue
		}
		// Progress reports unreadable parts in its result, so ignore the error.
		u, _ := j.Progress(ws, e)
		found = append(found, halfDone{string(e.ID), u.Partly()})
	}
	return found, nil
}

// sizeOf returns the total size of the files in one of Quarry's folders.
func sizeOf(root *rootfs.Root, p rootfs.Path) int64 {
	d, err := root.OpenDir(p)
	if err != nil {
		return 0
	}
	defer d.Close()
	entries, err := d.Read(nil)
	if err != nil {
		return 0
	}
	var size int64
	for _, e := range entries {
		if e.Type != rootfs.TypeFile {
			if below, err := p.Child(e.Name); err == nil && e.Type == rootfs.TypeDir {
				size += sizeOf(root, below)
			}
			continue
		}
		if info, err := d.Stat(e.Name); err == nil {
			size += info.Size
		}
	}
	return size
}

// examineIndex checks the index. A missing index is not a problem.
func examineIndex(ctx context.Context, p places) (*indexState, error) {
	at := p.Index
	s := &indexState{}
	if client, err := owner.Dial(at.Socket); err == nil {
		// The system also accepts connections for a suspended process. A live process
		// answers an empty request, which is invalid, with an error.
		err := client.Ask(ctx, nil, func([]byte) error { return nil })
		s.Answers = !errors.Is(err, owner.ErrNoOwner)
		client.Close()
	}
	state, err := rootfs.Open(at.Dir, &rootfs.Options{Trusted: true, AllowAny: true})
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	defer state.Close()
	if !s.Answers {
		if s.Silent, err = state.Held(owner.LockName); err != nil {
			return nil, err
		}
	}
	ws, err := rootfs.Open(p.Root, &rootfs.Options{Trusted: true, AllowAny: true, ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer ws.Close()
	if s.Answers {
		m := owner.New(ws, owner.Options{Dir: at.Dir, Socket: at.Socket, Ask: true})
		if st, _ := m.Status(ctx); st.Remote {
			s.Owner = st
		}
		m.Close()
	}
	ix, err := index.Open(ws, state, &index.Options{ReadOnly: true, Fields: notefields.Extractor(), Logger: slog.New(problems{slog.DiscardHandler, &s.Damage})})
	if err != nil {
		return nil, err
	}
	return s, ix.Close()
}

// problems is a log handler that collects an index's errors.
type problems struct {
	slog.Handler
	list *[]string
}

func (p problems) Enabled(context.Context, slog.Level) bool { return true }

func (p problems) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "err" {
			*p.list = append(*p.list, a.Value.String())
		}
		return true
	})
	return nil
}

// ruleFile is an ignore file that applies at the root of the workspace.
type ruleFile struct {
	ignore.File
	shown string // its name in findings
}

// hiding finds the rule that hides an entry at the root of the workspace. ok is false if
// there is none.
func hiding(files []ruleFile, name string, folder bool) (file string, line int, ok bool) {
	var sets []ignore.Set
	for _, f := range files {
		set, _ := f.Set(f.shown)
		sets = append(sets, set)
	}
	// Rules of folders further up come first.
	sort.SliceStable(sets, func(i, j int) bool { return len(sets[i].Above) > len(sets[j].Above) })
	d := ignore.NewMatcher([]ignore.Folder{{Repo: false, Sets: sets}}).Match(name, folder)
	return d.Rule.Source, d.Rule.Line, d.Ignored
}
