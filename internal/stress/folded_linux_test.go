package stress_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"quarry"
	"quarry/change"
	"quarry/internal/profile"
)

// TestFoldedNames runs tools on case-insensitive file systems: ext4 with casefold, exfat, and vfat,
// where each long name also has a short one. Mounting them requires root, and support in the kernel
// or by a program.
func TestFoldedNames(t *testing.T) {
	if spec := os.Getenv("QUARRY_FOLDED"); spec != "" {
		kind, dir, _ := strings.Cut(spec, ":")
		foldedNames(t, kind, dir)
		return
	}
	if os.Getuid() != 0 {
		t.Skip("needs root, to mount file systems in files")
	}
	for _, kind := range []string{"ext4", "vfat", "exfat"} {
		t.Run(kind, func(t *testing.T) {
			cmd := exec.Command(os.Args[0], "-test.run=^TestFoldedNames$", "-test.v", "-test.count=1")
			cmd.Env = append(os.Environ(), "QUARRY_FOLDED="+kind+":"+t.TempDir())
			cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Cloneflags: syscall.CLONE_NEWNS}
			out, err := cmd.CombinedOutput()
			if _, ran := errors.AsType[*exec.ExitError](err); err != nil && !ran {
				t.Skipf("no namespaces here: %v", err)
			}
			if strings.Contains(string(out), "--- SKIP") {
				t.Skipf("needs a kernel that mounts it: %s", strings.Join(strings.Fields(string(out)), " "))
			}
			if err != nil {
				t.Errorf("%v\n%s", err, out)
			}
			t.Logf("%s", out)
		})
	}
}

