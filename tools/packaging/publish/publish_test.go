package main

import (
	"bytes"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// copyOfSource copies the project without files from git and builds.
func copyOfSource(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	err := filepath.WalkDir("../../..", func(file string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel("../../..", file)
		if err != nil {
			return err
		}
		if e.IsDir() {
			if name == ".git" || name == ".oracles" || name == "bin" || name == "dist" || e.Name() == "testdata" {
				return filepath.SkipDir
			}
			return os.MkdirAll(filepath.Join(dir, name), 0o755)
		}
		if !e.Type().IsRegular() {
			return nil
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, name), data, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func goCommand(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, &errs)
	}
	return out.String()
}

// In a copy of the whole source, no release can be made before the source has a place. Afterwards
// every import resolves and no old name remains, and a second place replaces the first.
// scripts/release-check.sh also compiles and tests such a copy.
func TestPublish(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second: run without -short")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command: install Go")
	}
	dir := copyOfSource(t)
	at, err := current(dir)
	if err != nil {
		t.Fatal(err)
	}
	if at == unpublished {
		if err := run(dir, "", "", true); err == nil || !strings.Contains(err.Error(), "make publish-as") {
			t.Errorf("a source without a place may be released: %v", err)
		}
	}
	var before []string // module paths in the source before
	for _, to := range []struct{ module, image, registry, wantImage string }{
		{"github.com/Acme/quarry", "", "io.github.Acme/quarry", "ghcr.io/acme/quarry"},
		{"git.example.org/team/quarry", "images.example.org/quarry", "org.example.git.team/quarry", "images.example.org/quarry"},
	} {
		if at, err = current(dir); err != nil {
			t.Fatal(err)
		}
		before = append(before, at.module)
		if err := run(dir, to.module, to.image, false); err != nil {
			t.Fatal(err)
		}
		if got := goCommand(t, dir, "list", "-m"); got != to.module+"\n" {
			t.Errorf("go list -m says %q, want %s", got, to.module)
		}
		if got, want := goCommand(t, filepath.Join(dir, "tools"), "list", "-m", "-f", "{{.Path}} {{with .Replace}}{{.Path}}{{end}}", to.module+"/tools", to.module), to.module+"/tools \n"+to.module+" ../\n"; got != want {
			t.Errorf("go list -m in tools says %q, want %q", got, want)
		}
		for file, want := range map[string][]string{
			"tools/packaging/server.json":      {to.registry, to.wantImage + ":0.0.0", "https://" + to.module},
			"tools/packaging/image/Dockerfile": {to.registry},
			"Dockerfile":                       {to.registry, "-X " + to.module + "/internal/"},
			".goreleaser.yaml":                 {to.wantImage, "-X " + to.module + "/internal/"},
			"tools/packaging/bundle/main.go":   {"-X " + to.module + "/internal/"},
			"README.md":                        {"\t\"" + to.module + "/search\"\n", "go get " + to.module + "`", "`go install " + to.module + "/cmd/quarry@latest`"},
		} {
			data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(file)))
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range want {
				if !strings.Contains(string(data), w) {
					t.Errorf("%s: %s lacks %s", to.module, file, w)
				}
			}
			if filepath.Ext(file) != ".go" && bytes.Contains(data, []byte("OWNER")) {
				t.Errorf("%s: %s still says OWNER", to.module, file)
			}
		}
	}
	// Checking once, at the end, is enough: names of the first place would still be found.
	ours := 0
	for name, file := range imports(t, dir) {
		for _, old := range append(before, unpublished.module) {
			if within(name, old) {
				t.Errorf("%s still imports %s", file, name)
			}
		}
		if at, err = current(dir); err != nil {
			t.Fatal(err)
		}
		if !within(name, at.module) {
			continue
		}
		ours++
		folder := filepath.Join(dir, filepath.FromSlash(strings.TrimPrefix(name, at.module)))
		if sources, _ := filepath.Glob(filepath.Join(folder, "*.go")); len(sources) == 0 {
			t.Errorf("%s imports %s, which has no Go files", file, name)
		}
	}
	if ours < 50 {
		t.Errorf("only %d packages of our own are imported", ours)
	}
	t.Logf("%d packages of our own are imported, each found", ours)
}

func within(name, module string) bool {
	return name == module || strings.HasPrefix(name, module+"/")
}

// imports returns the packages that the source in dir imports, with a file that imports each. It
// parses the files, because "go list -deps" would also need modules for other systems, which the
// module cache may lack.
func imports(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := eachFile(dir, func(name string, data []byte) error {
		if filepath.Ext(name) != ".go" {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, data, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, imp := range f.Imports {
			target, err := strconv.Unquote(imp.Path.Value)
			if err != nil {
				return err
			}
			all[target] = name
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestPlaces(t *testing.T) {
	for _, bad := range [][2]string{
		{"quarry", ""}, {"github.com/quarry", ""}, {"acme/tools/quarry", ""}, {"github.com/acme/tool", ""},
		{"github.com/a b/quarry", ""}, {"https://github.com/acme/quarry", ""}, {"git.example.org/team/quarry", ""},
	} {
		if _, err := parsePlace(bad[0], bad[1]); err == nil {
			t.Errorf("%s is taken for a place", bad[0])
		}
	}
}

// If a file can't be parsed, no file is written.
func TestNothingOrAll(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second: run without -short")
	}
	dir := copyOfSource(t)
	if err := os.WriteFile(filepath.Join(dir, "zz.go"), []byte("package quarry\nimport (\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	if err := run(dir, "github.com/acme/quarry", "", false); err == nil {
		t.Fatal("a file that is not Go is taken")
	}
	if after, err := os.ReadFile(filepath.Join(dir, "go.mod")); err != nil || !bytes.Equal(before, after) {
		t.Errorf("go.mod was changed: %v", err)
	}
}
