package colour

import "strings"

// entry is a language with its file names and extensions.
type entry struct {
	name, names string
	lang        *Language
}

// Parts shared by languages.
var (
	slashes   = []string{"//"}
	hashes    = []string{"#"}
	starBlock = [][2]string{{"/*", "*/"}}

	double   = quote{open: `"`, close: `"`}
	single   = quote{open: `'`, close: `'`}
	char     = quote{open: `'`, close: `'`, letter: true}
	backtick = quote{open: "`", close: "`", lines: true}
	rawTick  = quote{open: "`", close: "`", lines: true, raw: true}
	triple   = quote{open: `"""`, close: `"""`, lines: true}
	triple1  = quote{open: `'''`, close: `'''`, lines: true}
	doubleML = quote{open: `"`, close: `"`, lines: true}
	singleML = quote{open: `'`, close: `'`, lines: true, raw: true}
)

// words makes a table: words before the bar are keywords, those after it types.
func words(list string) map[string]Class {
	table := map[string]Class{}
	keywords, types, _ := strings.Cut(list, "|")
	for _, w := range strings.Fields(keywords) {
		table[w] = Keyword
	}
	for _, w := range strings.Fields(types) {
		table[w] = Type
	}
	return table
}

// curly returns a C-like language.
func curly(list string, with func(*Language)) *Language {
	l := &Language{line: slashes, block: starBlock, quotes: []quote{double, char}, calls: true, words: words(list)}
	if with != nil {
		with(l)
	}
	return l
}

// hashed returns a language whose comments begin with #.
func hashed(list string, with func(*Language)) *Language {
	l := &Language{line: hashes, quotes: []quote{double, single}, calls: true, words: words(list)}
	if with != nil {
		with(l)
	}
	return l
}

const (
	cWords = `auto break case const continue default do else enum extern for goto if inline register restrict return sizeof static struct
		switch typedef union volatile while NULL true false |
		bool char double float int long short signed unsigned void size_t ssize_t off_t int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t
		u8 u16 u32 u64 s8 s16 s32 s64 uintptr_t intptr_t wchar_t`
	cppWords = `alignas alignof and asm catch class co_await co_return co_yield concept consteval constexpr constinit const_cast decltype delete dynamic_cast
		explicit export final friend mutable namespace new noexcept not nullptr operator or override private protected public reinterpret_cast requires
		static_assert static_cast template this thread_local throw try typeid typename using virtual ` + cWords + ` string vector map set`
	jsWords = `async await break case catch class const continue debugger default delete do else export extends false finally for from function get if import in
		instanceof let new null of return set static super switch this throw true try typeof undefined var void while with yield`
	tsWords = jsWords + ` abstract as asserts declare enum implements infer interface is keyof module namespace override private protected public readonly
		satisfies type unique | any bigint boolean never number object string symbol unknown`
	javaWords = `abstract assert break case catch class const continue default do else enum exports extends final finally for goto if implements import instanceof
		interface module native new non-sealed null package permits private protected public record requires return sealed static strictfp super switch
		synchronized this throw throws transient true false try var volatile while yield | boolean byte char double float int long short void`
	pythonWords = `and as assert async await break class continue def del elif else except finally for from global if import in is lambda match nonlocal not or
		pass raise return try while with yield None True False self cls | bool bytes dict float frozenset int list object set str tuple type`
	shellWords = `if then else elif fi case esac for while until do done in function select time return exit break continue local export readonly declare
		typeset unset shift set source alias trap eval exec`
	sqlWords = `add all alter and any as asc begin between by cascade case check column commit constraint create cross database default delete desc distinct drop
		else end except exists false foreign from full function grant group having if in index inner insert intersect into is join key left like limit not
		null offset on or order outer over partition primary procedure references returning revoke right rollback select set table then transaction trigger
		true truncate union unique update using values view when where with |
		bigint binary blob boolean char character date datetime decimal double float int integer interval json jsonb numeric real serial smallint text time
		timestamp uuid varchar`
)

// languages returns the table. It is built when the first text is coloured.
func languages() []entry {
	return append(scripts(), append(systems(), data()...)...)
}

