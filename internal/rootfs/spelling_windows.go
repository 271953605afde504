package rootfs

import (
	"errors"
	"io/fs"
	"strings"

	"quarry/internal/rootfs/file"
)

// spelling returns rel as the disk spells it: true case, long names. Of a path
// that doesn't exist, the folders that do are spelled so. With typed set, the
// last name stays as typed if it differs in case only: renaming may change just
// that.
//
// It also is a second lock: the path that the system reports for the open file must be in the root.
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

// spelled takes the disk's spelling, but for the last name of an entry.
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

// unspelled is for volumes that don't tell: a short name would pass the policy
// unrecognised, so there is none.
func unspelled(rel string) (string, error) {
	for name := range strings.SplitSeq(rel, "/") {
		if i := strings.LastIndexByte(name, '~'); i >= 0 && i+1 < len(name) && name[i+1] >= '0' && name[i+1] <= '9' {
			return "", errShortName
		}
	}
	return rel, nil
}

var errShortName = errors.New("the name may be a short one (8.3), and this volume doesn't tell the long one; write the long one")
