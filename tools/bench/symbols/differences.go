package main

import (
	"regexp"
	"strings"

	"quarry/internal/symbols"
)

// kinds lists for each language the ctags kinds of functions, types and methods.
var kinds = map[string]string{
	"C": "function struct union enum typedef", "C++": "function struct union enum typedef class",
	"C#": "class enum interface method struct typedef", "Java": "annotation class enum interface method",
	"Kotlin": "class interface object method typealias", "Go": "func type struct interface talias methodSpec",
	"Rust": "struct interface function enum typedef method macro", "Python": "class function member",
	"Ruby": "class module method singletonMethod", "PHP": "class function interface trait", "Perl": "subroutine package",
	"JavaScript": "function class method generator getter setter", "TypeScript": "function class interface enum method alias generator",
	"Elixir": "protocol module function delegate macro guard type", "Haskell": "type function", "Lua": "function", "Sh": "function alias",
	"SQL": "function procedure table view trigger", "Markdown": "chapter section subsection subsubsection l4subsection l5subsection",
}

// compared reports whether a symbol is a function, type or method.
func compared(lang string, s *symbols.Symbol) bool {
	switch s.Kind {
	case symbols.Function, symbols.Method, symbols.Class, symbols.Struct, symbols.Interface, symbols.Enum, symbols.Type, symbols.Heading:
		return true
	case symbols.Module:
		return lang == "Ruby" || lang == "Perl" || lang == "Elixir"
	case symbols.Macro:
		return lang == "Rust" || lang == "Elixir"
	case symbols.Table:
		return lang == "SQL"
	}
	return false
}

// difference is a kind of difference from ctags that is not a mistake of Quarry's. Either ctags is
// wrong about the language, or it defines the symbol kind differently. docs/FIGURES.md has samples.
type difference struct {
	lang, reason string
	extra        bool           // true if only Quarry has the definition
	line         *regexp.Regexp // matches the line of the definition or, if it begins with a slash, the path
	in           func(s *spot, line int) bool
}

