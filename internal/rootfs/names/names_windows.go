package names

import (
	"errors"
	"path/filepath"
	"strings"
)

var (
	errStream    = errors.New("a name can't contain a colon here: it would name a stream of the file")
	errCharacter = errors.New(`a name can't contain any of < > " | ? * or a control character here`)
	errTail      = errors.New("a name can't end in a dot or a space here: the system would drop it")
	errDevice    = errors.New("the name belongs to a device on this system")
)

// Check refuses names that Windows doesn't treat as plain file names. Our calls would take them literally, but
// other programs could not open the files. Existing files with such names are listed and searched.
func Check(rel string) error {
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

// CheckTyped is Check for a path as a person types it. It must be called before the system
// changes the path: Windows drops the dot of "a.md." and opens a device for "NUL".
func CheckTyped(given string) error {
	given = strings.ReplaceAll(given[len(filepath.VolumeName(given)):], `\`, "/")
	for name := range strings.SplitSeq(given, "/") {
		if name == "." || name == ".." {
			continue
		}
		if err := Check(name); err != nil {
			return err
		}
	}
	return nil
}

// isDevice recognizes names of devices, with any extension and with spaces before it.
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

// Plain removes the prefix \\?\, \\.\ or \??\ from an absolute path on a drive or share.
func Plain(p string) string {
	for _, prefix := range [...]string{`\??\`, `\\?\`, `\\.\`} {
		rest, ok := strings.CutPrefix(p, prefix)
		switch {
		case !ok:
		case len(rest) >= 4 && strings.EqualFold(rest[:4], `UNC\`):
			return `\\` + rest[4:]
		case len(rest) >= 2 && rest[1] == ':':
			return rest
		}
	}
	return p
}
