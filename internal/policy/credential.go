package policy

import (
	"bytes"
	"slices"
	"strings"
)

// MaxJudged is the size of the largest file checked for credentials. Larger ones count as
// secrets.
const MaxJudged = 1 << 20

// IsSecretText reports whether a file that is checked by content is a secret.
func IsSecretText(text []byte) bool { return len(text) > MaxJudged || HoldsCredential(text) }

// HoldsCredential reports whether a line of a settings file looks like a credential: a
// token, key or password with a value; the token of a known service; a URL with a
// password; or a private key. References and placeholders (${TOKEN}, $(pass show x),
// <your token>) don't count as values.
func HoldsCredential(text []byte) bool {
	if bytes.IndexByte(text, 0) >= 0 { // UTF-16, as written by some Windows editors
		text = bytes.ReplaceAll(text, []byte{0}, nil)
	}
	waits := false // a credential's value may be on the following lines, as in ini files
	for l := range bytes.Lines(text) {
		line := string(l)
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || strings.ContainsRune("#;", rune(words[0][0])): // skip
		case waits && strings.ContainsRune(" \t", rune(line[0])) && isValue(words[0]):
			return true
		default:
			waits = false
		}
		holds, open := lineHolds(line)
		if holds {
			return true
		}
		waits = waits || open
	}
	return false
}

// lineHolds checks one line. open is set if it ends with the name of a credential without
// a value.
func lineHolds(line string) (holds, open bool) {
	if strings.Contains(line, "-----BEGIN") && strings.Contains(line, "PRIVATE KEY") {
		return true, false
	}
	if hasPasswordInAddress(line) {
		return true, false
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
			return false, open
		}
		key := strings.TrimRight(before, " \t")
		key = key[strings.LastIndexAny(key, " \t;&")+1:]
		words := strings.Fields(after)
		prose := comment && len(words) > 1
		named := namesCredential(key)
		switch {
		case len(words) == 0:
			open = named && !comment
		case prose:
		case words[0][0] == '#' && after[0] != '#': // a comment
		case words[0][0] == '<' && strings.Contains(after, ">"): // <your token>
		case named && isValue(words[0]), looksIssued(words[0]):
			return true, false
		}
		bare = after
	}
}

// namesCredential reports whether a key contains a word for a credential.
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
	case "key", "pas", "pwd", "auth", "credential", "passphrase", "authorization", "apikey", "accesskey", "secretkey", "privatekey", "dsn", "jwt":
		return true
	}
	return slices.ContainsFunc([]string{"token", "secret", "password", "passwd"}, func(end string) bool { return strings.HasSuffix(word, end) })
}

// isValue reports whether v is a value rather than a reference, a placeholder or a
// switch.
func isValue(v string) bool {
	v = strings.TrimSpace(strings.Trim(v, `"'`+"`"))
	if v == "" || isPlaceholder(v) {
		return false
	}
	switch v[0] {
	case '$':
		return !isReference(v)
	case '%': // %NAME% and %(name)s
		return !strings.HasPrefix(v, "%(") && !strings.Contains(v[1:], "%")
	case '{': // {password}, {NAME} and {{ name }}; {abc}, JSON and {SSHA}… are values
		inner, _ := strings.CutSuffix(v[1:], "}")
		named := strings.Trim(inner, letters+"_-. ") == "" && (namesCredential(inner) || inner == strings.ToUpper(inner))
		return !named && inner[0] != '{'
	case '#':
		return isValue(v[1:])
	}
	return true
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

func isPlaceholder(v string) bool {
	rest := v // ghp_xxx is a placeholder too
	for _, p := range issuedPrefixes {
		rest = strings.TrimPrefix(rest, p)
	}
	switch strings.ToLower(v) {
	case "true", "false", "yes", "no", "on", "off", "null", "none", "nil", "0", "1", "todo", "example", "placeholder", "dummy",
		"changeme", "change-me", "change_me", "replaceme", "replace-me", "replace_me":
		return true
	}
	rest = strings.ToLower(rest)
	return slices.ContainsFunc([]string{"your", "xxx", "***", "...", "…"}, func(p string) bool { return strings.HasPrefix(rest, p) })
}

// isReference judges a text that begins with a dollar sign: $NAME, ${NAME}, $(command) are
// references, also with a path after them. The default in ${NAME:-default} is a value, and so
// is a hash such as $2b$12$….
func isReference(v string) bool {
	switch rest := v[1:]; {
	case strings.HasPrefix(rest, "("):
		return true
	case strings.HasPrefix(rest, "{"):
		inner, after, _ := strings.Cut(rest[1:], "}")
		name := strings.TrimLeft(inner, letters+"0123456789_")
		name = strings.TrimPrefix(name, ":")
		if name != "" && strings.ContainsRune("-=", rune(name[0])) && isValue(name[1:]) {
			return false
		}
		return !isSecretTail(after)
	default:
		after := strings.TrimLeft(rest, letters+"0123456789_")
		if id := len(rest) - len(after); strings.HasPrefix(after, "$") && id <= 10 && !strings.Contains(rest[:id], "_") && len(after) > 15 {
			return false // $y$j9T$…
		}
		return !isSecretTail(after)
	}
}

// isSecretTail reports whether the text after a possible reference rules that out: the
// password $tr0ng!pass begins like one.
func isSecretTail(after string) bool {
	return len(after) > 3 && !strings.ContainsRune("/.:-_@$,;&|", rune(after[0]))
}

// issuedPrefixes are the prefixes of services' tokens, whatever the key's name.
var issuedPrefixes = [...]string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xoxb-", "xoxp-", "xapp-", "npm_", "pypi-",
	"sk_live_", "sk-ant-", "sk-proj-", "AKIA", "ASIA", "AIza", "eyJ", "hf_", "dop_v1_", "SG."}

// minIssued is the minimal length of such a token after its prefix.
const minIssued = 12

// looksIssued reports whether a value has the shape of a service's token.
func looksIssued(v string) bool {
	v = strings.Trim(v, `"'`+"`,")
	for _, p := range issuedPrefixes {
		if rest, ok := strings.CutPrefix(v, p); ok && len(rest) >= minIssued && !isPlaceholder(v) && strings.ContainsAny(rest, "0123456789") && !strings.ContainsAny(rest, " <>${}*/") {
			return p != "eyJ" || strings.Count(rest, ".") == 2
		}
	}
	return false
}

// hasPasswordInAddress reports whether a line contains scheme://user:password@host.
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
