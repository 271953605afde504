package rootfs

import (
	"errors"
	"path"
	"path/filepath"
	"strings"

	"quarry/fault"
	"quarry/internal/policy"
	"quarry/internal/rootfs/file"
	"quarry/internal/rootfs/names"
)

// maxLinks is the kernel's own limit on symlinks in one path.
const maxLinks = 40

var (
	errLeaves       = errors.New("the path leads out of the root")
	errLinkLeaves   = fault.New(fault.OutsideRoot, "a symlink leads out of the root", "a symlink in the path leads there; its target can be served as another root")
	errAbsolute     = errors.New("absolute paths must lie in the root; write it relative to the root")
	errChangedUnder = errors.New("the path kept changing while it was opened")
)

// lastName says how to treat the last name of a path.
type lastName uint8

const (
	followed lastName = iota // a symlink is followed
	itself                   // a symlink itself is the target
	asTyped                  // like itself, and the name keeps its typed case
)

// Resolve turns a user's text into a Path, which need not exist.
//
// It accepts relative paths, absolute paths inside the root (in the root's given or real
// spelling), "/" or "\" between names, a leading "./" or "/" and a trailing "/". A
// backslash belongs to a name if such a name exists. The text is cleaned first, so ".."
// never depends on symlinks; then symlinks are followed, and their targets must be in the
// root and allowed. If a path doesn't exist yet, its existing folders are followed and
// the rest is used as written.
//
// A path with a leading "/" that isn't in the root is relative to the root only if it is
// a single name or its first folder exists there; otherwise "/etc/new" would quietly
// become a folder of the workspace.
// "/etc/new" would quietly become a folder of the workspace.
func (r *Root) Resolve(user string) (Path, error) { return r.resolve("resolve", user, followed) }

// ResolveEntry is Resolve for calls that act on a name rather than on its target, such as moving and
// deleting: a symlink at the end is not followed.
func (r *Root) ResolveEntry(user string) (Path, error) {
	return r.resolve("resolve", user, itself)
}

// ResolveTarget is ResolveEntry for the new name of a moved file. If the system ignores
// case, the name keeps its typed case, which may be the only change.
func (r *Root) ResolveTarget(user string) (Path, error) {
	return r.resolve("resolve", user, asTyped)
}

// Own returns the path of a file of our own state, by a name that we chose. An invalid
// name can't be opened.
func (r *Root) Own(name string) Path {
	p, err := r.Known(name)
	if err != nil {
		return Path{notOwn}
	}
	return p
}

// notOwn is a path that no system opens.
const notOwn = "\x00"

// Known returns the Path for a result of Path.String, such as an index stores. It applies
// the policy but follows no symlink and doesn't touch the disk: opening does both.
func (r *Root) Known(s string) (Path, error) {
	if s == "." {
		return Path{}, nil
	}
	err := checkRel(s)
	if err == nil && s == "" {
		err = errNotClean
	}
	if err != nil {
		return Path{}, &fault.PathError{Op: "resolve", Path: s, Kind: fault.InvalidArgument, Err: err}
	}
	p := Path{s}
	if v := r.policy.Path(p, false); v.Refused() && v != policy.Secret {
		return Path{}, r.policy.refusal("resolve", s, p, v)
	}
	return p, nil
}

func (r *Root) resolve(op, user string, last lastName) (Path, error) {
	rel, err := r.clean(op, user)
	if err != nil {
		return Path{}, err
	}
	if odd := names.Check(rel); odd != nil {
		if err := r.policy.check(op, user, Path{rel}, false); err != nil {
			return Path{}, err
		}
		return Path{}, &fault.PathError{Op: op, Path: user, Kind: fault.InvalidArgument, Err: odd}
	}
	return r.follow(op, user, rel, last)
}

