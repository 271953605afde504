package symbols

import (
	"bytes"
	"path"
	"strings"
	"sync"
)

// language says how a language is lexed and parsed.
type language struct {
	name    string
	words   *[256]bool // bytes of a word
	suffix  bool       // a word may end in ? or !
	special string     // bytes for which the hook is called
	hook    func(l *lexer, c byte) bool
	begin   func(l *lexer)  // before the first token
	parse   func(p *parser) // reads the tokens
	plain   func(p *parser) // reads the text itself, without tokens
}

// Bytes of words: letters, digits, underscore, all bytes above ASCII, and additions of a
// language.
var (
	plainWord  = wordBytes("")
	dollarWord = wordBytes("$")
	primeWord  = wordBytes("'")
	shellWord  = wordBytes("-.:+@%^,~?*!/")
)

func wordBytes(more string) *[256]bool {
	var t [256]bool
	for c := range t {
		t[c] = c >= 0x80 || c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
	}
	for _, c := range []byte(more) {
		t[c] = true
	}
	return &t
}

func newLanguage(name string, words *[256]bool, special string, hook func(*lexer, byte) bool, parse func(*parser)) *language {
	return &language{name: name, words: words, special: special, hook: hook, parse: parse}
}

func withSuffix(l *language) *language { l.suffix = true; return l }

func withBegin(l *language, begin func(*lexer)) *language { l.begin = begin; return l }

