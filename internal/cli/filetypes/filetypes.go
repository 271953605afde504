// Package filetypes holds the file types of quarry search -t and -T, and what
// --type-add and --type-clear make of them.
//
// The table is that of ripgrep 15; a test compares it with rg --type-list.
package filetypes

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// All returns the names -t and -T take, with the globs they stand for: those of
// ripgrep 15, as rg --type-list has them. The table is built when it is first
// asked for, since most runs of the program need none.
var All = sync.OnceValue(func() Set {
	return Set{
		"ada":           {"*.adb", "*.ads"},
		"agda":          {"*.agda", "*.lagda"},
		"aidl":          {"*.aidl"},
		"alire":         {"alire.toml"},
		"amake":         {"*.bp", "*.mk"},
		"asciidoc":      {"*.adoc", "*.asc", "*.asciidoc"},
		"asm":           {"*.S", "*.asm", "*.s"},
		"asp":           {"*.ascx", "*.ascx.cs", "*.ascx.vb", "*.asp", "*.aspx", "*.aspx.cs", "*.aspx.vb"},
		"ats":           {"*.ats", "*.dats", "*.hats", "*.sats"},
		"avro":          {"*.avdl", "*.avpr", "*.avsc"},
		"awk":           {"*.awk"},
		"bat":           {"*.bat"},
		"batch":         {"*.bat"},
		"bazel":         {"*.BUILD", "*.bazel", "*.bazelrc", "*.bzl", "BUILD", "MODULE.bazel", "WORKSPACE", "WORKSPACE.bazel", "WORKSPACE.bzlmod"},
		"bitbake":       {"*.bb", "*.bbappend", "*.bbclass", "*.conf", "*.inc"},
		"boxlang":       {"*.bx", "*.bxm", "*.bxs"},
		"brotli":        {"*.br"},
		"buildstream":   {"*.bst"},
		"bzip2":         {"*.bz2", "*.tbz2"},
		"c":             {"*.[chH]", "*.[chH].in", "*.cats"},
		"cabal":         {"*.cabal"},
		"candid":        {"*.did"},
		"carp":          {"*.carp"},
		"cbor":          {"*.cbor"},
		"ceylon":        {"*.ceylon"},
		"cfml":          {"*.cfc", "*.cfm"},
		"clojure":       {"*.clj", "*.cljc", "*.cljs", "*.cljx"},
		"cmake":         {"*.cmake", "CMakeLists.txt"},
		"cmd":           {"*.bat", "*.cmd"},
		"cml":           {"*.cml"},
		"coffeescript":  {"*.coffee"},
		"config":        {"*.cfg", "*.conf", "*.config", "*.ini"},
		"coq":           {"*.v"},
		"cpp":           {"*.[ChH]", "*.[ChH].in", "*.[ch]pp", "*.[ch]pp.in", "*.[ch]xx", "*.[ch]xx.in", "*.cc", "*.cc.in", "*.hh", "*.hh.in", "*.inl"},
		"creole":        {"*.creole"},
		"crystal":       {"*.cr", "*.ecr", "Projectfile", "shard.yml"},
		"cs":            {"*.cs"},
		"csharp":        {"*.cs"},
		"cshtml":        {"*.cshtml"},
		"csproj":        {"*.csproj"},
		"css":           {"*.css", "*.scss"},
		"csv":           {"*.csv"},
		"cuda":          {"*.cu", "*.cuh"},
		"cython":        {"*.pxd", "*.pxi", "*.pyx"},
		"d":             {"*.d"},
		"dart":          {"*.dart"},
		"devicetree":    {"*.dts", "*.dtsi", "*.dtso"},
		"dhall":         {"*.dhall"},
		"diff":          {"*.diff", "*.patch"},
		"dita":          {"*.dita", "*.ditamap", "*.ditaval"},
		"docker":        {"*Dockerfile*"},
		"dockercompose": {"docker-compose.*.yml", "docker-compose.yml"},
		"dts":           {"*.dts", "*.dtsi"},
		"dvc":           {"*.dvc", "Dvcfile"},
		"ebuild":        {"*.ebuild", "*.eclass"},
		"edn":           {"*.edn"},
		"elisp":         {"*.el"},
		"elixir":        {"*.eex", "*.ex", "*.exs", "*.heex", "*.leex", "*.livemd"},
		"elm":           {"*.elm"},
		"erb":           {"*.erb"},
		"erlang":        {"*.erl", "*.hrl"},
		"fennel":        {"*.fnl"},
		"fidl":          {"*.fidl"},
		"fish":          {"*.fish"},
		"flatbuffers":   {"*.fbs"},
		"fortran":       {"*.F", "*.F77", "*.F90", "*.F95", "*.f", "*.f77", "*.f90", "*.f95", "*.pfo"},
		"fsharp":        {"*.fs", "*.fsi", "*.fsx"},
		"fut":           {"*.fut"},
		"gap":           {"*.g", "*.gap", "*.gd", "*.gi", "*.tst"},
		"gdscript":      {"*.gd"},
		"gleam":         {"*.gleam"},
		"gn":            {"*.gn", "*.gni"},
		"go":            {"*.go"},
		"gprbuild":      {"*.gpr"},
		"gradle":        {"*.gradle", "*.gradle.kts", "gradle-wrapper.*", "gradle.properties", "gradlew", "gradlew.bat"},
		"graphql":       {"*.graphql", "*.graphqls"},
		"groovy":        {"*.gradle", "*.groovy"},
		"gzip":          {"*.gz", "*.tgz"},
		"h":             {"*.h", "*.hh", "*.hpp"},
		"haml":          {"*.haml"},
		"hare":          {"*.ha"},
		"haskell":       {"*.c2hs", "*.cpphs", "*.hs", "*.hsc", "*.lhs"},
		"hbs":           {"*.hbs"},
		"hs":            {"*.hs", "*.lhs"},
		"html":          {"*.ejs", "*.htm", "*.html"},
		"hy":            {"*.hy"},
		"idris":         {"*.idr", "*.lidr"},
		"janet":         {"*.janet"},
		"java":          {"*.java", "*.jsp", "*.jspx", "*.properties"},
		"jinja":         {"*.j2", "*.jinja", "*.jinja2"},
		"jl":            {"*.jl"},
		"js":            {"*.cjs", "*.js", "*.jsx", "*.mjs", "*.vue"},
		"json":          {"*.json", "*.sarif", "composer.lock"},
		"jsonl":         {"*.jsonl"},
		"julia":         {"*.jl"},
		"jupyter":       {"*.ipynb", "*.jpynb"},
		"k":             {"*.k"},
		"kconfig":       {"Kconfig", "Kconfig.*"},
		"kotlin":        {"*.kt", "*.kts"},
		"lean":          {"*.lean"},
		"less":          {"*.less"},
		"license":       {"*[.-]LICEN[CS]E*", "AGPL-*[0-9]*", "APACHE-*[0-9]*", "BSD-*[0-9]*", "CC-BY-*", "COPYING", "COPYING[.-]*", "COPYRIGHT", "COPYRIGHT[.-]*", "EULA", "EULA[.-]*", "GFDL-*[0-9]*", "GNU-*[0-9]*", "GPL-*[0-9]*", "LGPL-*[0-9]*", "LICEN[CS]E", "LICEN[CS]E[.-]*", "MIT-*[0-9]*", "MPL-*[0-9]*", "NOTICE", "NOTICE[.-]*", "OFL-*[0-9]*", "PATENTS", "PATENTS[.-]*", "UNLICEN[CS]E", "UNLICEN[CS]E[.-]*", "agpl[.-]*", "gpl[.-]*", "lgpl[.-]*", "licen[cs]e", "licen[cs]e.*"},
		"lilypond":      {"*.ily", "*.ly"},
		"lisp":          {"*.el", "*.jl", "*.lisp", "*.lsp", "*.sc", "*.scm"},
		"llvm":          {"*.ll"},
		"lock":          {"*.lock", "package-lock.json"},
		"log":           {"*.log"},
		"lua":           {"*.lua"},
		"lz4":           {"*.lz4"},
		"lzma":          {"*.lzma"},
		"m4":            {"*.ac", "*.m4"},
		"make":          {"*.mak", "*.mk", "Makefile.*", "[Gg][Nn][Uu]makefile", "[Gg][Nn][Uu]makefile.am", "[Gg][Nn][Uu]makefile.in", "[Mm]akefile", "[Mm]akefile.am", "[Mm]akefile.in"},
		"mako":          {"*.mako", "*.mao"},
		"man":           {"*.[0-9][cEFMmpSx]", "*.[0-9lnpx]"},
		"markdown":      {"*.markdown", "*.md", "*.mdown", "*.mdwn", "*.mdx", "*.mkd", "*.mkdn"},
		"matlab":        {"*.m"},
		"md":            {"*.markdown", "*.md", "*.mdown", "*.mdwn", "*.mdx", "*.mkd", "*.mkdn"},
		"meson":         {"meson.build", "meson.options", "meson_options.txt"},
		"minified":      {"*.min.css", "*.min.html", "*.min.js"},
		"mint":          {"*.mint"},
		"mk":            {"mkfile"},
		"ml":            {"*.ml"},
		"motoko":        {"*.mo"},
		"msbuild":       {"*.csproj", "*.fsproj", "*.proj", "*.props", "*.sln", "*.slnf", "*.targets", "*.vcxproj"},
		"nim":           {"*.nim", "*.nimble", "*.nimf", "*.nims"},
		"nix":           {"*.nix"},
		"objc":          {"*.h", "*.m"},
		"objcpp":        {"*.h", "*.mm"},
		"ocaml":         {"*.ml", "*.mli", "*.mll", "*.mly"},
		"org":           {"*.org", "*.org_archive"},
		"pants":         {"BUILD"},
		"pascal":        {"*.dpr", "*.inc", "*.lpr", "*.pas", "*.pp"},
		"pdf":           {"*.pdf"},
		"perl":          {"*.PL", "*.perl", "*.pl", "*.plh", "*.plx", "*.pm", "*.t"},
		"php":           {"*.php", "*.php3", "*.php4", "*.php5", "*.php7", "*.php8", "*.pht", "*.phtml"},
		"po":            {"*.po"},
		"pod":           {"*.pod"},
		"postscript":    {"*.eps", "*.ps"},
		"prolog":        {"*.P", "*.pl", "*.pro", "*.prolog"},
		"protobuf":      {"*.proto"},
		"ps":            {"*.cdxml", "*.ps1", "*.ps1xml", "*.psd1", "*.psm1"},
		"puppet":        {"*.epp", "*.erb", "*.pp", "*.rb"},
		"purs":          {"*.purs"},
		"py":            {"*.py", "*.pyi"},
		"python":        {"*.py", "*.pyi"},
		"qmake":         {"*.prf", "*.pri", "*.pro"},
		"qml":           {"*.qml"},
		"qrc":           {"*.qrc"},
		"qui":           {"*.ui"},
		"r":             {"*.R", "*.Rmd", "*.Rnw", "*.r", "*.rmd", "*.rnw"},
		"racket":        {"*.rkt"},
		"raku":          {"*.p6", "*.pl6", "*.pm6", "*.raku", "*.rakudoc", "*.rakumod", "*.rakutest"},
		"rdoc":          {"*.rdoc"},
		"readme":        {"*README", "README*"},
		"reasonml":      {"*.re", "*.rei"},
		"red":           {"*.r", "*.red", "*.reds"},
		"rescript":      {"*.res", "*.resi"},
		"robot":         {"*.robot"},
		"rst":           {"*.rst"},
		"ruby":          {"*.gemspec", "*.rake", "*.rb", "*.rbw", ".irbrc", "Gemfile", "Rakefile", "config.ru"},
		"rust":          {"*.rs"},
		"sass":          {"*.sass", "*.scss"},
		"scala":         {"*.sbt", "*.scala"},
		"scdoc":         {"*.scd", "*.scdoc"},
		"seed7":         {"*.s7i", "*.sd7"},
		"sh":            {"*.bash", "*.bashrc", "*.csh", "*.cshrc", "*.env", "*.ksh", "*.kshrc", "*.sh", "*.tcsh", "*.zsh", ".bash_login", ".bash_logout", ".bash_profile", ".bashrc", ".cshrc", ".env", ".kshrc", ".login", ".logout", ".profile", ".tcshrc", ".zlogin", ".zlogout", ".zprofile", ".zshenv", ".zshrc", "bash_login", "bash_logout", "bash_profile", "bashrc", "profile", "zlogin", "zlogout", "zprofile", "zshenv", "zshrc"},
		"slim":          {"*.skim", "*.slim", "*.slime"},
		"smarty":        {"*.tpl"},
		"sml":           {"*.sig", "*.sml"},
		"solidity":      {"*.sol"},
		"soy":           {"*.soy"},
		"spark":         {"*.spark"},
		"spec":          {"*.spec"},
		"sql":           {"*.psql", "*.sql"},
		"stylus":        {"*.styl"},
		"sv":            {"*.h", "*.sv", "*.svh", "*.v", "*.vg"},
		"svelte":        {"*.svelte", "*.svelte.ts"},
		"svg":           {"*.svg"},
		"swift":         {"*.swift"},
		"swig":          {"*.def", "*.i"},
		"systemd":       {"*.automount", "*.conf", "*.device", "*.link", "*.mount", "*.path", "*.scope", "*.service", "*.slice", "*.socket", "*.swap", "*.target", "*.timer"},
		"taskpaper":     {"*.taskpaper"},
		"tcl":           {"*.tcl"},
		"tex":           {"*.bib", "*.cls", "*.dtx", "*.ins", "*.ltx", "*.sty", "*.tex"},
		"texinfo":       {"*.texi"},
		"textile":       {"*.textile"},
		"tf":            {"*.terraform.lock.hcl", "*.terraformrc", "*.tf", "*.tf.json", "*.tfrc", "*.tfvars", "*.tfvars.json", "terraform.rc"},
		"thrift":        {"*.thrift"},
		"toml":          {"*.toml", "Cargo.lock"},
		"ts":            {"*.cts", "*.mts", "*.ts", "*.tsx"},
		"twig":          {"*.twig"},
		"txt":           {"*.txt"},
		"typescript":    {"*.cts", "*.mts", "*.ts", "*.tsx"},
		"typoscript":    {"*.ts", "*.typoscript"},
		"typst":         {"*.typ"},
		"usd":           {"*.usd", "*.usda", "*.usdc"},
		"v":             {"*.v", "*.vsh"},
		"vala":          {"*.vala"},
		"vb":            {"*.vb"},
		"vcl":           {"*.vcl"},
		"verilog":       {"*.sv", "*.svh", "*.v", "*.vh"},
		"vhdl":          {"*.vhd", "*.vhdl"},
		"vim":           {"*.vim", ".gvimrc", ".vimrc", "_gvimrc", "_vimrc", "gvimrc", "vimrc"},
		"vimscript":     {"*.vim", ".gvimrc", ".vimrc", "_gvimrc", "_vimrc", "gvimrc", "vimrc"},
		"vue":           {"*.vue"},
		"webidl":        {"*.idl", "*.webidl", "*.widl"},
		"wgsl":          {"*.wgsl"},
		"wiki":          {"*.mediawiki", "*.wiki"},
		"xml":           {"*.dtd", "*.rng", "*.sch", "*.xhtml", "*.xjb", "*.xml", "*.xml.dist", "*.xsd", "*.xsl", "*.xslt"},
		"xz":            {"*.txz", "*.xz"},
		"yacc":          {"*.y"},
		"yaml":          {"*.yaml", "*.yml"},
		"yang":          {"*.yang"},
		"z":             {"*.Z"},
		"zig":           {"*.zig"},
		"zsh":           {"*.zsh", ".zlogin", ".zlogout", ".zprofile", ".zshenv", ".zshrc", "zlogin", "zlogout", "zprofile", "zshenv", "zshrc"},
		"zstd":          {"*.zst", "*.zstd"},
	}
})