// clean does the textual part: the result is "" or a string checkRel accepts.
func (r *Root) clean(op, user string) (string, error) {
	if len(user) > maxPath {
		return "", &fault.PathError{Op: op, Path: user[:64] + "…", Kind: fault.InvalidArgument, Err: errPathLong}
	}
	if strings.IndexByte(user, 0) >= 0 {
		return "", &fault.PathError{Op: op, Path: user, Kind: fault.InvalidArgument, Err: errNUL}
	}
	if strings.IndexByte(user, '\\') >= 0 {
		if rel, ok := r.literalBackslash(op, user); ok {
			return rel, nil
		}
		user = strings.ReplaceAll(names.Plain(user), `\`, "/")
	}
	return r.cleanSlashes(op, user)
}

// literalBackslash treats backslashes as part of names if such names exist, or if they
// are in an existing folder part.
func (r *Root) literalBackslash(op, user string) (string, bool) {
	if backslashSeparates {
		return "", false
	}
	rel, err := r.cleanSlashes(op, user)
	if err != nil {
		return "", false
	}
	if _, _, err := r.sys.probe(rel); err == nil {
		return rel, true
	}
	dir, base := path.Split(rel)
	if strings.Contains(base, `\`) || !strings.Contains(dir, `\`) {
		return "", false
	}
	_, _, err = r.sys.probe(strings.TrimSuffix(dir, "/"))
	return rel, err == nil
}

func (r *Root) cleanSlashes(op, user string) (string, error) {
	fail := func(k fault.Code, err error) (string, error) {
		return "", &fault.PathError{Op: op, Path: user, Kind: k, Err: err}
	}
	rel := user
	if isAbs(user) {
		abs := path.Clean(user)
		if in, ok := r.inside(abs); ok {
			rel = in
		} else if strings.HasPrefix(abs, "/") && !(backslashSeparates && strings.HasPrefix(user, "//")) {
			rel = abs[1:]
			if first, _, more := strings.Cut(rel, "/"); more {
				if _, _, err := r.sys.probe(first); err != nil {
					return fail(fault.OutsideRoot, errAbsolute)
				}
			}
		} else {
			return fail(fault.OutsideRoot, errAbsolute)
		}
	}
	rel = path.Clean(rel)
	switch {
	case rel == ".":
		return "", nil
	case rel == "..", strings.HasPrefix(rel, "../"):
		return fail(fault.OutsideRoot, errLeaves)
	}
	if err := checkRel(rel); err != nil {
		return fail(fault.InvalidArgument, err)
	}
	return rel, nil
}

// inside removes the root's own path, in either spelling, from a cleaned absolute path.
func (r *Root) inside(abs string) (string, bool) {
	for _, root := range [...]string{r.dir, r.real} {
		root = path.Clean(filepath.ToSlash(root))
		if pathEqual(abs, root) {
			return "", true
		}
		prefix := strings.TrimSuffix(root, "/") + "/"
		if len(abs) > len(prefix) && pathEqual(abs[:len(prefix)], prefix) {
			return abs[len(prefix):], true
		}
	}
	return "", false
}

// isAbs also recognizes drive letters on every system: "C:/x" is meant as an absolute
// path everywhere.
func isAbs(p string) bool {
	if strings.HasPrefix(p, "/") {
		return true
	}
	return len(p) >= 3 && p[1] == ':' && p[2] == '/' && (p[0]|0x20) >= 'a' && (p[0]|0x20) <= 'z'
}

// maxSwaps bounds how often a path that changes under us is resolved again; an attacker
// who wins every time gets an error, not an answer.
const maxSwaps = 16

// follow resolves the symlinks of a cleaned path and applies the policy to the written path and to its
// target.
func (r *Root) follow(op, user, rel string, last lastName) (Path, error) {
	written := Path{rel}
	// Secrets are files, and the type of the entry is known only at the end.
	if err := r.policy.check(op, user, written, true); err != nil {
		return Path{}, err
	}
	p, t, err := r.locate(op, user, rel, last)
	if err != nil {
		return Path{}, err
	}
	isDir := t == TypeDir
	if err := r.policy.check(op, user, written, isDir); err != nil {
		return Path{}, err
	}
	if r.policy.ClosesTrash(p.s) {
		return Path{}, r.policy.refusal(op, user, p, policy.Denied)
	}
	if p != written {
		if err := r.policy.check(op, user, p, isDir); err != nil {
			return Path{}, err
		}
	}
	return p, nil
}

// locate finds the target of rel and its type; TypeUnknown means that nothing exists there.
func (r *Root) locate(op, user, rel string, last lastName) (Path, Type, error) {
	t, _, err := r.sys.probe(rel)
	if err == nil && (t != TypeSymlink || last != followed) {
		p, t, err := r.spelled(op, user, rel, t, last) // the usual case: one look
		if !errors.Is(err, file.ErrSwapped) {
			return p, t, err
		}
	}
	for range maxSwaps {
		p, t, err := r.walkLinks(op, user, rel, last)
		if err == nil {
			p, t, err = r.spelled(op, user, p.s, t, last)
		}
		if !errors.Is(err, file.ErrSwapped) {
			return p, t, err
		}
	}
	return Path{}, TypeUnknown, &fault.PathError{Op: op, Path: user, Kind: fault.Conflict, Err: errChangedUnder}
}

// spelled returns a path in the spelling of the disk, for names with several spellings:
// the policy applies to that one. The last name may stay as typed.
func (r *Root) spelled(op, user, rel string, t Type, last lastName) (Path, Type, error) {
	s, err := r.sys.spelling(rel, last == asTyped)
	if err != nil && !errors.Is(err, file.ErrSwapped) {
		err = &fault.PathError{Op: op, Path: user, Kind: fault.InvalidArgument, Err: err}
	}
	return Path{s}, t, err
}

// walkLinks resolves rel one name at a time. done never contains a symlink, so ".." in a
// link's target may simply drop its last name.
func (r *Root) walkLinks(op, user, rel string, last lastName) (Path, Type, error) {
	fail := func(k fault.Code, err error) (Path, Type, error) {
		return Path{}, TypeUnknown, &fault.PathError{Op: op, Path: user, Kind: k, Err: err}
	}
	done, rest, links, missing := "", rel, 0, false
	found := TypeDir
	for rest != "" {
		var name string
		name, rest, _ = strings.Cut(rest, "/")
		switch name {
		case "", ".":
			continue
		case "..":
			if done == "" {
				return fail(fault.OutsideRoot, errLinkLeaves)
			}
			done = Path{done}.Dir().s
			missing, found = false, TypeDir
			continue
		}
		next := Path{done}.child(name).s
		if missing {
			done = next
			continue
		}
		t, target, err := r.sys.probe(next)
		switch {
		case err != nil && kindOfErrno(err) == fault.NotFound:
			missing, found = true, TypeUnknown
			done = next
			continue
		case errors.Is(err, file.ErrSwapped):
			return Path{}, TypeUnknown, err
		case err != nil:
			return Path{}, TypeUnknown, Wrap(op, user, err)
		}
		found = t
		if t != TypeSymlink || rest == "" && last != followed {
			done = next
			continue
		}
		if links++; links > maxLinks {
			return fail(fault.InvalidArgument, errTooManyLinks)
		}
		if isAbs(target) || filepath.IsAbs(target) {
			in, ok := r.inside(path.Clean(filepath.ToSlash(target)))
			if !ok {
				return fail(fault.OutsideRoot, errLinkLeaves)
			}
			done, target = "", in
		}
		rest = strings.TrimSuffix(filepath.ToSlash(target)+"/"+rest, "/")
	}
	if err := checkRel(done); err != nil {
		return fail(fault.InvalidArgument, err)
	}
	return Path{done}, found, nil
}

// again resolves a Path whose folders were swapped since it was made.
func (r *Root) again(op string, p Path) (Path, error) {
	return r.follow(op, p.String(), p.s, followed)
}