func systems() []entry {
	return []entry{
		{"Go", ".go", curly(`break case chan const continue default defer else fallthrough for func go goto if import interface map package range return select struct
			switch type var true false nil iota | any bool byte comparable complex64 complex128 error float32 float64 int int8 int16 int32 int64 rune string uint
			uint8 uint16 uint32 uint64 uintptr append cap clear close copy delete len make max min new panic print println recover`,
			func(l *Language) { l.quotes = []quote{double, char, rawTick} })},
		{"C", ".c .h", curly(cWords, func(l *Language) { l.hash = true })},
		{"C++", ".cc .cpp .cxx .hh .hpp .hxx .ino .cu .m .mm", curly(cppWords, func(l *Language) { l.hash = true })},
		{"Rust", ".rs", curly(`as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self
			static struct super trait true type union unsafe use where while | bool char f32 f64 i8 i16 i32 i64 i128 isize str u8 u16 u32 u64 u128 usize`,
			func(l *Language) { l.nested, l.capital, l.quotes = true, Type, []quote{doubleML, char} })},
		{"Java", ".java", curly(javaWords, func(l *Language) { l.at, l.capital, l.quotes = true, Type, []quote{triple, double, char} })},
		{"Kotlin", ".kt .kts", curly(`as break by catch class companion const constructor continue data do else enum external false final finally for fun if import in infix
			init inline inner interface internal is lateinit null object open operator out override package private protected public reified return sealed
			super suspend this throw true try typealias val var vararg when where while`,
			func(l *Language) {
				l.at, l.capital, l.nested, l.quotes = true, Type, true, []quote{triple, double, char}
			})},
		{"Swift", ".swift", curly(`actor any as associatedtype async await break case catch class continue convenience default defer deinit didSet do dynamic else enum
			extension fallthrough false fileprivate final for func get guard if import in indirect infix init inout internal is lazy let mutating nil open
			operator override private protocol public repeat required rethrows return self Self set some static struct subscript super switch throw throws true
			try typealias unowned var weak where while willSet`, func(l *Language) { l.at, l.capital, l.nested, l.quotes = true, Type, true, []quote{triple, double} })},
		{"Scala", ".scala .sc", curly(`abstract case catch class def derives do else end enum export extends extension false final finally for given if implicit import
			infix inline lazy match new null object open opaque override package private protected return sealed super then this throw trait transparent true
			try type using val var while with yield`, func(l *Language) {
			l.at, l.capital, l.nested, l.quotes = true, Type, true, []quote{triple, double, char}
		})},
		{"C#", ".cs", curly(`abstract as async await base break case catch checked class const continue default delegate do else enum event explicit extern false finally
			fixed for foreach get if implicit in init interface internal is lock namespace new null operator out override params partial private protected
			public readonly record ref required return sealed set sizeof stackalloc static struct switch this throw true try typeof unchecked unsafe using
			var virtual volatile when where while yield | bool byte char decimal double dynamic float int long nint object sbyte short string uint ulong ushort void`,
			func(l *Language) { l.hash, l.capital, l.quotes = true, Type, []quote{triple, double, char} })},
		{"Dart", ".dart", curly(javaWords+` async await dynamic extension external factory get late library mixin on operator part required set show String bool num`,
			func(l *Language) { l.at, l.capital, l.quotes = true, Type, []quote{triple, triple1, double, single} })},
		{"Zig", ".zig", curly(`align allowzero and anyframe anytype asm async await break callconv catch comptime const continue defer else enum errdefer error export extern
			false fn for if inline noalias null or orelse packed pub resume return struct suspend switch test threadlocal true try undefined union
			unreachable usingnamespace var volatile while | bool f32 f64 i8 i16 i32 i64 isize u8 u16 u32 u64 usize void anyerror type`, func(l *Language) { l.at = true })},
		{"Protocol Buffers", ".proto", curly(`enum extend extensions import map message oneof option optional package public repeated required reserved returns rpc service stream
			syntax to weak true false | bool bytes double fixed32 fixed64 float int32 int64 sfixed32 sfixed64 sint32 sint64 string uint32 uint64`, nil)},
		{"GraphQL", ".graphql .gql", hashed(`enum extend fragment implements input interface mutation on query scalar schema subscription type union true false null | Boolean Float
			ID Int String`, func(l *Language) { l.at = true })},
		{"Haskell", ".hs", &Language{line: []string{"--"}, block: [][2]string{{"{-", "-}"}}, nested: true, quotes: []quote{double, char}, capital: Type, ident: "'",
			words: words(`case class data default deriving do else family forall foreign if import in infix infixl infixr instance let module newtype of qualified then
				type where`)}},
		{"OCaml", ".ml .mli .fs .fsx", &Language{block: [][2]string{{"(*", "*)"}}, nested: true, line: slashes, quotes: []quote{double, char}, capital: Type, ident: "'",
			words: words(`and as assert begin class constraint do done downto else end exception external false for fun function functor if in include inherit
				initializer lazy let match method module mutable namespace new object of open or private rec sig struct then to true try type val virtual when while with`)}},
		{"Erlang", ".erl .hrl", &Language{line: []string{"%"}, quotes: []quote{double, single}, calls: true, capital: Number,
			words: words(`after and andalso begin case catch cond div end fun if let maybe not of or orelse receive rem try when xor`)}},
		{"Assembly", ".s .asm", &Language{line: []string{"//", ";", "#"}, block: starBlock, quotes: []quote{double}, ident: "."}},
		{"Solidity", ".sol", curly(cppWords+` contract event function mapping memory modifier payable pragma pure require returns storage view address uint256`, nil)},
		{"Verilog", ".v .sv .vh", curly(`always assign begin case default else end endcase endfunction endmodule for function if initial inout input logic module negedge output
			parameter posedge reg wire`, nil)},
	}
}

