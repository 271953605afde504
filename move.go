package quarry

import (
	"context"
	"errors"
	"strings"

	"golang.org/x/text/unicode/norm"

	"quarry/change"
	"quarry/internal/journal"
	"quarry/internal/rootfs"
	"quarry/internal/vault"
)

var errIntoItself = errors.New("a folder can't be moved into itself")

// Move moves or renames a file, a symlink, or a folder with everything in it.
// It never overwrites, makes the folders that are missing, and may change no
// more than the case of a name. In a vault, links that would point elsewhere
// are rewritten in the same change, or counted.
func (w *Workspace) Move(ctx context.Context, from, to string, opts *MoveOptions) (*Change, error) {
	if w.elsewhere != nil {
		return w.inOneCheckout(ctx, from, to, func(ws *Workspace, from, to string) (*Change, error) { return ws.Move(ctx, from, to, opts) })
	}
	if opts == nil {
		opts = &MoveOptions{}
	}
	if err := w.changeable("move"); err != nil {
		return nil, err
	}
	src, err := w.root.ResolveEntry(from)
	if err != nil {
		return nil, &change.MoveError{Source: true, Path: from, Err: err}
	}
	dst, err := w.root.ResolveEntry(to)
	if err != nil {
		return nil, &change.MoveError{Source: false, Path: to, Err: err}
	}
	if src.IsRoot() || dst.IsRoot() {
		err := &rootfs.Error{Op: "move", Path: ".", Kind: rootfs.InvalidArgument, Err: errRootFolder}
		return nil, &change.MoveError{Source: src.IsRoot(), Path: ".", Err: err}
	}
	settings, err := w.vault()
	if err != nil {
		return nil, err
	}
	if settings == nil && opts.Links == LinksUpdate {
		defaults := vault.DefaultSettings() // a folder of markdown
		settings = &defaults
	}
	m := &move{ws: w, opts: opts, from: src, to: dst, settings: settings}
	return m.run(ctx)
}

// move is one move under way.
type move struct {
	ws       *Workspace
	opts     *MoveOptions
	from, to rootfs.Path
	settings *vault.Settings // nil outside a vault
}

func (m *move) run(ctx context.Context) (*Change, error) {
	for range maxPlans {
		c := &Change{Tool: toolOf(m.opts.Options, "move"), Paths: []string{m.from.String(), m.to.String()}, DryRun: m.opts.DryRun}
		err := m.once(ctx, c)
		if !errors.Is(err, errReplan) {
			return settled(c, err)
		}
	}
	return nil, &rootfs.Error{Op: "move", Path: m.to.String(), Kind: rootfs.Conflict, Err: errReplan}
}

func (m *move) once(ctx context.Context, c *Change) error {
	unlock, err := m.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	info, err := m.check(c)
	if err != nil || c.Unchanged {
		return err
	}
	if info.Type == rootfs.TypeDir && m.ws.root.Policy().ByPlace() {
		if err := m.ws.staysClosed(ctx, m.from, m.to); err != nil {
			return &change.MoveError{Source: true, Path: m.from.String(), Err: err}
		}
	}
	var steps []step
	if m.settings != nil {
		update := m.settings.AlwaysUpdateLinks
		if m.opts.Links != LinksDefault {
			update = m.opts.Links == LinksUpdate
		}
		if steps, err = m.ws.linkPlan(ctx, c, m.from, m.to, update, m.settings.NewLinkFormat); err != nil {
			return err
		}
	}
	showDiff(c, append([]change.PathDiff{{Kind: change.DiffRenamed, Old: m.from.String(), New: m.to.String()}}, c.Diffs...)...)
	folders, err := m.ws.folderSteps(m.to.Dir(), true)
	if err != nil {
		return &change.MoveError{Source: false, Path: m.to.String(), Err: err}
	}
	c.Folders = madeFolders(folders)
	did(c, m.action(c), m.opts.Options)
	if m.opts.DryRun {
		return nil
	}
	steps = append(append(steps, folders...), m.step(info))
	return m.ws.carryOut(ctx, c, steps)
}

// lock takes the two paths and the folders that have to be made; in a vault
// everything, because any note may have to be rewritten.
func (m *move) lock(ctx context.Context) (func(), error) {
	if m.settings != nil {
		return m.ws.state.locks.lock(ctx, rootfs.Path{})
	}
	top := m.to
	if missing, err := m.ws.missing(m.to.Dir()); err == nil && len(missing) > 0 {
		top = missing[0]
	}
	return m.ws.state.locks.lock(ctx, m.from, top)
}

// check refuses what can't be moved.
func (m *move) check(c *Change) (rootfs.Info, error) {
	root := m.ws.root
	info, err := root.Stat(m.from)
	if err != nil {
		return info, &change.MoveError{Source: true, Path: m.from.String(), Err: err}
	}
	if m.opts.ExpectedVersion != "" {
		if err := m.ws.checkDeletable(m.from, info, m.opts.ExpectedVersion); err != nil {
			return info, &change.MoveError{Source: true, Path: m.from.String(), Err: err}
		}
	}
	if m.from == m.to {
		c.Unchanged = true
		did(c, m.action(c), m.opts.Options)
		return info, nil
	}
	if m.to.Beneath(m.from) {
		err := &rootfs.Error{Op: "move", Path: m.to.String(), Kind: rootfs.InvalidArgument, Err: errIntoItself}
		return info, &change.MoveError{Source: false, Path: m.to.String(), Err: err}
	}
	there, err := root.Stat(m.to)
	if err == nil && !(there.SameFile(info) && sameName(m.from, m.to)) {
		return info, &change.MoveError{Source: false, Path: m.to.String(), Err: &rootfs.Error{Op: "move", Path: m.to.String(), Kind: rootfs.AlreadyExists}}
	}
	return info, nil
}

// sameName reports paths that a file system may not tell apart.
func sameName(a, b rootfs.Path) bool {
	return strings.EqualFold(norm.NFC.String(a.String()), norm.NFC.String(b.String()))
}

func (m *move) step(info rootfs.Info) step {
	root := m.ws.root
	return step{
		op:   journal.Op{Kind: journal.Rename, Path: m.from, To: m.to, Nodes: []journal.Node{{Type: info.Type}}},
		do:   func(*journal.Tx) error { return root.Rename(m.from, m.to) },
		back: func() error { return root.Rename(m.to, m.from) },
	}
}

func (m *move) action(c *change.Change) change.Action {
	a := change.Action{Verb: change.Moved, Path: m.from.String(), To: m.to.String()}
	if c.Links != nil {
		a.Updated, a.Files, a.Broken = c.Links.Updated, len(c.Links.Files), c.Links.Broken
	}
	return a
}
