package policy

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// class is how the built-in policy classifies a name.
type class uint8

const (
	plainName class = iota
	hiddenFromLists
	suspectName // a secret if the content has a credential
	secretName
	protectedName
)

// Version must be increased when the names below change, because an index stores their
// classes.
const Version = 3

// Names of files that contain credentials, folded. docs/MCP.md lists them for users, and
// TestDocumentedNames compares the lists.
var (
	secretPrefixes   = [...]string{"id_rsa", "id_ed25519", "id_ecdsa", "id_dsa"}
	secretExtensions = [...]string{".pem", ".key", ".p12", ".pfx", ".ppk", ".jks", ".kdbx"}
	secretNames      = [...]string{".env", ".netrc", "_netrc", ".pgpass", ".git-credentials", ".vault-token"}
	// .env files with these extensions are not secret: they are meant to be copied.
	openExtensions = [...]string{".example", ".sample", ".template", ".dist"}
	// Files that exist in every project but only sometimes contain credentials.
	suspectNames     = [...]string{".npmrc", ".pypirc", ".envrc"}
	suspectExtension = ".env"
	// Extensions of backups; the backup of a secret is a secret.
	backupExtensions = [...]string{"~", ".bak", ".old", ".orig", ".save", ".swp"}
	// Files whose names are meaningful only with their folder.
	secretInFolder = [...][2]string{{".aws", "credentials"}, {".kube", "config"}, {".docker", "config.json"}}
)

// classify judges one name. It does not allocate, and costs about 10 ns for an ordinary name,
// because a walker calls it for every entry.
//
// The names of protected.txt are protected in every spelling under which some file system
// opens the same folder, even if this system would not: a synced or mounted workspace is
// used by several systems. Secret names are treated likewise.
//   - any case, with Unicode's simple folding (ſ is s, K is k) and ı, İ as i;
//   - with ignorable code points inside, which HFS+ drops (.g\u200cit);
//   - full-width letters (．ｇｉｔ);
//   - trailing dots and spaces, and the text after a colon, which Windows drops
//     (".git. ", ".git::$INDEX_ALLOCATION");
//   - 8.3 short names (GIT~1, any digit).
func classify(name string) class {
	if isPlain(name) {
		return plainName
	}
	if strings.HasPrefix(name, TempPrefix) {
		return hiddenFromLists
	}
	var buf [longestFolded]byte
	folded := foldName(buf[:0], name)
	if c := specialFolder(folded); c != plainName {
		return c
	}
	return secretClass(folded)
}

// isPlain reports true for most ordinary names, quickly: ASCII names without a tilde or
// colon that don't start with a dot, underscore, dollar sign or i, and don't end in the
// last three letters of a special name.
func isPlain(name string) bool {
	n := len(name)
	if n == 0 {
		return true
	}
	switch name[0] | 0x20 {
	case '.', 'i', '_' | 0x20, '$':
		return false
	}
	for i := 0; i < n; i++ {
		if c := name[i]; c >= utf8.RuneSelf || c == '~' || c == ':' {
			return false
		}
	}
	return n < 4 || !endsLikeSecret(name) && name[n-1] != '.' && name[n-1] != ' '
}

// endsLikeSecret reports whether the last letters may be those of a secret's or a
// backup's extension.
func endsLikeSecret[T string | []byte](name T) bool {
	n := len(name)
	if n < 4 {
		return n > 0 && name[n-1] == '~'
	}
	const lower = 0x202020
	switch uint32(name[n-3])<<16 | uint32(name[n-2])<<8 | uint32(name[n-1]) | lower {
	case 'p'<<16 | 'e'<<8 | 'm', 'k'<<16 | 'e'<<8 | 'y', 'p'<<16 | '1'<<8 | '2', 'p'<<16 | 'f'<<8 | 'x', 'p'<<16 | 'p'<<8 | 'k',
		'j'<<16 | 'k'<<8 | 's', 'd'<<16 | 'b'<<8 | 'x', 'e'<<16 | 'n'<<8 | 'v',
		'b'<<16 | 'a'<<8 | 'k', 'o'<<16 | 'l'<<8 | 'd', 'r'<<16 | 'i'<<8 | 'g' /* orig */, 'a'<<16 | 'v'<<8 | 'e' /* save */, 's'<<16 | 'w'<<8 | 'p':
		return true
	}
	return name[n-1] == '~'
}

// longestFolded limits the folded form of a name, with one byte per character. No file
// system has longer names.
const longestFolded = 256