// aliases are other names for them.
var aliases = map[string]string{
	"bash": "sh", "cs": "csharp", "dockerfile": "docker", "hs": "haskell", "javascript": "js", "kt": "kotlin",
	"md": "markdown", "python": "py", "rb": "ruby", "rs": "rust", "terraform": "tf", "typescript": "ts",
	"golang": "go", "proto": "protobuf", "yml": "yaml", "text": "txt",
}

// Set has the globs of each file type, by its name.
type Set map[string][]string

// Known are all types after --type-clear and --type-add.
func Known(clear, add []string) (Set, error) {
	if len(add)+len(clear) == 0 {
		return All(), nil
	}
	known := maps.Clone(All())
	for _, name := range clear {
		delete(known, known.name(name))
	}
	for _, spec := range add {
		if err := known.add(spec); err != nil {
			return nil, fmt.Errorf("--type-add %q: %w", spec, err)
		}
	}
	return known, nil
}

// add defines name:glob, or name:include:others.
func (k Set) add(spec string) error {
	name, glob, ok := strings.Cut(spec, ":")
	if !ok || name == "" || glob == "" || name == "all" || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }) {
		return errors.New("it is name:glob, as web:*.html, or name:include:other,types; a name has letters and digits, and is not all")
	}
	others, ok := strings.CutPrefix(glob, "include:")
	if !ok {
		k[name] = append(slices.Clone(k[name]), glob)
		return nil
	}
	for other := range strings.SplitSeq(others, ",") {
		list, ok := k[k.name(other)]
		if !ok {
			return fmt.Errorf("unknown file type %q: --type-list shows the known ones", other)
		}
		k[name] = append(slices.Clone(k[name]), list...)
	}
	return nil
}

// name is the name in the table.
func (k Set) name(name string) string {
	if _, ok := k[name]; !ok && aliases[name] != "" {
		return aliases[name]
	}
	return name
}

// Globs turns -t and -T names into globs; with not they exclude.
func (k Set) Globs(names []string, not bool) ([]string, error) {
	var globs []string
	for _, name := range names {
		lists := [][]string{k[k.name(name)]}
		if name == "all" {
			lists = nil
			for _, name := range k.Names() {
				lists = append(lists, k[name])
			}
		} else if lists[0] == nil {
			return nil, fmt.Errorf("unknown file type %q: --type-list shows the known ones", name)
		}
		for _, g := range slices.Concat(lists...) {
			if not {
				g = "!" + g
			}
			globs = append(globs, g)
		}
	}
	return globs, nil
}

// Names are the names of the types in order.
func (k Set) Names() []string { return slices.Sorted(maps.Keys(k)) }

// List is what --type-list prints.
func (k Set) List() string {
	var b strings.Builder
	for _, name := range k.Names() {
		globs := slices.Clone(k[name])
		slices.Sort(globs)
		fmt.Fprintf(&b, "%s: %s\n", name, strings.Join(globs, ", "))
	}
	return b.String()
}
