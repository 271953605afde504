package cli

import (
	"fmt"
	"slices"
	"strings"
)

// fileTypes are the names -t and -T take, with the globs they stand for.
var fileTypes = map[string][]string{
	"ada":      {"*.adb", "*.ads"},
	"asm":      {"*.asm", "*.s", "*.S"},
	"awk":      {"*.awk"},
	"bazel":    {"*.bazel", "*.bzl", "BUILD", "WORKSPACE", "MODULE.bazel"},
	"c":        {"*.[chH]", "*.[chH].in", "*.cats"},
	"clojure":  {"*.clj", "*.cljc", "*.cljs", "*.cljx"},
	"cmake":    {"*.cmake", "CMakeLists.txt"},
	"config":   {"*.cfg", "*.conf", "*.config", "*.ini"},
	"cpp":      {"*.[ChH]", "*.cc", "*.[ch]pp", "*.[ch]xx", "*.hh", "*.inl", "*.[ChH].in", "*.cc.in", "*.[ch]pp.in", "*.[ch]xx.in", "*.hh.in"},
	"csharp":   {"*.cs"},
	"css":      {"*.css", "*.scss"},
	"csv":      {"*.csv"},
	"d":        {"*.d"},
	"dart":     {"*.dart"},
	"diff":     {"*.patch", "*.diff"},
	"docker":   {"*Dockerfile*"},
	"elixir":   {"*.ex", "*.eex", "*.exs", "*.heex", "*.leex", "*.livemd"},
	"elm":      {"*.elm"},
	"erlang":   {"*.erl", "*.hrl"},
	"fish":     {"*.fish"},
	"fortran":  {"*.f", "*.F", "*.f77", "*.F77", "*.f90", "*.F90", "*.f95", "*.F95", "*.pfo"},
	"fsharp":   {"*.fs", "*.fsx", "*.fsi"},
	"go":       {"*.go"},
	"gradle":   {"*.gradle", "*.gradle.kts", "gradle.properties", "gradle-wrapper.*", "gradlew", "gradlew.bat"},
	"graphql":  {"*.graphql", "*.graphqls"},
	"groovy":   {"*.groovy", "*.gradle"},
	"h":        {"*.h", "*.hh", "*.hpp"},
	"haskell":  {"*.hs", "*.lhs", "*.cpphs", "*.c2hs", "*.hsc"},
	"html":     {"*.htm", "*.html", "*.ejs"},
	"java":     {"*.java", "*.jsp", "*.jspx", "*.properties"},
	"js":       {"*.js", "*.jsx", "*.vue", "*.cjs", "*.mjs"},
	"json":     {"*.json", "composer.lock", "*.sarif"},
	"jsonl":    {"*.jsonl"},
	"julia":    {"*.jl"},
	"kotlin":   {"*.kt", "*.kts"},
	"less":     {"*.less"},
	"lisp":     {"*.el", "*.jl", "*.lisp", "*.lsp", "*.sc", "*.scm"},
	"lock":     {"*.lock", "package-lock.json"},
	"log":      {"*.log"},
	"lua":      {"*.lua"},
	"make":     {"[Gg][Nn][Uu]makefile", "[Mm]akefile", "[Gg][Nn][Uu]makefile.am", "[Mm]akefile.am", "[Gg][Nn][Uu]makefile.in", "[Mm]akefile.in", "Makefile.*", "*.mk", "*.mak"},
	"markdown": {"*.markdown", "*.md", "*.mdown", "*.mdwn", "*.mkd", "*.mkdn", "*.mdx"},
	"matlab":   {"*.m"},
	"nim":      {"*.nim", "*.nimf", "*.nimble", "*.nims"},
	"nix":      {"*.nix"},
	"objc":     {"*.h", "*.m"},
	"ocaml":    {"*.ml", "*.mli", "*.mll", "*.mly"},
	"org":      {"*.org", "*.org_archive"},
	"perl":     {"*.perl", "*.pl", "*.PL", "*.plh", "*.plx", "*.pm", "*.t"},
	"php":      {"*.php", "*.php3", "*.php4", "*.php5", "*.php7", "*.php8", "*.pht", "*.phtml"},
	"protobuf": {"*.proto"},
	"ps":       {"*.cdxml", "*.ps1", "*.ps1xml", "*.psd1", "*.psm1"},
	"py":       {"*.py", "*.pyi"},
	"r":        {"*.R", "*.r", "*.Rmd", "*.Rnw"},
	"readme":   {"README*", "*README"},
	"rst":      {"*.rst"},
	"ruby":     {"config.ru", "Gemfile", ".irbrc", "Rakefile", "*.gemspec", "*.rb", "*.rbw"},
	"rust":     {"*.rs"},
	"sass":     {"*.sass", "*.scss"},
	"scala":    {"*.scala", "*.sbt"},
	"sh":       {"*.bash", "*.bashrc", "*.csh", "*.cshrc", "*.ksh", "*.kshrc", "*.sh", "*.tcsh", "*.zsh", ".bash_login", ".bash_logout", ".bash_profile", ".bashrc", ".cshrc", ".kshrc", ".login", ".logout", ".profile", ".tcshrc", ".zlogin", ".zlogout", ".zprofile", ".zshenv", ".zshrc", "bash_login", "bash_logout", "bash_profile", "bashrc", "profile", "zlogin", "zlogout", "zprofile", "zshenv", "zshrc"},
	"sql":      {"*.sql", "*.psql"},
	"svelte":   {"*.svelte", "*.svelte.ts"},
	"svg":      {"*.svg"},
	"swift":    {"*.swift"},
	"tcl":      {"*.tcl"},
	"tex":      {"*.tex", "*.ltx", "*.cls", "*.sty", "*.bib", "*.dtx", "*.ins"},
	"tf":       {"*.tf", "*.auto.tfvars", "terraform.tfvars", "*.tf.json", "*.auto.tfvars.json", "terraform.tfvars.json", "*.terraformrc", "terraform.rc", "*.tfrc", "*.terraform.lock.hcl"},
	"toml":     {"*.toml", "Cargo.lock"},
	"ts":       {"*.ts", "*.tsx", "*.cts", "*.mts"},
	"txt":      {"*.txt"},
	"vim":      {"*.vim", ".vimrc", ".gvimrc", "vimrc", "gvimrc", "_vimrc", "_gvimrc"},
	"vue":      {"*.vue"},
	"xml":      {"*.xml", "*.xml.dist", "*.dtd", "*.xsl", "*.xslt", "*.xsd", "*.xjb", "*.rng", "*.sch", "*.xhtml"},
	"yaml":     {"*.yaml", "*.yml"},
	"zig":      {"*.zig"},
	"zsh":      {".zshenv", ".zlogin", ".zlogout", ".zprofile", ".zshrc", "*.zsh"},
}