var (
	langC          = newLanguage("C", plainWord, `/"'#`, hookC, parseC)
	langCPP        = newLanguage("C++", plainWord, `/"'#RuUL`, hookC, parseCPP)
	langCSharp     = newLanguage("C#", plainWord, `/"'#@$`, hookCSharp, parseCSharp)
	langJava       = newLanguage("Java", dollarWord, `/"'`, hookCurly, parseJava)
	langKotlin     = newLanguage("Kotlin", plainWord, "/\"'`", hookKotlin, parseKotlin)
	langScala      = newLanguage("Scala", dollarWord, "/\"'`", hookScala, parseScala)
	langSwift      = newLanguage("Swift", plainWord, "/\"#`", hookSwift, parseSwift)
	langGo         = newLanguage("Go", plainWord, "/\"'`", hookGo, parseGo)
	langRust       = newLanguage("Rust", plainWord, `/"'rb`, hookRust, parseRust)
	langZig        = newLanguage("Zig", plainWord, `/"'\@`, hookZig, parseZig)
	langPython     = newLanguage("Python", plainWord, `#"'rRbBuUfF\`, hookPython, parsePython)
	langRuby       = withSuffix(newLanguage("Ruby", plainWord, "#\"'`/%=<_?:", hookRuby, parseRuby))
	langPHP        = withBegin(newLanguage("PHP", dollarWord, "/#\"'<?`", hookPHP, parsePHP), beginPHP)
	langPerl       = newLanguage("Perl", plainWord, "#\"'`/=<_qmsty$", hookPerl, parsePerl)
	langJavaScript = newLanguage("JavaScript", dollarWord, "/\"'`}#", hookJavaScript, parseJavaScript)
	langTypeScript = newLanguage("TypeScript", dollarWord, "/\"'`}#", hookJavaScript, parseTypeScript)
	langElixir     = withSuffix(newLanguage("Elixir", plainWord, `#"'~?`, hookElixir, parseElixir))
	langHaskell    = newLanguage("Haskell", primeWord, `-{"'#`, hookHaskell, parseHaskell)
	langLua        = newLanguage("Lua", plainWord, `-"'[`, hookLua, parseLua)
	langShell      = newLanguage("Shell", shellWord, "#\"'<\\$`", hookShell, parseShell)
	langSQL        = newLanguage("SQL", plainWord, "-/#\"'`[$", hookSQL, parseSQL)
	langMarkdown   = &language{name: "Markdown", plain: parseMarkdown}
)

var byExtension = sync.OnceValue(func() map[string]*language {
	return map[string]*language{
		".c": langC, ".h": langC,
		".cc": langCPP, ".cpp": langCPP, ".cxx": langCPP, ".c++": langCPP, ".hh": langCPP, ".hpp": langCPP, ".hxx": langCPP, ".h++": langCPP,
		".ipp": langCPP, ".inl": langCPP, ".tcc": langCPP, ".cu": langCPP, ".cuh": langCPP, ".ino": langCPP,
		".cs": langCSharp, ".java": langJava, ".kt": langKotlin, ".kts": langKotlin,
		".scala": langScala, ".sc": langScala, ".sbt": langScala, ".swift": langSwift,
		".go": langGo, ".rs": langRust, ".zig": langZig, ".py": langPython, ".pyi": langPython, ".pyw": langPython,
		".rb": langRuby, ".rake": langRuby, ".gemspec": langRuby, ".ru": langRuby,
		".php": langPHP, ".phtml": langPHP, ".php5": langPHP, ".pl": langPerl, ".pm": langPerl, ".t": langPerl,
		".js": langJavaScript, ".mjs": langJavaScript, ".cjs": langJavaScript, ".jsx": langJavaScript,
		".ts": langTypeScript, ".tsx": langTypeScript, ".mts": langTypeScript, ".cts": langTypeScript,
		".ex": langElixir, ".exs": langElixir, ".hs": langHaskell, ".hsc": langHaskell,
		".lua": langLua, ".sh": langShell, ".bash": langShell, ".zsh": langShell, ".ksh": langShell, ".bats": langShell,
		".sql": langSQL, ".md": langMarkdown, ".markdown": langMarkdown, ".mdx": langMarkdown,
	}
})

var byName = sync.OnceValue(func() map[string]*language {
	return map[string]*language{
		"Rakefile": langRuby, "Gemfile": langRuby, "Vagrantfile": langRuby, ".bashrc": langShell, ".bash_profile": langShell,
		".profile": langShell, ".zshrc": langShell, "SConstruct": langPython,
	}
})

var byInterpreter = sync.OnceValue(func() map[string]*language {
	return map[string]*language{
		"sh": langShell, "bash": langShell, "zsh": langShell, "dash": langShell, "ksh": langShell, "python": langPython,
		"ruby": langRuby, "perl": langPerl, "php": langPHP, "node": langJavaScript, "lua": langLua, "elixir": langElixir,
		"deno": langTypeScript, "luajit": langLua, "bats": langShell,
	}
})

func languageOf(p string, text []byte) *language {
	base := path.Base(p)
	ext := path.Ext(base)
	if l := byExtension()[ext]; l != nil {
		if ext == ".h" && looksLikeCPP(text) {
			return langCPP
		}
		return l
	}
	if l := byExtension()[strings.ToLower(ext)]; l != nil {
		if ext == ".C" || ext == ".H" {
			return langCPP
		}
		return l
	}
	if l := byName()[base]; l != nil {
		return l
	}
	return interpreter(text)
}

// interpreter reads the first line of a script: #!/usr/bin/env -S python3 -u.
func interpreter(text []byte) *language {
	if !bytes.HasPrefix(text, []byte("#!")) {
		return nil
	}
	line, _, _ := bytes.Cut(text[2:min(len(text), 200)], []byte("\n"))
	for _, f := range bytes.Fields(line) {
		name := path.Base(string(f))
		if name == "env" || strings.HasPrefix(name, "-") || strings.Contains(name, "=") {
			continue
		}
		return byInterpreter()[strings.TrimRight(name, "0123456789.")]
	}
	return nil
}

// looksLikeCPP reports whether a header is C++, by words that C doesn't have in the first part
// of the text.
func looksLikeCPP(text []byte) bool {
	head := text[:min(len(text), 64<<10)]
	for _, s := range []string{"\nclass ", "\nnamespace ", "\ntemplate ", "\ntemplate<", "\npublic:", "\nprivate:", " public:", " private:", "\nusing namespace ", "constexpr ", "std::"} {
		if bytes.Contains(head, []byte(s)) {
			return true
		}
	}
	return false
}
