package rootfs

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows"
)

var (
	errStream    = errors.New("a name can't contain a colon here: it would name a stream of the file")
	errCharacter = errors.New(`a name can't contain any of < > " | ? * or a control character here`)
	errTail      = errors.New("a name can't end in a dot or a space here: the system would drop it")
	errDevice    = errors.New("the name belongs to a device on this system")
)

// checkTyped refuses names that mean something else to this system than a file
// of that name. Our own calls would take them literally, but what we made so
// nobody else could open. What is on the disk already is listed and searched.
func checkTyped(rel string) error {
	for name := range strings.SplitSeq(rel, "/") {
		for i := 0; i < len(name); i++ {
			switch c := name[i]; {
			case c == ':':
				return errStream
			case c < 0x20, strings.IndexByte(`<>"|?*`, c) >= 0:
				return errCharacter
			}
		}
		if n := len(name); n > 0 && (name[n-1] == '.' || name[n-1] == ' ') {
			return errTail
		}
		if isDevice(name) {
			return errDevice
		}
	}
	return nil
}

// CheckTyped is checkTyped for a path as a person types it, before the system makes
// another one of it: it drops the dot of "a.md." and opens a device for "NUL".
func CheckTyped(given string) error {
	given = strings.ReplaceAll(given[len(filepath.VolumeName(given)):], `\`, "/")
	for name := range strings.SplitSeq(given, "/") {
		if name == "." || name == ".." {
			continue
		}
		if err := checkTyped(name); err != nil {
			return err
		}
	}
	return nil
}

// isDevice knows the names of devices, which keep their meaning with any
// extension and with spaces before it.
func isDevice(name string) bool {
	stem, _, _ := strings.Cut(name, ".")
	stem = strings.ToUpper(strings.TrimRight(stem, " "))
	switch stem {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$":
		return true
	}
	port, ok := strings.CutPrefix(stem, "COM")
	if !ok {
		port, ok = strings.CutPrefix(stem, "LPT")
	}
	if !ok {
		return false
	}
	switch port {
	case "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "¹", "²", "³":
		return true
	}
	return false
}

// spelling returns rel as the disk spells it: true case, long names. Of a path
// that doesn't exist, the folders that do are spelled so. With typed set, the
// last name stays as typed if it differs in case only: renaming may change just
// that.
//
// It also is a second lock: what the system says is open must lie in the root.
func (s *sysRoot) spelling(rel string, typed bool) (string, error) {
	if rel == "" {
		return "", nil
	}
	top, err := s.root().finalPath("")
	if err != nil {
		return unspelled(rel)
	}
	known, tail := rel, ""
	for known != "" {
		dir, base, err := s.openParent(known)
		var full string
		if err == nil {
			full, err = dir.finalPath(base)
			dir.close()
		}
		if err == nil {
			in, ok := strings.CutPrefix(full, strings.TrimSuffix(top, `\`)+`\`)
			if !ok {
				return "", errSwapped
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
		return "", errSwapped
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

// finalPath is of an entry, or of the folder itself by the empty name.
func (d *dirHandle) finalPath(name string) (path string, err error) {
	err = d.with(name, accessInfo, func(h windows.Handle) error {
		path, err = finalPath(h)
		return err
	})
	return path, err
}
