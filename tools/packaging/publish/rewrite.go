package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// registryFile is the entry for the MCP registry. Together with go.mod it records where the source
// is published, so that a later run knows which names to replace.
const registryFile = "tools/packaging/server.json"

// current returns the place where the source is published, according to its files.
func current(root string) (place, error) {
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return place{}, err
	}
	first, _, _ := strings.Cut(string(mod), "\n")
	module, ok := strings.CutPrefix(first, "module ")
	if !ok {
		return place{}, fmt.Errorf("go.mod begins with %q, not with its module", first)
	}
	data, err := os.ReadFile(filepath.Join(root, registryFile))
	if err != nil {
		return place{}, err
	}
	var entry struct {
		Name       string
		Repository struct{ URL string }
		Packages   []struct{ RegistryType, Identifier string }
	}
	if err := json.Unmarshal(data, &entry); err != nil {
		return place{}, fmt.Errorf("%s: %w", registryFile, err)
	}
	at := place{module: module, registry: entry.Name}
	at.host, at.owner, _ = strings.Cut(strings.TrimSuffix(strings.TrimPrefix(entry.Repository.URL, "https://"), "/quarry"), "/")
	for _, p := range entry.Packages {
		if p.RegistryType == "oci" {
			at.image, _, _ = strings.Cut(p.Identifier, ":")
		}
	}
	if at.host == "" || at.owner == "" || at.image == "" {
		return place{}, fmt.Errorf("%s names no repository or no image", registryFile)
	}
	return at, nil
}

// rewrite changes all files that name the place and returns their number. It prepares all new texts
// before it writes the first, so that a file that can't be parsed leaves the source unchanged.
func rewrite(root string, to place) (int, error) {
	from, err := current(root)
	if err != nil {
		return 0, err
	}
	w := newWords(from, to)
	changed := map[string][]byte{}
	err = eachFile(root, func(name string, data []byte) error {
		now, err := w.apply(name, data)
		if err == nil && !bytes.Equal(now, data) {
			changed[name] = now
		}
		return err
	})
	if err != nil {
		return 0, err
	}
	for name, data := range changed {
		if err := os.WriteFile(filepath.Join(root, filepath.FromSlash(name)), data, 0o644); err != nil {
			return 0, err
		}
	}
	return len(changed), nil
}

// words holds the old and new spellings of the names.
type words struct {
	from, to place
	imports  *regexp.Regexp // an import in a program in a document
	modules  *regexp.Regexp // a line of go.mod with the module's path, or the path of the module in tools
	names    *strings.Replacer
}

func newWords(from, to place) *words {
	module := regexp.QuoteMeta(from.module)
	return &words{
		from: from, to: to,
		imports: regexp.MustCompile(`(?m)^((?:import )?\s*(?:[A-Za-z_.]+ )?)"` + module + `((?:/[a-z0-9/]+)?)"$`),
		modules: regexp.MustCompile(`(?m)^((?:module|require|replace)?\s*)` + module + `((?:/tools)?(?: .*)?)$`),
		names: strings.NewReplacer(
			from.registry, to.registry, from.image, to.image, from.repository(), to.repository(),
			`"source": "`+from.source()+`"`, `"source": "`+to.source()+`"`,
			from.owner+"@users.noreply."+from.host, to.owner+"@users.noreply."+to.host,
			notYet(from), notYet(to), install(from), install(to),
		),
	}
}

// notYet returns the README's sentence on importing the
// module.
func notYet(p place) string {
	if p.module == unpublished.module {
		return "The module's path is `quarry`; to import it from outside the\ncheckout in `DIR`, run `go mod edit -replace quarry=DIR && go mod tidy`."
	}
	return "A program\nimports it after `go get " + p.module + "`."
}

// install returns the README's sentence on installing the program on the
// path.
func install(p place) string {
	if p.module == unpublished.module {
		return "put `quarry` on your path first (`go install ./cmd/quarry`)"
	}
	return "put `quarry` on your path first (`go install " + p.module + "/cmd/quarry@latest`)"
}

// namesPlace lists the files that contain the publisher's names. Only there is the word OWNER
// replaced.
var namesPlace = []string{registryFile, "tools/packaging/image/Dockerfile", "Dockerfile", ".goreleaser.yaml"}

func (w *words) apply(name string, data []byte) ([]byte, error) {
	switch {
	case strings.HasPrefix(name, "tools/packaging/publish/"):
		if path.Ext(name) == ".go" {
			return w.goFile(name, data)
		}
	case path.Base(name) == "go.mod":
		return w.modules.ReplaceAll(data, []byte("${1}"+w.to.module+"$2")), nil
	case path.Ext(name) == ".go":
		data, err := w.goFile(name, data)
		if err != nil {
			return nil, err
		}
		return w.linker(data), nil
	case slices.Contains(namesPlace, name):
		return []byte(w.names.Replace(string(w.linker(data)))), nil
	case path.Ext(name) == ".md":
		data = w.imports.ReplaceAll(data, []byte(`$1"`+w.to.module+`$2"`))
		return []byte(w.names.Replace(string(w.linker(data)))), nil
	}
	return data, nil
}

// goFile rewrites the imports of a Go file. It finds them by parsing, so strings that only resemble
// imports are kept.
func (w *words) goFile(name string, data []byte) ([]byte, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, data, parser.ImportsOnly)
	if err != nil {
		return nil, err
	}
	var out []byte
	last := 0
	for _, imp := range f.Imports {
		target, err := strconv.Unquote(imp.Path.Value)
		if err != nil {
			return nil, err
		}
		rest, ok := strings.CutPrefix(target, w.from.module)
		if !ok || rest != "" && rest[0] != '/' {
			continue
		}
		start, end := fset.Position(imp.Path.Pos()).Offset, fset.Position(imp.Path.End()).Offset
		out = append(out, data[last:start]...)
		out = append(out, strconv.Quote(w.to.module+rest)...)
		last = end
	}
	if last == 0 {
		return data, nil
	}
	return format.Source(append(out, data[last:]...)) // the new import paths may sort differently
}

// linker rewrites the package paths in linker flags, such as "-X quarry/internal/cli/env.stamped",
// and in go commands in documents.
func (w *words) linker(data []byte) []byte {
	data = bytes.ReplaceAll(data, []byte("-X "+w.from.module+"/"), []byte("-X "+w.to.module+"/"))
	return bytes.ReplaceAll(data, []byte("go doc "+w.from.module), []byte("go doc "+w.to.module))
}

// eachFile calls do with every file of the source, except test data and build output. name is the
// slash-separated path.
func eachFile(root string, do func(name string, data []byte) error) error {
	return filepath.WalkDir(root, func(file string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if e.IsDir() {
			if name == ".git" || name == ".oracles" || name == "bin" || name == "dist" || e.Name() == "testdata" {
				return filepath.SkipDir
			}
			return nil
		}
		if !e.Type().IsRegular() {
			return nil
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		return do(name, data)
	})
}

// ready returns an error if the source has no place, or if only some of its files do.
func ready(root string) error {
	at, err := current(root)
	if err != nil {
		return err
	}
	if at.module == unpublished.module {
		return errors.New("the source has no place yet: run make publish-as MODULE=github.com/acme/quarry, then release")
	}
	for _, name := range namesPlace {
		data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		if bytes.Contains(data, []byte(unpublished.owner)) {
			return fmt.Errorf("%s still says %s: run make publish-as again", name, unpublished.owner)
		}
	}
	return nil
}
