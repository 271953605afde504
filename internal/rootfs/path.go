package rootfs

import (
	"errors"
	"strings"

	"quarry/fault"
)

// Path is a path beneath a root: cleaned, slash-separated and relative. Its symlinks were
// resolved when it was made. The zero Path is the root itself. Paths are comparable and may
// be map keys. Names are bytes; they need not be UTF-8.
//
// A Path is only made by Root.Resolve and similar methods, Root.Known and Child, so it never
// contains "..", an empty component, or a NUL.
type Path struct{ s string } // "" is the root

// String returns the path as printed: relative, with slashes; "." is the root.
func (p Path) String() string {
	if p.s == "" {
		return "."
	}
	return p.s
}

// IsRoot reports whether p is the root itself.
func (p Path) IsRoot() bool { return p.s == "" }

// Base returns the last name, "." for the root.
func (p Path) Base() string {
	if p.s == "" {
		return "."
	}
	return p.s[strings.LastIndexByte(p.s, '/')+1:]
}

// Dir returns the folder of p; the root is its own folder.
func (p Path) Dir() Path {
	if i := strings.LastIndexByte(p.s, '/'); i >= 0 {
		return Path{p.s[:i]}
	}
	return Path{}
}

// Depth returns the number of names in p: 0 for the root, 2 for "a/b".
func (p Path) Depth() int {
	if p.s == "" {
		return 0
	}
	return strings.Count(p.s, "/") + 1
}

// Beneath reports whether p is dir or beneath it, at any depth.
func (p Path) Beneath(dir Path) bool {
	if dir.s == "" || p.s == dir.s {
		return true
	}
	return len(p.s) > len(dir.s) && p.s[len(dir.s)] == '/' && p.s[:len(dir.s)] == dir.s
}

// Compare orders paths by their bytes, the order of every listing.
func (p Path) Compare(q Path) int { return strings.Compare(p.s, q.s) }

// Child returns the entry called name in folder p. The name must come from a listing of p: Child refuses
// impossible names, but follows no symlink.
func (p Path) Child(name string) (Path, error) {
	if err := checkName(name); err != nil {
		return Path{}, &fault.PathError{Op: "resolve", Path: name, Kind: fault.InvalidArgument, Err: err}
	}
	return p.child(name), nil
}

// Below returns the entry at rel below folder p, as Child does for each name.
func (p Path) Below(rel string) (Path, error) {
	for name := range strings.SplitSeq(rel, "/") {
		if err := checkName(name); err != nil {
			return Path{}, &fault.PathError{Op: "resolve", Path: name, Kind: fault.InvalidArgument, Err: err}
		}
	}
	return p.child(rel), nil
}

// child is Child for a checked name.
func (p Path) child(name string) Path {
	if p.s == "" {
		return Path{name}
	}
	return Path{p.s + "/" + name}
}

var (
	errEmptyName = errors.New("empty name")
	errDotName   = errors.New("'.' and '..' are not names")
	errSeparator = errors.New("a name can't contain a separator")
	errNUL       = errors.New("a path can't contain a NUL byte")
	errNameLong  = errors.New("a name is longer than 255 bytes")
	errPathLong  = errors.New("path is longer than 65536 bytes")
	errNotClean  = errors.New("not a cleaned relative path")
)

const (
	maxName = 255
	// maxPath limits the work for one path. It exceeds the kernel's limit of 4096, because
	// deeper trees exist and are opened in several steps.
	maxPath = 64 << 10
)

// checkName returns an error unless name is a valid name in a folder.
func checkName(name string) error {
	switch {
	case name == "":
		return errEmptyName
	case name == "." || name == "..":
		return errDotName
	case len(name) > maxName:
		return errNameLong
	}
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case c == 0:
			return errNUL
		case c == '/' || c == '\\' && backslashSeparates:
			return errSeparator
		}
	}
	return nil
}

// checkRel returns an error unless s is valid in a Path.
func checkRel(s string) error {
	if len(s) > maxPath {
		return errPathLong
	}
	for s != "" {
		name, rest, more := strings.Cut(s, "/")
		if err := checkName(name); err != nil {
			return err
		}
		if more && rest == "" {
			return errNotClean
		}
		s = rest
	}
	return nil
}
