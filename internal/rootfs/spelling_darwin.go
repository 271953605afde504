package rootfs

import (
	"errors"
	"io/fs"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// spelling returns rel as the disk spells it: most volumes here ignore case and
// Unicode forms. Of a path that doesn't exist, the folders that do are spelled
// so. With typed set, the last name stays as typed if it differs in case or form
// only: renaming may change just that.
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
			full, err = dir.Path(".") // a link can't be opened itself
			full += "/" + base
		}
		if dir != nil {
			dir.Close()
		}
		if err == nil {
			in, ok := strings.CutPrefix(full, strings.TrimSuffix(top, "/")+"/")
			if !ok || (Path{in}).Depth() != (Path{known}).Depth() {
				return rel, nil // a file of several names: its path is one of them
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