// mountFolded makes a new file system of a kind and mounts it at a folder.
func mountFolded(t *testing.T, kind, dir string) {
	t.Helper()
	image := filepath.Join(filepath.Dir(dir), "image")
	f, err := os.Create(image)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Truncate(32<<20), f.Close()); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("", "/", "", unix.MS_PRIVATE|unix.MS_REC, ""); err != nil {
		t.Skipf("the mounts can't be made private: %v", err)
	}
	run := func(line ...string) string {
		t.Helper()
		out, err := exec.Command(line[0], line[1:]...).CombinedOutput()
		if err != nil {
			t.Skipf("such a file system can't be made or mounted here: %q: %v %s", line, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	switch kind {
	case "exfat": // by FUSE, if the kernel has none of these file systems
		run("mkfs.exfat", image)
		device := run("losetup", "--find", "--show", image)
		t.Cleanup(func() { run("losetup", "--detach", device) })
		run("mount.exfat-fuse", device, dir)
	case "vfat":
		run("mkfs.vfat", image)
		run("mount", "-o", "loop", image, dir)
	default:
		run("mkfs.ext4", "-q", "-O", "casefold", "-E", "encoding=utf8", image)
		run("mount", "-o", "loop", image, dir)
	}
	t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	if kind != "ext4" {
		return
	}
	// The top folder can't be casefolded, because it contains lost+found.
	at := filepath.Join(dir, "ws")
	if err := os.Mkdir(at, 0o755); err != nil {
		t.Fatal(err)
	}
	d, err := os.Open(at)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if err := unix.IoctlSetPointerInt(int(d.Fd()), unix.FS_IOC_SETFLAGS, casefoldFlag); err != nil {
		t.Skipf("a folder can't be folded: %v", err)
	}
}

// casefoldFlag is FS_CASEFOLD_FL of the kernel.
const casefoldFlag = 0x40000000

func foldedNames(t *testing.T, kind, base string) {
	dir := filepath.Join(base, "mnt")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	mountFolded(t, kind, dir)
	dir = filepath.Join(dir, "ws")
	put(t, filepath.Join(dir, "Readme.md"), "# Read me\n\nneedle one\n")
	put(t, filepath.Join(dir, "Notes/Plan of the year.md"), "[[Readme]] needle two\n")
	for _, name := range []string{".git/config", ".obsidian/app.json", ".env", "keys/id_rsa", "long folder name/server private.pem"} {
		put(t, filepath.Join(dir, name), secret+"\n")
	}
	if _, err := os.Lstat(filepath.Join(dir, "README.MD")); err != nil {
		t.Fatalf("the file system tells names in another case apart: %v", err)
	}
	for _, name := range []string{"state", "index"} {
		if err := os.Mkdir(filepath.Join(base, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	ws, err := quarry.Open(dir, &quarry.Options{StateDir: filepath.Join(base, "state"), Trash: change.TrashLocal, Index: &quarry.IndexOptions{Dir: filepath.Join(base, "index")}})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	reg, err := profile.New(ws, &profile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	tool := func(name, args string) (string, bool) {
		calls++
		r := reg.Lookup(name).Execute(t.Context(), json.RawMessage(args))
		if strings.Contains(r.Text, secret) {
			t.Errorf("%s %s shows closed content: %s", name, args, r.Text)
		}
		return r.Text, r.IsError
	}
	// Closed files stay closed under every name by which the file system opens them.
	for _, path := range []string{".GIT/config", ".Git/CONFIG", "GIT~1/config", "git~1/CONFIG", ".ENV", ".Env", "ENV~1", "KEYS/ID_RSA", "keys/Id_Rsa", ".OBSIDIAN/APP.JSON", "OBSIDI~1/app.json",
		"LONGFO~1/SERVER~1.PEM", "longfo~1/server~1.pem", "LONG FOLDER NAME/SERVER PRIVATE.PEM", "\u017feys/id_rsa", ".g\u0131t/config"} {
		quoted := fmt.Sprintf("%q", path)
		for _, c := range [][2]string{
			{"read_file", `{"path":` + quoted + `}`}, {"write_file", `{"path":` + quoted + `,"content":"gone"}`}, {"edit_file", `{"path":` + quoted + `,"old_text":"SECRET","new_text":"x"}`},
			{"move_file", `{"source":` + quoted + `,"destination":"shown.txt"}`}, {"delete_file", `{"path":` + quoted + `}`}, {"search_files", `{"path":` + quoted + `,"regex":"SEC"}`}, {"get_file_info", `{"path":` + quoted + `}`},
		} {
			tool(c[0], c[1])
		}
	}
	for _, name := range []string{".git/config", ".obsidian/app.json", ".env", "keys/id_rsa", "long folder name/server private.pem"} {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(text) != secret+"\n" {
			t.Errorf("%s is now %q, %v", name, text, err)
		}
	}
	// Nothing is lost if a name differs from an existing file's only in case.
	content := func(name string) string {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return err.Error()
		}
		return string(text)
	}
	names := func() string {
		list, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, e := range list {
			if strings.EqualFold(e.Name(), "readme.md") {
				out = append(out, e.Name())
			}
		}
		return strings.Join(out, " ")
	}
	for _, c := range []struct{ tool, args, want, name string }{
		{"edit_file", `{"path":"README.MD","old_text":"needle one","new_text":"needle 1"}`, "# Read me\n\nneedle 1\n", "Readme.md"},
		{"undo_change", `{}`, "# Read me\n\nneedle one\n", "Readme.md"},
		{"delete_file", `{"path":"readme.MD"}`, "", ""},
		{"undo_change", `{}`, "# Read me\n\nneedle one\n", "Readme.md"},
	} {
		said, failed := tool(c.tool, c.args)
		if got := content("readme.md"); c.want != "" && got != c.want || !strings.EqualFold(names(), c.name) || failed {
			t.Errorf("%s %s: the file %q is %q, want %q %q: %s", c.tool, c.args, names(), got, c.name, c.want, said)
		}
	}
	before := content("readme.md")
	// Renaming a file to another case works. It is refused if the system reports two files, as FUSE
	// does.
	said, failed := tool("move_file", fmt.Sprintf(`{"source":%q,"destination":"README.md"}`, names()))
	if content("readme.md") != before || failed != !strings.Contains(names(), "README.md") {
		t.Errorf("a name in another case: %s; %q is %q", said, names(), content("readme.md"))
	}
	for _, c := range [][2]string{
		{"create_note", `{"path":"README.md","content":"other"}`}, {"move_file", `{"source":"Notes/Plan of the year.md","destination":"README.MD"}`},
		{"move_file", `{"source":"notes","destination":"Readme.MD"}`},
	} {
		if said, failed := tool(c[0], c[1]); !failed || content("readme.md") != before {
			t.Errorf("%s %s: %s; the file is now %q", c[0], c[1], said, content("readme.md"))
		}
	}
	// Searches find a file that another program writes, whatever letter case that program uses.
	put(t, filepath.Join(dir, "NOTES/PLAN OF THE YEAR.MD"), "[[Readme]] needle three\n")
	if err := ws.Index().Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	// With FUSE, the kernel caches a copy of the file for each spelling, for up to a second.
	now := strings.TrimSpace(strings.TrimPrefix(content("Notes/Plan of the year.md"), "[[Readme]] "))
	if said, _ := tool("search_files", `{"regex":"needle \\w+"}`); strings.Count(said, now) != 1 || strings.Count(said, "needle t") != 1 || !strings.Contains(said, "Notes/Plan of the year.md") {
		t.Errorf("search: %s, want %q", said, now)
	}
	t.Logf("%d calls on %s", calls, kind)
}
