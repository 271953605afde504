// Package staged is a workspace with changes that are not made yet.
//
// A View reads and searches the files as they would be after the changes that
// were staged in it; at the end all of them are one change.Set, which names the
// version of every file that was read. Nothing is written before that, and
// nothing is planned on files that have changed since.
//
// A View has the methods that lookup, replacer and notebook need, so whatever
// works on a workspace works on staged changes too. It is for one goroutine at a
// time, but for reading, which its searches do in parallel.
package staged

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"quarry"
	"quarry/change"
	"quarry/fault"
	"quarry/internal/rootfs/version"
	"quarry/internal/splice"
	"quarry/internal/textfile"
	"quarry/search"
)

// View is a workspace with staged changes.
type View struct {
	ws *quarry.Workspace

	mu      sync.Mutex
	files   map[string]*file  // by path: changed, moved, new or deleted
	seen    map[string]string // versions of the files that were read, as they are on the disk
	folders []change.Op       // moves and deletions of folders
	binary  map[string]bool   // seen files that are no text
}

// file is a file that a staged change is about.
type file struct {
	from    string      // where it is on the disk, "" for a new one
	base    []byte      // what it has there
	raw     []byte      // what it has after the changes
	pieces  splice.Text // of raw
	gone    bool
	version string            // of base
	written bool              // overwritten as a whole
	links   change.LinkUpdate // of a move
}

// New makes a view without changes.
func New(ws *quarry.Workspace) *View {
	return &View{ws: ws, files: map[string]*file{}, seen: map[string]string{}, binary: map[string]bool{}}
}

// Changed reports whether something is staged.
func (v *View) Changed() bool { return len(v.files)+len(v.folders) > 0 }

// clean is a path as the maps have it. One that leaves the root stays as it is: the
// workspace refuses it.
func clean(p string) string {
	c := path.Clean(strings.TrimSpace(p))
	switch {
	case c == ".":
		return ""
	case path.IsAbs(c), c == "..", strings.HasPrefix(c, "../"):
		return p
	}
	return c
}

// staged gives the staged file of a path; moved away counts as gone.
func (v *View) staged(p string) (f *file, ok bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if f, ok = v.files[p]; ok {
		return f, true
	}
	for from, f := range v.files {
		if f.from == p && from != p {
			return &file{gone: true}, true
		}
	}
	return nil, false
}

// InFolderError refuses to look at files below a folder that was moved or deleted
// before in the same script.
type InFolderError struct{ Path, Folder string }

func (e *InFolderError) Error() string {
	return fmt.Sprintf("%s is in %s, a folder that this script moved or deleted", fault.Printable(e.Path), fault.Printable(e.Folder))
}

// Unwrap gives the code.
func (e *InFolderError) Unwrap() error { return fault.InvalidArgument }

// Hint says what to do.
func (e *InFolderError) Hint() string {
	return "change files of a folder before you move it, in a script of its own"
}

func (v *View) inFolder(p string) error {
	for _, op := range v.folders {
		for _, dir := range []string{op.Path, op.To} {
			if dir != "" && (p == dir || strings.HasPrefix(p, dir+"/")) {
				return &InFolderError{p, dir}
			}
		}
	}
	return nil
}

func missing(p string) error {
	return fault.New(fault.NotFound, fmt.Sprintf("%s does not exist: this script deleted or moved it", fault.Printable(p)), "")
}

// ReadBytes reads a file as it is after the staged changes.
func (v *View) ReadBytes(ctx context.Context, p string, max int64) ([]byte, error) {
	key := v.read(ctx, p)
	if err := v.inFolder(key); err != nil {
		return nil, err
	}
	if f, ok := v.staged(key); ok {
		switch {
		case f.gone:
			return nil, missing(key)
		case max > 0 && int64(len(f.raw)) > max:
			return f.raw[:max], nil
		}
		return f.raw, nil
	}
	return v.ws.ReadBytes(ctx, p, max)
}

// Read reads a part of a text file as it is after the staged changes.
func (v *View) Read(ctx context.Context, p string, opts *search.ReadOptions) (*search.Text, error) {
	key := v.read(ctx, p)
	if err := v.inFolder(key); err != nil {
		return nil, err
	}
	f, ok := v.staged(key)
	if !ok {
		t, err := v.ws.Read(ctx, p, opts)
		if err == nil {
			v.note(t.Path, t.Version)
		}
		return t, err
	}
	if f.gone {
		return nil, missing(key)
	}
	doc, err := textfile.New(f.raw)
	if err != nil {
		return nil, err
	}
	opts = cmp.Or(opts, &search.ReadOptions{})
	text := string(doc.Text())
	lines := strings.SplitAfter(text, "\n")
	if n := len(lines); lines[n-1] == "" {
		lines = lines[:n-1]
	}
	t := &search.Text{Path: key, Total: len(lines), First: max(opts.Start, 1), Version: version.Of(f.raw).String(), Encoding: doc.Encoding().String(), Ending: textfile.CountEndings(doc.Text()).String()}
	end := len(lines)
	if opts.End > 0 {
		end = min(end, opts.End)
	}
	size := 0
	for i := t.First - 1; i < end; i++ {
		line := strings.TrimSuffix(strings.TrimSuffix(lines[i], "\n"), "\r")
		size += len(line) + 1
		if opts.MaxLines > 0 && len(t.Lines) >= opts.MaxLines || opts.MaxBytes > 0 && size > opts.MaxBytes && len(t.Lines) > 0 {
			t.Cut = true
			break
		}
		t.Lines = append(t.Lines, line)
	}
	return t, nil
}

// note remembers the version of a file that was read from the disk. The first one
// counts: everything was worked out from it.
func (v *View) note(p, version string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.seen[p] = cmp.Or(v.seen[p], version)
}

// Note remembers the version of a file whose content the caller was given by
// other ways than Read, as the lines of a search.
func (v *View) Note(ctx context.Context, p string) {
	v.mu.Lock()
	known := v.seen[p] != "" || v.files[p] != nil
	v.mu.Unlock()
	if known {
		return
	}
	if data, err := v.ws.ReadBytes(ctx, p, 0); err == nil {
		v.note(p, version.Of(data).String())
		if _, err := textfile.New(data); err != nil {
			v.mu.Lock()
			v.binary[p] = true
			v.mu.Unlock()
		}
	}
}

// Stat describes a path after the staged changes.
func (v *View) Stat(ctx context.Context, p string) (*search.Info, error) {
	key := v.read(ctx, p)
	if err := v.inFolder(key); err != nil {
		return nil, err
	}
	if f, ok := v.staged(key); ok {
		if f.gone {
			return nil, missing(key)
		}
		return &search.Info{Path: key, Size: int64(len(f.raw))}, nil
	}
	info, err := v.ws.Stat(ctx, p)
	if err != nil && errors.Is(err, fault.NotFound) {
		for _, at := range v.paths() { // a folder that only new files are in
			if strings.HasPrefix(at, key+"/") {
				return &search.Info{Path: key, Folder: true}, nil
			}
		}
	}
	return info, err
}

// VaultFile reads a file of a vault's settings. They can't be changed.
func (v *View) VaultFile(ctx context.Context, name string) ([]byte, error) {
	return v.ws.VaultFile(ctx, name)
}

// paths are the staged files that exist, in order.
func (v *View) paths() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	var list []string
	for p, f := range v.files {
		if !f.gone {
			list = append(list, p)
		}
	}
	slices.Sort(list)
	return list
}

// hides reports a path on the disk whose content is not there after the changes.
func (v *View) hides(p string) bool {
	_, ok := v.staged(p)
	return ok
}
