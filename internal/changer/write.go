package changer

import (
	"context"
	"errors"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/journal"
	"quarry/internal/rootfs"
	"quarry/internal/rootfs/version"
	"quarry/internal/textedit"
	"quarry/internal/textfile"
)

// write plans new content for a file, byte for byte as given. Content marked as text is
// converted to the file's encoding and line ending. An existing file keeps its mode,
// owner and extended attributes; a missing file is created, with its folders.
func (p *planner) write(ctx context.Context, t *task) error {
	if info, err := p.w.root.Stat(t.path); err == nil && info.Type == rootfs.TypeFile && info.Size > p.w.largeFrom && t.Verb != change.CreateFile {
		return p.overwriteLarge(ctx, t)
	}
	old, have, info, err := p.w.root.ReadFile(t.path, maxRead)
	switch {
	case err == nil && t.Verb == change.CreateFile:
		return &fault.PathError{Op: "create", Path: t.path.String(), Kind: fault.AlreadyExists}
	case err == nil:
		doc, err := textfile.New(old)
		if err == nil {
			if err := p.likeBefore(t, textfile.InMemory(doc)); err != nil {
				return err
			}
		}
		return p.overwrite(t, old, have, info, func(content []byte) (change.PathDiff, error) {
			return diffOf(t.path.String(), t.path.String(), old, content, p.limits()), nil
		})
	case rootfs.KindOf(err) != fault.NotFound && rootfs.KindOf(err) != fault.NotFolder:
		return err
	case t.Version != "":
		return &fault.PathError{Op: "write", Path: t.path.String(), Kind: fault.Conflict, Err: &change.VersionError{Want: t.Version}}
	}
	if err := p.needFolders(t.path.Dir()); err != nil {
		return err
	}
	name, content := t.path.String(), t.Content
	p.c.Created, p.c.Size, p.c.Version = true, int64(len(content)), version.Of(content).String()
	p.did = change.Action{Verb: change.Created, Path: name, Count: len(content)}
	diff := diffOf("", name, nil, content, p.limits())
	p.show(diff)
	p.file(t, change.File{Path: name, Did: change.Created, Version: p.c.Version}, diff)
	p.made = append(p.made, p.w.createStep(t.path, content, t.Executable))
	return nil
}

// overwrite plans new content for a file. old is nil for a large file.
func (p *planner) overwrite(t *task, old []byte, have rootfs.Version, info rootfs.Info, diffTo func(content []byte) (change.PathDiff, error)) error {
	p.versions[t.index] = have.String()
	if err := checkVersion(t.path, have, t.Version); err != nil {
		return err
	}
	name, content := t.path.String(), t.Content
	if content == nil {
		content = []byte{}
	}
	if t.encoded != nil {
		content = t.encoded
	}
	next := version.Of(content)
	p.c.Version, p.c.Size, p.c.Kept = next.String(), int64(len(content)), t.kept
	p.did = change.Action{Verb: change.Overwrote, Path: name, Count: len(content)}
	if next == have {
		return nil
	}
	diff, err := diffTo(content)
	if err != nil {
		return err
	}
	p.show(diff)
	p.file(t, change.File{Path: name, Did: change.Overwrote, Version: p.c.Version, Kept: t.kept}, diff)
	return p.content(info, step{
		op: journal.Op{Kind: journal.Replace, Path: t.path, Old: have, New: next, OldData: old, NewData: content, Shown: diff.Hunks},
		do: func(*journal.Tx) error {
			_, err := p.w.root.Replace(t.path, content, have, nil)
			return err
		},
	})
}

// likeBefore converts text that overwrites a file to the file's encoding, byte order mark
// and line ending.
func (p *planner) likeBefore(t *task, old *textfile.Text) (err error) {
	t.encoded, t.kept = nil, ""
	if t.Text {
		t.encoded, t.kept, err = textedit.Overwriting(old, t.Content)
	}
	return err
}

// overwriteLarge is overwrite for a file that is too large to be read into memory.
func (p *planner) overwriteLarge(ctx context.Context, t *task) error {
	old, err := p.openLarge(ctx, t.path)
	if err != nil {
		return err
	}
	if old.text != nil {
		if err := p.likeBefore(t, old.text); err != nil {
			return err
		}
	}
	return p.overwrite(t, nil, old.Version(), old.info, func(content []byte) (change.PathDiff, error) {
		diff := change.PathDiff{Old: t.path.String(), New: t.path.String(), Kind: change.DiffBinary}
		if doc, err := textfile.New(content); err == nil && old.text != nil {
			diff.Kind = change.DiffContent
			diff.Hunks, diff.Cut = textedit.DiffLarge(old.text, textfile.InMemory(doc), p.limits())
		}
		return diff, old.checkUnchanged()
	})
}

// mkdir plans a folder and its missing parents. If it exists, nothing is changed.
func (p *planner) mkdir(t *task) error {
	before := len(p.folders)
	if err := p.needFolders(t.path); err != nil {
		return err
	}
	p.c.Created = len(p.folders) > before
	p.did = change.Action{Verb: change.MadeFolder, Path: t.path.String()}
	return nil
}

// withFolders runs f with p and its missing parents locked. If another process makes one
// of them meanwhile, it runs f again.
func (w *Changer) withFolders(ctx context.Context, p rootfs.Path, f func() error) error {
	for range maxPlans {
		top := p
		missing, err := w.missing(p.Dir())
		if err != nil {
			return err
		}
		if len(missing) > 0 {
			top = missing[0]
		}
		unlock, err := w.state.locks.lock(ctx, top)
		if err != nil {
			return err
		}
		if again, err := w.missing(p.Dir()); err != nil || len(again) > len(missing) {
			unlock()
			if err != nil {
				return err
			}
			continue
		}
		err = f()
		unlock()
		if !errors.Is(err, errReplan) {
			return err
		}
	}
	return &fault.PathError{Op: "mkdir", Path: p.Dir().String(), Kind: fault.Conflict, Err: errReplan}
}
