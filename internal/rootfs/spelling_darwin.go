package rootfs

import (
	"errors"
	"io/fs"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// spelling returns rel in the spelling of the disk, since most volumes ignore case and
// Unicode forms. If rel doesn't exist, this applies to its existing folders. If typed is set
// and the last name differs only in case or form, it stays as typed, because a rename may
// change only that.
func (s *sysRoot) spelling(rel string, typed bool) (string, error) {
	if rel == "" {
		return "", nil
	}
	top, err := s.root().Path(".")
	if err != nil {
		return rel, nil
	}
	known, tail := rel, ""
	for known != "" {
		dir, base, err := s.openParent(known)
		var info Info
		if err == nil {
			info, err = dir.Lstat(base)
		}
		var full string
		if err == nil && info.Type != TypeSymlink {
			full, err = dir.Path(base)
		} else if err == nil {
			full, err = dir.Path(".") // a symlink can't be opened
			full += "/" + base
		}
		if dir != nil {
			dir.Close()
		}
		if err == nil {
			in, ok := strings.CutPrefix(full, strings.TrimSuffix(top, "/")+"/")
			if !ok || (Path{in}).Depth() != (Path{known}).Depth() {
				return rel, nil // a file with several names, and the kernel returned another one
			}
			t, d := Path{known}, Path{in}
			if !sameSpelling(t.Base(), d.Base()) {
				return rel, nil // likewise
			}
			if known = in; typed && tail == "" {
				known = d.Dir().child(t.Base()).s
			}
			break
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return rel, nil
		}
		tail = Path{base}.child(tail).s
		known = Path{known}.Dir().s
	}
	return strings.Trim(known+"/"+tail, "/"), nil
}

func sameSpelling(a, b string) bool {
	return strings.EqualFold(norm.NFC.String(a), norm.NFC.String(b))
}