// typeAliases are other names for them.
var typeAliases = map[string]string{
	"bash": "sh", "cs": "csharp", "dockerfile": "docker", "hs": "haskell", "javascript": "js", "kt": "kotlin",
	"md": "markdown", "python": "py", "rb": "ruby", "rs": "rust", "terraform": "tf", "typescript": "ts",
	"golang": "go", "proto": "protobuf", "yml": "yaml", "text": "txt",
}

// typeGlobs turns -t and -T names into globs; with not they exclude.
func typeGlobs(names []string, not bool) ([]string, error) {
	var globs []string
	for _, name := range names {
		if full, ok := typeAliases[name]; ok {
			name = full
		}
		list, ok := fileTypes[name]
		if !ok {
			return nil, fmt.Errorf("unknown file type %q: --type-list shows the known ones", name)
		}
		for _, g := range list {
			if not {
				g = "!" + g
			}
			globs = append(globs, g)
		}
	}
	return globs, nil
}

// typeList is what --type-list prints.
func typeList() string {
	var names []string
	for name := range fileTypes {
		names = append(names, name)
	}
	slices.Sort(names)
	var b strings.Builder
	for _, name := range names {
		fmt.Fprintf(&b, "%s: %s\n", name, strings.Join(fileTypes[name], ", "))
	}
	return b.String()
}