func scripts() []entry {
	js := func(l *Language) {
		l.capital, l.at, l.quotes, l.ident = Type, true, []quote{double, single, backtick}, "$"
	}
	return []entry{
		{"JavaScript", ".js .mjs .cjs .jsx", curly(jsWords, js)},
		{"TypeScript", ".ts .mts .cts .tsx", curly(tsWords, js)},
		{"Python", ".py .pyi .pyw .bzl .star sconstruct build.bazel", hashed(pythonWords, func(l *Language) {
			l.at, l.capital, l.quotes = true, Type, []quote{triple, triple1, double, single}
		})},
		{"Ruby", ".rb .rake gemfile rakefile .gemspec", hashed(`alias and begin break case class def defined? do else elsif end ensure extend false for if in include module
			next nil not or private protected public raise redo require require_relative rescue retry return self super then true undef unless until when while
			yield attr_reader attr_writer attr_accessor`, func(l *Language) { l.capital, l.sigil, l.ident = Type, "@$", "?!" })},
		{"PHP", ".php", &Language{line: []string{"//", "#"}, block: starBlock, quotes: []quote{double, single}, calls: true, capital: Type, sigil: "$",
			words: words(`abstract and array as break callable case catch class clone const continue declare default do echo else elseif enum extends final finally fn
				for foreach function global if implements include instanceof interface isset list match namespace new or print private protected public readonly
				require require_once return static switch throw trait try unset use var while yield true false null | bool float int iterable mixed never object
				string void`)}},
		{"Perl", ".pl .pm .t", hashed(`and cmp continue defined die do each else elsif eq eval exists for foreach ge gt if last le local lt my ne next no not or our package
			print push qw redo require return say shift splice sub undef unless until use wantarray while xor`, func(l *Language) { l.sigil = "$@%" })},
		{"Lua", ".lua", &Language{line: []string{"--"}, block: [][2]string{{"--[[", "]]"}}, quotes: []quote{double, single, {open: "[[", close: "]]", raw: true, lines: true}}, calls: true,
			words: words(`and break do else elseif end false for function goto if in local nil not or repeat return then true until while self`)}},
		{"Shell", ".sh .bash .zsh .ksh .bashrc .zshrc .profile .envrc", hashed(shellWords, func(l *Language) {
			l.sigil, l.calls, l.quotes = "$", false, []quote{doubleML, singleML}
		})},
		{"fish", ".fish", hashed(shellWords+` end begin and or not`, func(l *Language) { l.sigil = "$" })},
		{"PowerShell", ".ps1 .psm1", hashed(`begin break catch class continue data do else elseif end exit filter finally for foreach from function if in param process return
			switch throw trap try until using while`, func(l *Language) { l.fold, l.sigil, l.block = true, "$", [][2]string{{"<#", "#>"}} })},
		{"Batch", ".bat .cmd", &Language{line: []string{"::", "rem ", "REM "}, quotes: []quote{double}, fold: true, words: words(`call cd cls copy del do echo else endlocal exit
			for goto if in move not pause popd pushd set setlocal shift start`)}},
		{"Elixir", ".ex .exs", hashed(`after alias and case catch cond def defdelegate defguard defimpl defmacro defmodule defp defprotocol defstruct do else end fn for if import
			in not or quote raise receive require rescue super try unless unquote use when with true false nil`,
			func(l *Language) {
				l.at, l.capital, l.ident, l.quotes = true, Type, "?!", []quote{triple, double, single}
			})},
		{"Julia", ".jl", hashed(`abstract baremodule begin break catch const continue do else elseif end export false finally for function global if import in let local macro
			module mutable nothing primitive quote return struct true try type using where while`, func(l *Language) { l.at, l.capital, l.quotes = true, Type, []quote{triple, double, char} })},
		{"R", ".r", hashed(`break else for function if in next repeat return while TRUE FALSE NULL NA Inf NaN library require`, func(l *Language) { l.ident = "." })},
		{"Lisp", ".clj .cljs .cljc .edn .el .lisp .lsp .scm .rkt .ss", &Language{line: []string{";"}, quotes: []quote{doubleML}, ident: "-?!*+/<>=.",
			words: words(`def defn defmacro defun defvar defmethod defprotocol defrecord define lambda let let* letrec if cond case when unless do fn loop recur ns require
				import quote set! setq progn begin true false nil`)}},
		{"Vim script", ".vim .vimrc", &Language{quotes: []quote{single}, calls: true, words: words(`if else elseif endif for endfor while endwhile function endfunction return let set
			call try catch endtry command autocmd augroup syntax highlight map nmap nnoremap inoremap vnoremap`)}},
		{"Nix", ".nix", hashed(`assert else if in inherit let or rec then with true false null import`, func(l *Language) {
			l.block, l.quotes, l.ident = starBlock, []quote{{open: "''", close: "''", raw: true, lines: true}, doubleML}, "-'"
		})},
		{"HCL", ".tf .tfvars .hcl", hashed(`resource data variable output module provider terraform locals for in if else true false null dynamic`, func(l *Language) {
			l.line, l.block, l.keys = []string{"#", "//"}, starBlock, "="
		})},
		{"Groovy", ".groovy .gradle jenkinsfile", curly(javaWords+` as def in it`, func(l *Language) { l.at, l.capital, l.quotes = true, Type, []quote{triple, triple1, double, single} })},
		{"SQL", ".sql", &Language{line: []string{"--"}, block: starBlock, quotes: []quote{single, double}, fold: true, calls: true, words: words(sqlWords)}},
		{"Awk", ".awk", hashed(`BEGIN END break continue delete do else exit for function getline if in next print printf return while`, func(l *Language) { l.sigil = "$" })},
		{"Tcl", ".tcl", hashed(`proc set if else elseif for foreach while return expr puts list lappend switch break continue namespace package global upvar`, func(l *Language) { l.sigil = "$" })},
	}
}