var differences = []difference{
	{"C++", "types in functions and what is in them: ours are those that other code can use", false, regexp.MustCompile(`\b(?:struct|class|union|enum|using|typedef)\b|\(`), (*spot).inFunction},
	{"Java", "classes in methods, and their methods", true, regexp.MustCompile(`\(|\bclass\b`), (*spot).inFunction},
	{"Rust", "what is defined between the braces of a macro's call", true, regexp.MustCompile(`\b(?:fn|struct|enum|trait|type|union|macro_rules!)\s`), (*spot).inMacro},
	{"C#", "nullable types, bodies after =>, explicit members and constraints, which version 5.9 doesn't know", true, regexp.MustCompile(`\w\?|\]\?|=>|\bwhere\b|\b\w+\.\w+\s*[(<]|\w<[\w, ]+>\(`), nil},
	{"Haskell", "fields of records are fields, and what where and let define is local", false, regexp.MustCompile(`^\s+[,{|]?\s*[\w']+.*(?:::|=|\|)`), nil},
	{"Sh", "names of aliases with a colon or an exclamation mark", true, regexp.MustCompile(`^\s*alias\s+[\w-]+[:!]`), nil},
	{"Sh", "names of aliases with a colon or an exclamation mark", false, regexp.MustCompile(`^\s*alias\s+[\w-]+[:!]`), nil},
	{"Sh", "an empty array is not a function", false, regexp.MustCompile(`\w=\(\)`), nil},
	{"TypeScript", "types in functions, and after code that version 5.9 loses track in", true, regexp.MustCompile(`^\s*(?:export\s+)?(?:declare\s+)?(?:type|interface|(?:abstract\s+)?class|(?:const\s+)?enum)\s+\w`), nil},
	{"TypeScript", "arrow functions whose arrow is in a later line", true, regexp.MustCompile(`^\s*(?:export\s+)?(?:const|let|var)\s+[\w$]+.*(?:=|[(<{\[,|&])\s*$`), nil},
	{"JavaScript", "arrow functions whose arrow is in a later line", true, regexp.MustCompile(`^\s*(?:export\s+)?(?:const|let|var)\s+[\w$]+.*(?:=|[(<{\[,])\s*$`), nil},
	{"Perl", "the text of a here-document defines nothing", false, regexp.MustCompile(`/skip-heredoc\.d/`), nil},
	{"Elixir", "operators are functions", true, regexp.MustCompile(`/elixir-(?:sign|word)-operators\.d/`), nil},
	{"Java", "records and what is in them: version 5.9 doesn't know them", true, regexp.MustCompile(`/record\.d/`), nil},
	{"Java", "records: version 5.9 doesn't know them", true, regexp.MustCompile(`\brecord\b`), nil},
	{"PHP", "a variable that holds a closure is a variable", false, regexp.MustCompile(`^\s*\$\w+\s*=`), nil},
	{"PHP", "script elements have not begun PHP since version 7", false, regexp.MustCompile(`/(?:php-mode|mode\.php|php-echo-tag)\.d/`), nil},
	{"PHP", "script elements have not begun PHP since version 7", true, regexp.MustCompile(`/(?:php-mode|mode\.php|php-echo-tag)\.d/`), nil},
	{"PHP", "lines that end with a carriage return alone", true, regexp.MustCompile(`/php-heredoc-cr\.d/`), nil},
	{"Python", "lines that end with a carriage return alone", false, regexp.MustCompile(`/newlines-cr\.b/`), nil},
	{"Ruby", "alias and define_method define methods", true, regexp.MustCompile(`\b(?:alias|alias_method|define_method)\b`), nil},
	{"Ruby", "modules and classes written A::B: version 5.9 drops them", true, regexp.MustCompile(`/ruby-modules(?:-indirect)?\.|/ruby-anonymouse-class`), nil},
	{"SQL", "types, indexes, sequences, domains and aggregates", true, regexp.MustCompile(`(?i)\bcreate\b.*\b(?:type|index|sequence|domain|aggregate|synonym|materialized|publication|service|event)\b`), nil},
	{"SQL", "what version 5.9 loses: in schemas, packages and after quotes with dollars", true, regexp.MustCompile(`(?i)^\s*(?:create\b.*\b(?:function|procedure|table|view|trigger)\b|(?:function|procedure)\s+\w)`), nil},
	{"Markdown", "headings as CommonMark has them: up to three blanks before, none in lists and quotes", false, regexp.MustCompile(`/simple-markdown\.d/|/hashtags-utf8\.d/`), nil},
	{"Markdown", "headings as CommonMark has them: up to three blanks before, none in lists and quotes", true, regexp.MustCompile(`/section-prefixed-with-spaces\.d/|/hashtags-utf8\.d/`), nil},
	{"C++", "comparisons between angle brackets: only a compiler can tell", false, regexp.MustCompile(`/(?:template-nested-triangle-brackets|less-than-operator-between-anglebrackets)\.d/`), nil},
	{"C", "di- and trigraphs", false, regexp.MustCompile(`/c-(?:di|tri)graphs\.d/`), nil},
	{"C", "an asm block without braces ends with its line", true, regexp.MustCompile(`/asm-area\.d/`), nil},
	{"JavaScript", "arrow functions are functions", true, regexp.MustCompile(`=>|=\s*async\b`), nil},
	{"TypeScript", "arrow functions are functions", true, regexp.MustCompile(`=>|=\s*async\b|=\s*<`), nil},
	{"JavaScript", "methods of object literals are methods", true, regexp.MustCompile(`^\s*(?:async\s+)?(?:(?:get|set|static)\s+)?[*]?["'\w$]+["']?\s*(?::\s*(?:async\s+)?function\b.*|\(.*\)\s*\{.*)$`), nil},
	{"TypeScript", "methods and signatures in types are methods", true, regexp.MustCompile(`^\s*(?:(?:readonly|static|async|get|set|public|private|protected|abstract|override)\s+)*[\w$"']+\??\s*(?:<.*)?\(`), nil},
	{"JavaScript", noClass, false, regexp.MustCompile(`[:=]\s*(?:\(|\{|[\w.$]+\(|$)`), nil},
	{"JavaScript", "a name that is assigned to prototype is not a class", false, regexp.MustCompile(`\.prototype\b`), nil},
	{"JavaScript", "a private name has its #", true, regexp.MustCompile(`#\w`), nil},
	{"JavaScript", "a private name has its #", false, regexp.MustCompile(`#\w`), nil},
	{"JavaScript", "escapes in names are kept as they are written", false, regexp.MustCompile(`\\u|\\x`), nil},
	{"JavaScript", "escapes in names are kept as they are written", true, regexp.MustCompile(`\\u|\\x`), nil},
	{"Lua", "ctags takes a comparison for a definition", true, regexp.MustCompile(`==`), nil},
	{"Lua", "a name has no dots at its ends", false, regexp.MustCompile(`\.\.|^\s*\.|\.\s*[=(]`), nil},
	{"Sh", "the option of alias is no name", false, regexp.MustCompile(`^\s*alias\s+-`), nil},
	{"Sh", "names of letters only bash's parser lets through", false, regexp.MustCompile(`^(?:function\s+)?\w+[^\w\s(.:+@%-]`), nil},
	{"Sh", "names of letters only bash's parser lets through", true, regexp.MustCompile(`^(?:function\s+)?\w+[^\w\s(.:+@%-]`), nil},
	{"Python", "lambdas in tuples and functions have no name", false, regexp.MustCompile(`,.*\blambda\b|^\s+.*\blambda\b`), nil},
	{"Lua", "a field whose key is a string or a number has no name", false, regexp.MustCompile(`\[['"\d]`), nil},
	{"Lua", "what stands in a string, or is the argument of a call, is not the function named", false, regexp.MustCompile(`(?:lua|command|eval\w*)\(|\[\[|=\s*[\w.:]+\s*\(`), nil},
	{"Lua", "functions in tables and after if are functions", true, regexp.MustCompile(`[{,]\s*\w+\s*=\s*function|\bthen\b.*=\s*function`), nil},
	{"Kotlin", "parameters, loop variables and properties are no methods", false, regexp.MustCompile(`->|\bfor\s*\(|^\s*\w+,?$|^[^(]*\b(?:val|var)\b`), nil},
	{"Kotlin", "named companions, value classes and names in backticks", true, regexp.MustCompile("companion object|value class|`"), nil},
	{"TypeScript", "an imported or exported type is not defined there", false, regexp.MustCompile(`^\s*type \w+(?: as \w+)?,|^\s*extends\b|\bimport\b|^\s*export\s*(?:type\s*)?\{|^\s*\w+,$`), nil},
	{"TypeScript", "functions that version 5.9 loses: in functions, with type parameters, and as named values", true, regexp.MustCompile(`\bfunction\b\s*\*?\s*[\w$]+\s*[(<]|[=:]\s*(?:async\s+)?function\b`), nil},
	{"JavaScript", "functions that version 5.9 loses: in functions, with type parameters, and as named values", true, regexp.MustCompile(`\bfunction\b\s*\*?\s*[\w$]+\s*[(<]|[=:]\s*(?:async\s+)?function\b`), nil},
	{"Kotlin", "functions in functions and of objects are functions", true, regexp.MustCompile(`\bfun\b`), nil},
}

