package stress_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry"
	"quarry/change"
	"quarry/internal/profile"
	"quarry/tool"
)

// TestFullDisk calls every tool when the file system of the workspace, of the undo log or of both
// is full. It runs in a child process that has its own mounts.
func TestFullDisk(t *testing.T) {
	if dir := os.Getenv("QUARRY_FULL_DISK"); dir != "" {
		fullDisks(t, dir)
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestFullDisk$", "-test.v", "-test.count=1")
	cmd.Env = append(os.Environ(), "QUARRY_FULL_DISK="+t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Pdeathsig: syscall.SIGKILL, Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	if _, ran := errors.AsType[*exec.ExitError](err); err != nil && !ran {
		t.Skipf("no namespaces here: %v", err)
	}
	if strings.Contains(string(out), "--- SKIP") {
		t.Skipf("needs user namespaces in which mounting is allowed, or root: %s", out)
	}
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "calls on") {
			t.Log(strings.TrimSpace(line))
		}
	}
}

// fullCalls has calls for each tool that changes files.
var fullCalls = map[string][]string{
	"write_file":       {`{"path":"new.txt","content":"` + strings.Repeat("new ", 2000) + `"}`, `{"path":"a.txt","content":"` + strings.Repeat("other ", 2000) + `"}`},
	"edit_file":        {`{"path":"a.txt","old_text":"needle 7","new_text":"` + strings.Repeat("long ", 2000) + `"}`, `{"path":"a.txt","old_text":"needle 7","new_text":"needle 8"}`},
	"replace_in_files": {`{"regex":"needle","replacement":"a much longer word"}`},
	"apply_changes": {`{"changes":[{"path":"a.txt","old_text":"needle 7","new_text":"x"},{"path":"b.md","old_text":"needle","new_text":"y"},{"path":"c.txt","content":"new"}]}`,
		// The first operation needs no space, so it succeeds before the second fails.
		`{"changes":[{"path":"d/e.go","move_to":"d/f.go"},{"path":"c.txt","content":"` + strings.Repeat("new ", 2000) + `"}]}`},
	"apply_patch":   {`{"patch":"--- a/b.md\n+++ b/b.md\n@@ -1,3 +1,3 @@\n # b\n \n-[[a]] needle\n+[[a]] thread\n"}`},
	"move_file":     {`{"source":"b.md","destination":"deep/er/c.md"}`, `{"source":"d","destination":"e"}`},
	"delete_file":   {`{"path":"a.txt"}`, `{"path":"d"}`},
	"undo_change":   {`{}`},
	"create_folder": {`{"path":"f/g/h"}`},
	"create_note":   {`{"content":"# New\n\n` + strings.Repeat("text ", 2000) + `"}`},
	"modify_note":   {`{"path":"b.md","operation":"append","content":"` + strings.Repeat("more ", 2000) + `"}`},
	"organize_note": {`{"source":"b.md","destination":"deep/b.md"}`},
}

