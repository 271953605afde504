package policy

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// protectedNames are the folders nobody may look into, at any depth. A file of
// that name is protected too: .git is one in a worktree or a submodule.
var protectedNames = [...]string{".git", ".obsidian", ".smarthole"}

const trashName = ".trash"

// class is what a single name says about itself, before the owner's rules.
type class uint8

const (
	plainName class = iota
	hiddenFromLists
	secretName
	protectedName
)

// classify judges one name. It does not allocate, and costs about 10 ns for an
// ordinary name, because a walker asks it for every entry.
//
// Protected are the names above in every spelling under which some file system
// opens the same folder, also where ours would not: a synced or mounted
// workspace is seen by several systems.
//   - any case, with Unicode's simple folding (ſ is s, K is k) and ı, İ as i;
//   - with ignorable code points inside, as HFS+ drops them (.g\u200cit);
//   - full-width letters (．ｇｉｔ);
//   - trailing dots and spaces, and what follows a colon, as Windows drops
//     them (".git. ", ".git::$INDEX_ALLOCATION");
//   - 8.3 short names (GIT~1, OBSIDI~1, SMARTH~1, any digit).
func classify(name string) class {
	if name == "" {
		return plainName
	}
	// A name can only be special if it starts with a dot, holds a tilde or a
	// non-ASCII byte, has a secret's extension, or starts like a key file.
	special := name[0] == '.'
	if !special {
		switch name[0] | 0x20 {
		case 'i':
			special = true
		default:
			for i := 0; i < len(name); i++ {
				if c := name[i]; c >= utf8.RuneSelf || c == '~' || c == ':' {
					special = true
					break
				}
			}
			if !special {
				return secretExtension(name)
			}
		}
	}
	if strings.HasPrefix(name, TempPrefix) {
		return hiddenFromLists
	}
	var buf [longestFolded]byte
	folded, fits := foldName(buf[:0], name)
	if fits {
		if c := specialFolder(folded); c != plainName {
			return c
		}
	}
	return secretClass(name, folded, fits)
}

// longestFolded bounds the folded form: nothing we compare whole is longer.
const longestFolded = 24

// foldName appends the folded form of name to dst: lower case ASCII where
// possible, ignorable code points dropped, Windows' tail cut. fits is false
// when it is longer than dst can hold; dst then holds its start.
func foldName(dst []byte, name string) (folded []byte, fits bool) {
	for i := 0; i < len(name); {
		c := name[i]
		if c < utf8.RuneSelf {
			i++
			if c == ':' && i > 1 {
				break
			}
			if 'A' <= c && c <= 'Z' {
				c |= 0x20
			}
		} else {
			r, n := utf8.DecodeRuneInString(name[i:])
			i += n
			if ignorable(r) {
				continue
			}
			c = foldRune(r)
		}
		if len(dst) == cap(dst) {
			return dst, false
		}
		dst = append(dst, c)
	}
	for len(dst) > 1 && (dst[len(dst)-1] == '.' || dst[len(dst)-1] == ' ') {
		dst = dst[:len(dst)-1]
	}
	return dst, true
}

// foldRune maps a non-ASCII rune to the ASCII letter it folds to, or to a byte
// that equals nothing.
func foldRune(r rune) byte {
	switch {
	case r == 'ı' || r == 'İ':
		return 'i'
	case r >= 0xFF01 && r <= 0xFF5E: // full-width forms
		r -= 0xFEE0
		if 'A' <= r && r <= 'Z' {
			r |= 0x20
		}
		return byte(r)
	}
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		if f < utf8.RuneSelf {
			return byte(unicode.ToLower(f))
		}
	}
	return 0xFF
}

// ignorable lists the code points without a shape of their own that some file
// system or display drops.
func ignorable(r rune) bool {
	switch {
	case r == 0xAD, r == 0x34F, r == 0x61C, r == 0x180E, r == 0xFEFF:
		return true
	case r >= 0x200B && r <= 0x200F, r >= 0x202A && r <= 0x202E, r >= 0x2060 && r <= 0x206F:
		return true
	case r >= 0xFE00 && r <= 0xFE0F, r >= 0xE0000 && r <= 0xE0FFF:
		return true
	}
	return false
}

func specialFolder(folded []byte) class {
	if len(folded) < 4 {
		return plainName
	}
	if folded[0] == '.' {
		switch string(folded) {
		case ".git", ".obsidian", ".smarthole":
			return protectedName
		case trashName:
			return hiddenFromLists
		}
		return plainName
	}
	if n := len(folded); folded[n-2] == '~' && folded[n-1] >= '1' && folded[n-1] <= '9' {
		switch string(folded[:n-2]) {
		case "git", "obsidi", "smarth":
			return protectedName
		}
	}
	return plainName
}

// protectedFolder names the protected folder that name spells, with its slash,
// as messages show it.
func protectedFolder(name string) string {
	var buf [longestFolded]byte
	folded, _ := foldName(buf[:0], name)
	for _, p := range protectedNames {
		short := p[1:min(len(p), 7)]
		if string(folded) == p || folded[0] != '.' && strings.HasPrefix(string(folded), short+"~") {
			return p + "/"
		}
	}
	return name
}

// secretExtension is the test left for a plain ASCII name.
func secretExtension(name string) class {
	n := len(name)
	if n < 5 {
		return plainName
	}
	switch name[n-1] {
	case 'y', 'Y', 'm', 'M', '2', 'x', 'X', '.', ' ':
		name = strings.TrimRight(name, ". ")
		if hasSecretExtension(name) {
			return secretName
		}
	}
	return plainName
}

func hasSecretExtension(name string) bool {
	n := len(name)
	if n < 4 || name[n-4] != '.' {
		return false
	}
	e := [3]byte{name[n-3] | 0x20, name[n-2] | 0x20, name[n-1] | 0x20}
	switch string(e[:]) {
	case "pem", "key", "pfx", "p12":
		return true
	}
	return false
}

// secretClass decides the secret-shaped names, in any case: .env, .env.* but
// .env.example, *.pem, *.key, *.p12, *.pfx, id_rsa*, id_ed25519*. folded is the
// start of the folded name, all of it if whole is set.
func secretClass(name string, folded []byte, whole bool) class {
	switch {
	case hasPrefix(folded, "id_rsa"), hasPrefix(folded, "id_ed25519"):
		return secretName
	case hasPrefix(folded, ".env."):
		if whole && string(folded) == ".env.example" {
			return plainName
		}
		return secretName
	case whole && string(folded) == ".env":
		return secretName
	}
	// The folded tail sees through full-width and ignorable characters.
	if i := strings.IndexByte(name[1:], ':'); i >= 0 {
		name = name[:i+1]
	}
	var tail [4]byte
	for i := len(tail); i > 0; {
		r, n := utf8.DecodeLastRuneInString(name)
		if n == 0 {
			return plainName
		}
		name = name[:len(name)-n]
		c := byte(0xFF)
		switch {
		case ignorable(r), i == len(tail) && (r == '.' || r == ' '):
			continue
		case 'A' <= r && r <= 'Z':
			c = byte(r) | 0x20
		case r < utf8.RuneSelf:
			c = byte(r)
		default:
			c = foldRune(r)
		}
		i--
		tail[i] = c
	}
	switch string(tail[:]) {
	case ".pem", ".key", ".pfx", ".p12":
		return secretName
	}
	return plainName
}

func hasPrefix(b []byte, p string) bool { return len(b) >= len(p) && string(b[:len(p)]) == p }

// TempPrefix starts the name of every temporary file that rootfs makes.
const TempPrefix = ".quarry-tmp-"