const noClass = "an object literal is not a class"

// spot is a file with the data needed to judge a difference at a line.
type spot struct {
	lang, path string
	lines      []string
	bodies     [][2]int // first and last lines of functions
}

func (s *spot) text(line int) string {
	if line < 1 || line > len(s.lines) {
		return ""
	}
	return s.lines[line-1]
}

// inFunction reports whether a line is in a function that begins above it.
func (s *spot) inFunction(line int) bool {
	for _, b := range s.bodies {
		if b[0] < line && line <= b[1] {
			return true
		}
	}
	return false
}

// inMacro reports whether a line is in the braces of a macro call. The call begins in a line above
// that is indented less than all lines in between.
func (s *spot) inMacro(line int) bool {
	least := indentation(s.text(line))
	for n := line - 1; n > 0; n-- {
		text := s.text(n)
		if strings.TrimSpace(text) == "" || indentation(text) >= least && least > 0 {
			continue
		}
		if macroCall.MatchString(text) {
			return true
		}
		if least = indentation(text); least == 0 {
			return false
		}
	}
	return false
}

var macroCall = regexp.MustCompile(`^\s*[\w:]+!\s*(?:\w+\s*)?[({\[]`)

func indentation(text string) int { return len(text) - len(strings.TrimLeft(text, " \t")) }

// listed returns the known difference that explains a missing or extra definition; "" if it may be
// Quarry's mistake. kind is ctags's kind, or "" if only Quarry has the definition.
func (s *spot) listed(line int, kind string) string {
	for i := range differences {
		d := &differences[i]
		if d.lang != s.lang || d.extra != (kind == "") || d.reason == noClass && kind != "class" {
			continue
		}
		text := s.text(line)
		if strings.HasPrefix(d.line.String(), "/") {
			text = s.path
		}
		if d.line.MatchString(text) && (d.in == nil || d.in(s, line)) {
			return d.reason
		}
	}
	return ""
}