func fullDisks(t *testing.T, dir string) {
	ws, state := filepath.Join(dir, "ws"), filepath.Join(dir, "state")
	for _, p := range []string{ws, state} {
		if err := os.Mkdir(p, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	refused, made, read := 0, 0, 0
	for _, full := range [][]string{{ws}, {state}, {ws, state}} {
		for name, list := range allCalls(t) {
			for _, args := range list {
				res, changed, got := onFullDisk(t, ws, state, full, name, args)
				if res != nil && !res.IsError && fullCalls[name] != nil {
					_, _, want := onFullDisk(t, ws, state, nil, name, args)
					if diff := cmp.Diff(undated(want), undated(got)); diff != "" {
						t.Errorf("%s %.80s with %v full leaves something else than with room (-room +full): %s", name, args, full, diff)
					}
				}
				switch {
				case name == "" || res == nil:
				case fullCalls[name] == nil:
					if read++; res.IsError || changed != "" {
						t.Errorf("%s %.80s with %v full: %.300s %s", name, args, full, res.Text, changed)
					}
				case res.IsError:
					if refused++; changed != "" {
						t.Errorf("%s %.80s with %v full was refused (%.200s) and changed %s", name, args, full, res.Text, changed)
					}
					if !strings.Contains(res.Text, "no space left") {
						t.Errorf("%s %.80s with %v full: %.300s", name, args, full, res.Text)
					}
				default:
					if made++; changed == "" {
						t.Errorf("%s %.80s with %v full says it was made, and nothing changed: %.300s", name, args, full, res.Text)
					}
				}
			}
		}
	}
	t.Logf("%d calls on full disks: %d refused with every file as it was, %d made, %d that only read", refused+made+read, refused, made, read)
	if refused < 10 || read < 30 {
		t.Error("the disks were not full")
	}
}

// undated removes the deletion times from the trash's files.
func undated(files map[string]string) map[string]string {
	out := map[string]string{}
	for path, text := range files {
		out[path] = deletionDate.ReplaceAllString(text, "")
	}
	return out
}

var deletionDate = regexp.MustCompile(`DeletionDate=\S+`)

// allCalls returns calls for every tool, by the tool's name.
func allCalls(t *testing.T) map[string][]string {
	t.Helper()
	all := maps.Clone(fullCalls)
	for name, args := range map[string]string{
		"search_files": `{"regex":"needle"}`, "file_search": `{"query":"needle"}`, "search_code": `{"query":"needle"}`, "search_notes": `{"query":"needle"}`, "search_by_path": `{"pattern":"*"}`,
		"find_symbol": `{"name":"needle"}`, "outline": `{"path":"."}`, "list_files": `{}`, "get_file_info": `{"path":"a.txt"}`, "get_index_status": `{}`, "read_file": `{"path":"a.txt"}`, "list_changes": `{}`,
	} {
		all[name] = []string{args}
	}
	return all
}

// onFullDisk makes a workspace, fills some file systems, each of 512 KB, and makes a call. It
// returns the changes in the files and the files afterwards.
func onFullDisk(t *testing.T, dir, state string, full []string, name, args string) (res *tool.Result, changed string, after map[string]string) {
	t.Helper()
	for _, p := range []string{dir, state} {
		if err := syscall.Mount("tmpfs", p, "tmpfs", 0, "size=512k,mode=700"); err != nil {
			t.Skipf("no tmpfs can be mounted: %v", err)
		}
		defer func() {
			if err := syscall.Unmount(p, syscall.MNT_DETACH); err != nil {
				t.Fatal(err)
			}
		}()
	}
	for _, name := range []string{"index", "log"} {
		if err := os.Mkdir(filepath.Join(state, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	put(t, filepath.Join(dir, "a.txt"), strings.Repeat("some text\n", 1000)+"needle 7\n")
	put(t, filepath.Join(dir, "b.md"), "# b\n\n[[a]] needle\n")
	put(t, filepath.Join(dir, "d/e.go"), "package e\n\nfunc needle() {}\n")
	ws, err := quarry.Open(dir, &quarry.Options{StateDir: filepath.Join(state, "log"), Trash: change.TrashLocal, AllowAny: true, Index: &quarry.IndexOptions{Dir: filepath.Join(state, "index")}})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	reg, err := profile.New(ws, &profile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tl := range reg.Tools() {
		if allCalls(t)[tl.Name] == nil {
			t.Errorf("%s has no call here", tl.Name)
		}
	}
	// Make a change that can be undone.
	if r := reg.Lookup("edit_file").Execute(t.Context(), json.RawMessage(`{"path":"b.md","old_text":"# b","new_text":"# bb"}`)); r.IsError {
		t.Fatal(r.Text)
	}
	if r := reg.Lookup("edit_file").Execute(t.Context(), json.RawMessage(`{"path":"b.md","old_text":"# bb","new_text":"# b"}`)); r.IsError {
		t.Fatal(r.Text)
	}
	for _, p := range full {
		fillUp(t, filepath.Join(p, ".fill"))
	}
	before := tree(t, dir)
	res = reg.Lookup(name).Execute(t.Context(), json.RawMessage(args))
	after = tree(t, dir)
	for p, text := range after {
		if was, ok := before[p]; !ok || was != text {
			changed += " +" + p
		}
	}
	for p := range before {
		if _, ok := after[p]; !ok {
			changed += " -" + p
		}
	}
	return res, changed, after
}

// fillUp uses all the space of a file system.
func fillUp(t *testing.T, file string) {
	t.Helper()
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, size := range []int{4096, 1} {
		for {
			if _, err := f.Write(make([]byte, size)); err != nil {
				break
			}
		}
	}
}

// tree returns all files below a folder with their texts, and all folders.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, p)
		if d.IsDir() {
			out[rel+"/"] = ""
			return nil
		}
		if slices.Contains([]string{".fill"}, rel) {
			return nil
		}
		text, err := os.ReadFile(p)
		out[rel] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