// foldName appends the folded form of name to dst, up to dst's capacity. Letters become
// lower-case ASCII where possible; ignorable code points, and endings that Windows drops,
// are removed.
func foldName(dst []byte, name string) []byte {
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
			break
		}
		dst = append(dst, c)
	}
	for len(dst) > 1 && (dst[len(dst)-1] == '.' || dst[len(dst)-1] == ' ') {
		dst = dst[:len(dst)-1]
	}
	return dst
}

// foldRune returns the ASCII letter that a non-ASCII rune folds to, or a byte that is in
// no special name.
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

// ignorable reports whether a code point is invisible and some file system or display
// drops it.
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
	if isTrash(folded) {
		return hiddenFromLists
	}
	if folded[0] == '.' {
		for _, p := range protectedFolders() {
			if string(folded) == p.name {
				return protectedName
			}
		}
		return plainName
	}
	if n := len(folded); folded[n-2] == '~' && folded[n-1] >= '1' && folded[n-1] <= '9' {
		for _, p := range protectedFolders() {
			if string(folded[:n-2]) == p.short {
				return protectedName
			}
		}
	}
	return plainName
}

// protectedFolder returns the protected folder that name is a spelling of, with a slash,
// for messages.
func protectedFolder(name string) string {
	var buf [longestFolded]byte
	folded := foldName(buf[:0], name)
	for _, p := range protectedFolders() {
		if string(folded) == p.name || folded[0] != '.' && strings.HasPrefix(string(folded), p.short+"~") {
			return p.name + "/"
		}
	}
	return name
}

// secretClass classifies a folded name as secret or suspect.
func secretClass(folded []byte) class {
	if len(folded) == 0 {
		return plainName
	}
	if folded[0] == 'i' {
		for _, p := range secretPrefixes {
			if hasPrefix(folded, p) {
				return secretName
			}
		}
	}
	if hasPrefix(folded, ".env.") {
		for _, e := range openExtensions {
			if hasSuffix(folded, e) {
				return plainName
			}
		}
		return secretName
	}
	ends := endsLikeSecret(folded)
	if !ends && folded[0] != '.' && folded[0] != '_' {
		return plainName
	}
	folded = original(folded)
	if ends {
		for _, e := range secretExtensions {
			if hasSuffix(folded, e) {
				return secretName
			}
		}
	}
	for _, n := range secretNames {
		if string(folded) == n {
			return secretName
		}
	}
	for _, n := range suspectNames {
		if string(folded) == n {
			return suspectName
		}
	}
	if ends && hasSuffix(folded, suspectExtension) {
		return suspectName
	}
	return plainName
}

// A conflict copy keeps content written by another program. Its name has ConflictInfix
// and ConflictHex digits before the extension.
const (
	ConflictInfix = ".conflict-"
	ConflictHex   = 8
)

// original removes the extensions of backups and conflict copies from a folded name.
func original(folded []byte) []byte {
	for again := true; again; {
		again = false
		for _, e := range backupExtensions {
			if len(folded) > len(e) && hasSuffix(folded, e) {
				folded, again = folded[:len(folded)-len(e)], true
			}
		}
		if stem := len(folded) - len(ConflictInfix) - ConflictHex; stem > 0 && hasPrefix(folded[stem:], ConflictInfix) {
			folded, again = folded[:stem], true
		}
	}
	return folded
}

// isSecretIn reports whether a file is secret because of its folder. An item in a trash
// may come from any folder.
func isSecretIn(dir, name string) bool {
	above, parent := dir[:max(strings.LastIndexByte(dir, '/'), 0)], dir[strings.LastIndexByte(dir, '/')+1:]
	trashed := InTrash(dir)
	if !trashed && !mayHoldSecrets(parent) {
		return false
	}
	item := trashed && (!InTrash(above) || holdsItems(parent))
	if trashed {
		parent, name = untrashed(parent), untrashed(name)
	}
	var folder, file [longestFolded]byte
	at, is := foldName(folder[:0], parent), original(foldName(file[:0], name))
	if trashed && hasPrefix(at, recycled) {
		item = true
	} else if trashed && hasPrefix(is, recycled) {
		return true
	}
	for _, s := range secretInFolder {
		if (item || string(at) == s[0]) && string(is) == s[1] {
			return true
		}
	}
	return false
}

// mayHoldSecrets returns false for most folders in which only a file's name matters.
func mayHoldSecrets(dir string) bool {
	return len(dir) > 1 && (dir[0] == '.' || dir[0] >= utf8.RuneSelf)
}

func hasPrefix(b []byte, p string) bool { return len(b) >= len(p) && string(b[:len(p)]) == p }
func hasSuffix(b []byte, p string) bool { return len(b) >= len(p) && string(b[len(b)-len(p):]) == p }

// TempPrefix is the prefix of every temporary file of rootfs.
const TempPrefix = ".quarry-tmp-"
