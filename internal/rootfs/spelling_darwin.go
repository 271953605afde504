package rootfs

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
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
	top, err := pathOf(s.root().h, ".")
	if err != nil {
		return rel, nil
	}
	known, tail := rel, ""
	for known != "" {
		dir, base, err := s.openParent(known)
		var info Info
		if err == nil {
			info, err = dir.lstat(base)
		}
		var full string
		if err == nil && info.Type != TypeSymlink {
			full, err = pathOf(dir.h, base)
		} else if err == nil {
			full, err = pathOf(dir.h, ".") // a link can't be opened itself
			full += "/" + base
		}
		if dir != nil {
			dir.close()
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

// pathOf asks the kernel for the path of an entry of an open folder.
func pathOf(dir *os.Root, name string) (string, error) {
	f, err := dir.OpenFile(name, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	buf := make([]byte, unix.PathMax)
	var pin runtime.Pinner
	pin.Pin(&buf[0])
	defer pin.Unpin()
	if _, err := unix.FcntlInt(f.Fd(), unix.F_GETPATH, int(uintptr(unsafe.Pointer(&buf[0])))); err != nil {
		return "", err
	}
	n := 0
	for n < len(buf) && buf[n] != 0 {
		n++
	}
	return string(buf[:n]), nil
}
