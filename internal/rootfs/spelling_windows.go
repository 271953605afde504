package rootfs

import (
	"errors"
	"io/fs"
	"strings"

	"quarry/internal/rootfs/file"
)

// spelling returns rel in the spelling of the disk, with true case and long names. If rel
// doesn't exist, this applies to its existing folders. If typed is set and the last name
// differs only in case, it stays as typed, because a rename may change only that.
//
// As a second protection, the path that the system reports for the open file must be in the root.
func (s *sysRoot) spelling(rel string, typed bool) (string, error) {
	if rel == "" {
		return "", nil
	}
	top, err := s.root().FinalPath("")
	if err != nil {
		return unspelled(rel)
	}
	known, tail := rel, ""
	for known != "" {
		dir, base, err := s.openParent(known)
		var full string
		if err == nil {
			full, err = dir.FinalPath(base)
			dir.Close()
		}
		if err == nil {
			in, ok := strings.CutPrefix(full, strings.TrimSuffix(top, `\`)+`\`)
			if !ok {
				return "", file.ErrSwapped
			}
			if known, err = spelled(known, strings.ReplaceAll(in, `\`, "/"), typed && tail == ""); err != nil {
				return "", err
			}
			break
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return unspelled(rel)
		}
		tail = Path{base}.child(tail).s
		known = Path{known}.Dir().s
	}
	return strings.Trim(known+"/"+tail, "/"), nil
}

// spelled returns the disk's spelling. If entry is set, the last name stays as typed.
func spelled(typed, disk string, entry bool) (string, error) {
	t, d := Path{typed}, Path{disk}
	if t.Depth() != d.Depth() {
		return "", file.ErrSwapped
	}
	if entry && strings.EqualFold(t.Base(), d.Base()) {
		return d.Dir().child(t.Base()).s, nil
	}
	return disk, nil
}

// unspelled is for volumes that don't report the spelling. It refuses names that may be
// short names, because the policy would not recognize them.
func unspelled(rel string) (string, error) {
	for name := range strings.SplitSeq(rel, "/") {
		if i := strings.LastIndexByte(name, '~'); i >= 0 && i+1 < len(name) && name[i+1] >= '0' && name[i+1] <= '9' {
			return "", errShortName
		}
	}
	return rel, nil
}

var errShortName = errors.New("this may be a short name (8.3), and the volume doesn't report the long name; write the long name")
