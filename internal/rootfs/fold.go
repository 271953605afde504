package rootfs

import (
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"quarry/fault"
)

// maxFoldMatches limits the work of ResolveFold in a tree with many similar names.
const maxFoldMatches = 32

// ResolveFold is Resolve for an existing file whose name the user may have written in
// another case or Unicode form. It prefers the exact path, then a path equal in NFC, then
// a path equal in NFC ignoring case. If several paths are equal, the error is Ambiguous; if
// none is, NotFound.
func (r *Root) ResolveFold(user string) (Path, error) {
	const op = "resolve"
	p, err := r.resolve(op, user, followed)
	if err != nil && KindOf(err) != fault.NotFolder {
		return Path{}, err
	}
	if err == nil {
		if _, _, err := r.sys.probe(p.s); err == nil {
			return p, nil
		}
	}
	rel, err := r.clean(op, user)
	if err != nil {
		return Path{}, err
	}
	f := folding{root: r, names: strings.Split(rel, "/")}
	f.walk("", true)
	matches := f.nfc
	if len(matches) == 0 {
		matches = f.folded
	}
	switch len(matches) {
	case 0:
		return Path{}, &fault.PathError{Op: op, Path: user, Kind: fault.NotFound}
	case 1:
		return r.resolve(op, matches[0], followed)
	}
	slices.Sort(matches)
	return Path{}, &fault.PathError{Op: op, Path: user, Kind: fault.AmbiguousPath, Matches: matches}
}

// folding collects the existing paths that fold to the wanted names.
type folding struct {
	root        *Root
	names       []string
	nfc, folded []string
}

// walk looks for the remaining names in prefix, an existing folder.
func (f *folding) walk(prefix string, nfc bool) {
	depth := Path{prefix}.Depth()
	if depth == len(f.names) {
		if nfc {
			f.nfc = append(f.nfc, prefix)
		} else {
			f.folded = append(f.folded, prefix)
		}
		return
	}
	dir, err := f.root.follow("resolve", prefix, prefix, followed)
	if err != nil {
		return // leads outside or into something denied
	}
	entries, err := f.root.List(dir)
	if err != nil {
		return
	}
	want := norm.NFC.String(f.names[depth])
	for _, e := range entries {
		if len(f.nfc)+len(f.folded) >= maxFoldMatches {
			return
		}
		have := norm.NFC.String(e.Name)
		if have == want {
			f.walk(Path{prefix}.child(e.Name).s, nfc)
		} else if strings.EqualFold(have, want) {
			f.walk(Path{prefix}.child(e.Name).s, false)
		}
	}
}
