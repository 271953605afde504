package staged

import (
	"context"
	"path"

	"quarry/change"
	"quarry/search"
)

// Staged files are known by their true paths, as the disk has them: a file that is
// reached through a link is the same file. Files that are only staged have no entry on
// the disk yet, so their folders are followed.

// read is the true path of a file that is read, in any case.
func (v *View) read(ctx context.Context, p string) string {
	c := clean(p)
	if !v.Changed() || v.known(c) {
		return c // the workspace follows links itself
	}
	if info, err := v.ws.Stat(ctx, c); err == nil && c != "" {
		return info.Path
	}
	return v.name(ctx, c)
}

// target is the true path of a file that is changed or made.
func (v *View) target(ctx context.Context, p string) string {
	c := clean(p)
	if v.known(c) {
		return c
	}
	if info := v.exact(ctx, c); info != nil {
		return info.Path
	}
	return v.name(ctx, c)
}

// entry is the true path of what is moved or deleted, a link at the end not
// followed. whole is set for what the set takes as it is: a folder or a link.
func (v *View) entry(ctx context.Context, p string) (at string, whole bool, err error) {
	c := clean(p)
	if err := v.inFolder(c); err != nil || v.known(c) {
		return c, false, err
	}
	at = v.name(ctx, c)
	if err := v.inFolder(at); err != nil || v.known(at) {
		return at, false, err
	}
	info := v.exact(ctx, c)
	if info != nil && info.Path == at {
		return at, info.Folder, nil
	}
	// A link, also to nothing or out of the root; or nothing at all.
	plan, err := v.ws.Plan(ctx, change.Set{Ops: []change.Op{{Verb: change.DeletePath, Path: c}}})
	if err != nil {
		if _, stat := v.Stat(ctx, c); stat != nil {
			err = stat
		}
		return at, false, err
	}
	if len(plan.Paths) > 0 {
		at = plan.Paths[0]
	}
	return at, true, nil
}

// name is a path whose folders are followed, as far as they exist.
func (v *View) name(ctx context.Context, c string) string {
	dir, base := path.Split(c)
	dir = path.Clean(dir)
	if dir == "." || dir == "/" || path.IsAbs(c) {
		return c
	}
	if info := v.exact(ctx, dir); info != nil {
		return path.Join(info.Path, base)
	}
	return path.Join(v.name(ctx, dir), base)
}

func (v *View) exact(ctx context.Context, c string) *search.Info {
	if info, err := v.ws.Stat(ctx, c); err == nil && !info.Folded {
		return info
	}
	return nil
}

// known reports whether something is staged under this very path.
func (v *View) known(c string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	_, ok := v.files[c]
	return ok
}
