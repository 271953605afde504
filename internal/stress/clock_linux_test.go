package stress_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"quarry/internal/stress"
)

// clockSource goes into Go's own time.Now: the wall clock, and not the monotonic one,
// is as many seconds ahead as the file says that CLOCK_FILE names.
const clockSource = `
func clockJump() (seconds int64) {
	name, _ := syscall.Getenv("CLOCK_FILE")
	fd, err := open(name)
	if err != nil {
		return 0
	}
	defer closefd(fd)
	var b [20]byte
	n, _ := read(fd, b[:])
	sign := int64(1)
	for _, c := range b[:max(n, 0)] {
		if c == '-' {
			sign = -1
		} else {
			seconds = seconds*10 + int64(c-'0')
		}
	}
	return sign * seconds
}
`

// programWithClock builds the program with a wall clock that a file sets.
func programWithClock(t *testing.T) string {
	t.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skipf("needs go: %v", err)
	}
	original := filepath.Join(strings.TrimSpace(string(root)), "src/time/time.go")
	source, err := os.ReadFile(original)
	if err != nil {
		t.Skipf("needs the source of Go's library: %v", err)
	}
	const now = "sec, nsec, mono := runtimeNow()\n\tif mono == 0"
	text := strings.Replace(string(source), now, "sec, nsec, mono := runtimeNow()\n\tsec += clockJump()\n\tif mono == 0", 1)
	text = strings.Replace(text, "import (", "import (\n\t\"syscall\"", 1) + clockSource
	if !strings.Contains(text, "sec += clockJump()") {
		t.Fatal("time.Now is written in another way in this version of Go")
	}
	dir := t.TempDir()
	put(t, filepath.Join(dir, "time.go"), text)
	overlay, _ := json.Marshal(map[string]any{"Replace": map[string]string{original: filepath.Join(dir, "time.go")}})
	put(t, filepath.Join(dir, "overlay.json"), string(overlay))
	program := filepath.Join(dir, "quarry")
	if out, err := exec.Command("go", "build", "-overlay", filepath.Join(dir, "overlay.json"), "-o", program, "../../cmd/quarry").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return program
}

// The wall clock of a running server and of commands beside it jumps by years, forward
// and back. Changes stay in the order in which they were made, the last one is what
// undo undoes, searches see what other programs wrote, and every call ends in its time.
func TestClockJumps(t *testing.T) {
	stress.SkipQuick(t)
	s := &soak{t: t, program: programWithClock(t), waiting: map[int]chan string{}}
	base := t.TempDir()
	s.dir = filepath.Join(base, "tree")
	clock, home := filepath.Join(base, "clock"), filepath.Join(base, "home")
	s.env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "XDG_RUNTIME_DIR=" + filepath.Join(base, "run"), "CLOCK_FILE=" + clock}
	for _, d := range []string{s.dir, home, filepath.Join(base, "run")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	put(t, clock, "0")
	put(t, filepath.Join(s.dir, "go.mod"), "module x\n")
	put(t, filepath.Join(s.dir, "count.txt"), "count 000\n")
	s.start()
	defer s.close()
	const hour, day, year = 3600, 86400, 365 * 86400
	var made []string // ids, in order
	count := filepath.Join(s.dir, "count.txt")
	jumps := []int{0, -hour, hour, -day, 2 * day, 10 * year, 0, -10 * year, -56 * year, 100 * year, -2 * hour, 0}
	for i, jump := range jumps {
		put(t, clock, fmt.Sprint(jump))
		began := time.Now()
		before, after := fmt.Sprintf("count %03d", 2*i), fmt.Sprintf("count %03d", 2*i+1)
		r := s.tool("edit_file", map[string]any{"path": "count.txt", "old_text": before, "new_text": after})
		if strings.Contains(r, `"isError":true`) {
			t.Fatalf("clock %+d: %s", jump, r)
		}
		made = append(made, logged(s, "--limit", "1")...)
		// Another program writes, the size stays.
		put(t, filepath.Join(s.dir, "other.txt"), fmt.Sprintf("needle %03d\n", i))
		if r := s.tool("search_files", map[string]any{"regex": fmt.Sprintf("needle %03d|%s", i, after)}); !strings.Contains(r, fmt.Sprintf("needle %03d", i)) || !strings.Contains(r, after) {
			t.Errorf("clock %+d: a search does not see what was written: %s", jump, r)
		}
		// A command undoes the last change, and redoes it by undoing that.
		for _, want := range []string{before, after} {
			if out := s.command("undo"); text(t, count) != want+"\n" {
				t.Errorf("clock %+d: undo: %s; the file has %q, want %q", jump, out, text(t, count), want)
			}
		}
		s.tool("write_file", map[string]any{"path": "gone.txt", "content": "gone\n"})
		s.tool("delete_file", map[string]any{"path": "gone.txt"})
		if out := s.command("undo"); text(t, filepath.Join(s.dir, "gone.txt")) != "gone\n" {
			t.Errorf("clock %+d: a deletion is not undone: %s", jump, out)
		}
		s.must(nil, os.Remove(filepath.Join(s.dir, "gone.txt")))
		put(t, count, fmt.Sprintf("count %03d\n", 2*i+2))
		if took := time.Since(began); took > time.Minute {
			t.Errorf("clock %+d: %v", jump, took)
		}
	}
	var listed []string
	for _, id := range logged(s, "--limit", "0") {
		if slices.Contains(made, id) {
			listed = append(listed, id)
		}
	}
	if slices.Reverse(listed); !slices.Equal(listed, made) {
		t.Errorf("the log has %v, made were %v", listed, made)
	}
	t.Logf("%d jumps, %d changes in their order", len(jumps), len(listed))
}

// logged are the ids that quarry log lists, the newest first.
func logged(s *soak, args ...string) (ids []string) {
	for line := range strings.Lines(s.command(append([]string{"log"}, args...)...)) {
		ids = append(ids, strings.Fields(line + " ?")[0])
	}
	return ids
}

func text(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		return err.Error()
	}
	return string(b)
}
