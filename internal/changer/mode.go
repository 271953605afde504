package changer

import (
	"io/fs"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/journal"
	"quarry/internal/rootfs"
)

// mode plans a change of a file's execute permission.
func (p *planner) mode(t *task, path, shown rootfs.Path) error {
	info, err := p.w.root.Stat(path)
	if err != nil {
		return err
	}
	next := withExecutable(info.Mode, *t.Executable)
	if next == info.Mode {
		return nil
	}
	if !rootfs.ExecutableBit {
		p.c.Warnings = append(p.c.Warnings, "the mode of "+fault.Printable(path.String())+" stays as it is: this system keeps no executable bit")
		return nil
	}
	p.show(change.PathDiff{Kind: change.DiffMode, Old: path.String(), New: shown.String(), Modes: [2]fs.FileMode{info.Mode, next}})
	p.moded[t.index] = true
	root := p.w.root
	p.modes = append(p.modes, step{
		op: journal.Op{Kind: journal.Chmod, Path: path, Mode: info.Mode, NewMode: next},
		do: func(*journal.Tx) error { return root.SetMode(path, info.Mode, next) },
	})
	return nil
}

// withExecutable returns m with execute permission for everyone who may read, or without
// any. git records nothing else of a mode.
func withExecutable(m fs.FileMode, executable bool) fs.FileMode {
	if executable {
		return m | m&0o444>>2
	}
	return m &^ 0o111
}

// modeAlone completes the plan of a task that changes no content. The file need not be
// text.
func (p *planner) modeAlone(t *task, path rootfs.Path, version rootfs.Version) error {
	if err := checkVersion(path, version, t.Version); err != nil {
		return err
	}
	p.c.Version = version.String()
	if t.Verb == change.EditFile {
		p.did = change.Action{Verb: change.SetMode, Path: path.String(), Text: "not executable"}
		if *t.Executable {
			p.did.Text = "executable"
		}
		p.file(t, change.File{Path: path.String(), Did: change.SetMode, Version: p.c.Version}, change.PathDiff{})
	}
	return nil
}
