package doctor

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quarry"
	"quarry/internal/config"
	"quarry/internal/ignore"
	"quarry/internal/owner"
	"quarry/internal/render"
	"quarry/internal/rootfs"
)

// An examination finds files left by processes before a reboot, and changes nothing.
func TestExamineTree(t *testing.T) {
	dir := t.TempDir()
	const left = "sub/.quarry-tmp-w-deadbeef-00000001-4711-99-00112233445566778899aabb"
	for _, name := range []string{"a.txt", ".git/HEAD", "sub/deep/b.txt", left, "sub/.quarry-tmp-odd"} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if runtime.GOOS != "linux" { // only Linux can tell boots apart; elsewhere, temporary files of an unknown process are removed after an hour
		ago := time.Now().Add(-2 * time.Hour)
		if err := os.Chtimes(filepath.Join(dir, filepath.FromSlash(left)), ago, ago); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		got, err := examineTree(context.Background(), places{Root: dir})
		if err != nil {
			t.Fatal(err)
		}
		want := &tree{FileSystem: got.FileSystem, Folders: 4}
		if got.FileSystem != rootfs.FSNetwork { // on network file systems only the change time counts, which can't be set
			want.Temps, want.TempsCount = []string{left}, 1
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := examineTree(ctx, places{Root: dir}); err == nil {
		t.Error("a context that ended is not heeded")
	}
}

func TestExamineIndexWithoutOne(t *testing.T) {
	dir := t.TempDir()
	got, err := examineIndex(context.Background(), places{Root: dir, Index: indexAt{Dir: filepath.Join(dir, "none"), Socket: filepath.Join(dir, "none.sock")}})
	if err != nil || got.Answers || got.Silent || len(got.Damage) > 0 {
		t.Errorf("%+v %v", got, err)
	}
}

func TestHiding(t *testing.T) {
	files := []ruleFile{
		{ignore.File{Data: []byte("g\n")}, "global"},
		{ignore.File{Name: ".gitignore", Above: "w", Data: []byte("# c\nw/up\n")}, "above"},
		{ignore.File{Name: "info/exclude", Data: []byte("ex\n")}, "exclude"},
		{ignore.File{Name: ".gitignore", Data: []byte("*.log\n\nbuild/\n!g\n")}, "own"},
	}
	for _, c := range []struct {
		name   string
		folder bool
		file   string
		line   int
	}{
		{"x.log", false, "own", 1}, {"build", true, "own", 3}, {"build", false, "", 0}, {"g", false, "", 0},
		{"ex", false, "exclude", 1}, {"up", false, "above", 2}, {"a.txt", false, "", 0},
	} {
		file, line, ok := hiding(files, c.name, c.folder)
		if ok != (c.file != "") || ok && (file != c.file || line != c.line) {
			t.Errorf("%s: %s:%d %v, want %s:%d", c.name, file, line, ok, c.file, c.line)
		}
	}
}

// All indexes of a user are listed, whichever process owns them.
func TestAllStored(t *testing.T) {
	home := t.TempDir()
	if got, err := AllStored(filepath.Join(home, "none")); err != nil || got != nil {
		t.Errorf("without any: %v, %v", got, err)
	}
	for _, name := range []string{"kept", "left", "other"} {
		if err := os.Mkdir(filepath.Join(home, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"kept", "left"} {
		state, err := rootfs.Open(filepath.Join(home, name), &rootfs.Options{Trusted: true, AllowAny: true})
		if err != nil {
			t.Fatal(err)
		}
		defer state.Close()
		lease, err := owner.Claim(state)
		if err != nil || lease == nil {
			t.Fatal(lease, err)
		}
		if name == "kept" {
			defer lease.Release()
		} else {
			lease.Release()
		}
	}
	got, err := AllStored(home)
	if err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(filepath.Join(home, "other")); err != nil || len(left) > 0 {
		t.Errorf("looking made %v, %v", left, err)
	}
	kept := map[string]bool{}
	for _, s := range got {
		kept[filepath.Base(s.Dir)] = s.Kept
	}
	if diff := cmp.Diff(map[string]bool{"kept": true, "left": false, "other": false}, kept); diff != "" {
		t.Error(diff)
	}
}

// chmod is suggested for a folder of the user that has a wrong mode, but not for other
// users' folders, nor if something else prevents writing.
func TestRepairFolder(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there the owner is not asked")
	}
	dir := t.TempDir()
	advice := func(dir string) []string {
		_, fix, run := repairFolder(dir, "set it elsewhere")
		if !strings.Contains(strings.ToLower(fix), "set it elsewhere.") {
			t.Errorf("%s: %q", dir, fix)
		}
		return run
	}
	if got := advice(dir); got != nil {
		t.Errorf("a folder of mode 0700: %q", got)
	}
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	if got := advice(dir); len(got) != 1 || got[0] != "chmod u+w "+render.ShellQuote(dir) {
		t.Errorf("a folder of ours: %q", got)
	}
	other := "/"
	if os.Geteuid() == 0 {
		other = dir
		if err := os.Chown(dir, 65534, -1); err != nil {
			t.Fatal(err)
		}
	}
	if got := advice(other); got != nil {
		t.Errorf("a folder of another user: %q", got)
	}
}

// A missing folder is reported once. Checks that would open it are skipped, because they
// would report misleading errors and suggest moving the undo log away.
func TestFolderIsGone(t *testing.T) {
	home := t.TempDir()
	open := func() (*quarry.Workspace, error) { t.Error("the workspace was opened"); return nil, os.ErrNotExist }
	results, err := Examine(t.Context(), &Options{
		Root: filepath.Join(home, "gone"), Open: open, Index: func() (*quarry.IndexOptions, error) { return nil, os.ErrNotExist },
		Getenv: func(name string) string { return map[string]string{"HOME": home, "PATH": home}[name] },
		Config: func() (*config.File, error) { return &config.File{}, nil }, HasBrowser: func() bool { return true }, PageRuns: func(string) bool { return false },
	})
	if err != nil {
		t.Fatal(err)
	}
	gone := 0
	for _, r := range results {
		for _, f := range r.Findings {
			if f.ID == "root-gone" {
				gone++
			}
			if strings.Contains(f.What, "gone") && f.ID != "root-gone" {
				t.Errorf("%s: %s %s", r.Check, f.What, f.Fix)
			}
		}
		if r.Check == "undo log" && !r.Failed {
			t.Error("the undo log is said to be well")
		}
	}
	if gone != 1 {
		t.Errorf("it is said %d times that the folder is gone", gone)
	}
}