func data() []entry {
	return []entry{
		{"JSON", ".json .jsonc .json5 .ipynb .webmanifest", &Language{line: slashes, block: starBlock, quotes: []quote{double, single}, keys: ":", words: words("true false null")}},
		{"YAML", ".yaml .yml .clang-format", &Language{line: hashes, quotes: []quote{doubleML, singleML}, keys: ":", ident: "-./", words: words("true false null yes no on off")}},
		{"TOML", ".toml .lock", &Language{line: hashes, quotes: []quote{triple, triple1, double, single}, keys: "=", ident: "-.", words: words("true false")}},
		{"INI", ".ini .cfg .conf .properties .editorconfig .gitconfig .service .desktop", &Language{line: []string{"#", ";"}, quotes: []quote{double}, keys: "=:", ident: "-."}},
		{"XML", ".xml .html .htm .xhtml .svg .vue .svelte .plist .xsd .xsl .csproj .props .targets .astro", &Language{whole: markup}},
		{"Markdown", ".md .markdown .mdx .mdown", &Language{whole: markdown}},
		{"Diff", ".diff .patch", &Language{whole: diff}},
		{"CSS", ".css .scss .less .sass", &Language{block: starBlock, line: slashes, quotes: []quote{double, single}, at: true, ident: "-", sigil: "$", calls: true, keys: ":",
			words: words("important not and or from to")}},
		{"Makefile", "makefile gnumakefile .mk kbuild", hashed(`ifeq ifneq ifdef ifndef else endif include define endef export override`, func(l *Language) {
			l.calls, l.keys, l.ident, l.quotes = false, ":=", "-.", []quote{double}
		})},
		{"Dockerfile", "dockerfile containerfile .dockerfile", hashed(`FROM RUN CMD LABEL EXPOSE ENV ADD COPY ENTRYPOINT VOLUME USER WORKDIR ARG ONBUILD STOPSIGNAL HEALTHCHECK SHELL AS`,
			func(l *Language) { l.calls, l.sigil = false, "$" })},
		{"CMake", "cmakelists.txt .cmake", hashed(`if else elseif endif foreach endforeach while endwhile function endfunction macro endmacro include set option return`,
			func(l *Language) { l.fold = true })},
		{"Go module", "go.mod go.work", &Language{line: slashes, ident: "-./", words: words("module go require replace exclude retract toolchain use")}},
		{"TeX", ".tex .sty .cls .bib", &Language{line: []string{"%"}, sigil: `\@`}},
		{"reStructuredText", ".rst", &Language{quotes: []quote{backtick}}},
		{"Ignore list", ".gitignore .ignore .rgignore .dockerignore .gitattributes codeowners", &Language{line: hashes}},
	}
}
