package policy

import (
	"strings"
	"unicode/utf8"
)

// recycled is the prefix of folded names in Windows' recycle bin. Such names keep only
// the original extension.
const recycled = "$r"

// isTrash reports whether a folded name is that of a trash: the workspace's own, or a
// system's at the top of a volume.
func isTrash(folded []byte) bool {
	switch s := string(folded); s {
	case ".trash", ".trashes", "$recycle.bin":
		return true
	default:
		uid, ok := strings.CutPrefix(s, ".trash-")
		return ok && isNumber(uid)
	}
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// holdsItems reports whether a subfolder of a trash contains the deleted entries, as in
// Trash/files and Trashes/UID. In other trashes, the top folder contains them.
func holdsItems(name string) bool { return name == "files" || isNumber(name) }

// InTrash reports whether a path is a trash or inside one.
func InTrash(path string) bool {
	if strings.IndexByte(path, '.') < 0 && isASCII(path) { // nearly every folder
		return false
	}
	for name := range strings.SplitSeq(path, "/") {
		if len(name) < len(".trash") || name[0] != '.' && name[0] != '$' && name[0] < utf8.RuneSelf {
			continue
		}
		var buf [longestFolded]byte
		if isTrash(foldName(buf[:0], name)) {
			return true
		}
	}
	return false
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// untrashed returns the probable original name of an entry in a trash: without the
// numbers and times that programs add to a name already in use. "W 1.md", "W
// 15.04.05.md", "W (1).md", "W.2.md" and "W_1.md" become W.md. It may remove a number
// that was part of the name.
func untrashed(name string) string {
	var b strings.Builder
	for i := 0; i < len(name); {
		end := counterEnd(name[i:])
		if end == 0 {
			b.WriteByte(name[i])
			end = 1
		}
		i += end
	}
	return b.String()
}

// counterEnd returns the length of the separators and digits at the start of s.
func counterEnd(s string) int {
	digits := strings.TrimLeft(s, " ._(-")
	rest := strings.TrimLeft(digits, "0123456789")
	if len(digits) == len(s) || len(rest) == len(digits) {
		return 0
	}
	for _, end := range []string{")", " AM", " PM"} {
		rest = strings.TrimPrefix(rest, end)
	}
	return len(s) - len(rest)
}
