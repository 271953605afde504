package policy

import (
	"bytes"
	"slices"
	"strings"
)

// MaxJudged is the largest file whose content is judged; a larger one counts as a
// secret.
const MaxJudged = 1 << 20

// HoldsCredential reports whether a line of a settings file looks like a credential:
// a token, key or password with a value, an address with a password in it, or a
// private key. A value that is taken from elsewhere (${TOKEN}, $(pass show x),
// <your token>) is none.
func HoldsCredential(text []byte) bool {
	if bytes.IndexByte(text, 0) >= 0 { // UTF-16, as some editors on Windows write it
		text = bytes.ReplaceAll(text, []byte{0}, nil)
	}
	for line := range bytes.Lines(text) {
		if lineHolds(string(line)) {
			return true
		}
	}
	return false
}

func lineHolds(line string) bool {
	if strings.Contains(line, "-----BEGIN") && strings.Contains(line, "PRIVATE KEY") {
		return true
	}
	if hasPasswordInAddress(line) {
		return true
	}
	bare := strings.TrimLeft(line, "#; \t")
	comment := strings.ContainsAny(line[:len(line)-len(bare)], "#;")
	sep := "="
	if !strings.Contains(bare, sep) {
		sep = ":"
	}
	for {
		before, after, ok := strings.Cut(bare, sep)
		if !ok {
			return false
		}
		key := strings.TrimRight(before, " \t")
		key = key[strings.LastIndexAny(key, " \t;&")+1:]
		words := strings.Fields(after)
		prose := comment && len(words) > 1
		if len(words) > 0 && !prose && namesCredential(key) && isValue(words[0]) {
			return true
		}
		bare = after
	}
}

// namesCredential reports whether one of the words of a key says what it is.
func namesCredential(key string) bool {
	word := ""
	for i := 0; i <= len(key); i++ {
		var c byte
		if i < len(key) {
			c = key[i]
		}
		lower, upper := 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z'
		camel := upper && i > 0 && 'a' <= key[i-1] && key[i-1] <= 'z'
		if !lower && !upper || camel {
			if isCredentialWord(word) {
				return true
			}
			word = ""
		}
		if lower || upper {
			word += string(c | 0x20)
		}
	}
	return false
}

func isCredentialWord(word string) bool {
	switch word = strings.TrimSuffix(word, "s"); word {
	case "key", "pas", "pwd", "auth", "credential", "passphrase", "authorization", "apikey", "accesskey", "secretkey", "privatekey", "dsn":
		return true
	}
	return slices.ContainsFunc([]string{"token", "secret", "password", "passwd"}, func(end string) bool { return strings.HasSuffix(word, end) })
}

// isValue is false for what stands for a value: a reference, a placeholder, a switch.
func isValue(v string) bool {
	v = strings.TrimSpace(strings.Trim(v, `"'`+"`"))
	if v == "" || strings.ContainsRune("$<%{#", rune(v[0])) {
		return false
	}
	lower := strings.ToLower(v)
	switch lower {
	case "true", "false", "yes", "no", "on", "off", "null", "none", "nil", "0", "1", "changeme", "change-me", "todo", "...":
		return false
	}
	return !slices.ContainsFunc([]string{"your", "xxx", "***"}, func(p string) bool { return strings.HasPrefix(lower, p) })
}

// hasPasswordInAddress finds scheme://user:password@host.
func hasPasswordInAddress(line string) bool {
	for {
		_, rest, ok := strings.Cut(line, "://")
		if !ok {
			return false
		}
		address, _, _ := strings.Cut(rest, "/")
		if i := strings.IndexAny(address, " \t\"'"); i >= 0 {
			address = address[:i]
		}
		if user, _, ok := cutLast(address, '@'); ok {
			if _, password, ok := strings.Cut(user, ":"); ok && isValue(password) {
				return true
			}
		}
		line = rest
	}
}

func cutLast(s string, sep byte) (before, after string, found bool) {
	if i := strings.LastIndexByte(s, sep); i >= 0 {
		return s[:i], s[i+1:], true
	}
	return s, "", false
}
