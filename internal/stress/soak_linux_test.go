package stress_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"quarry"
	"quarry/change"
	"quarry/internal/stress"
	"quarry/search"
)

// TestSoak runs the built program as an MCP server that updates its index. Meanwhile an agent, a
// person on the command line, other programs and git change the tree. Each round ends with the
// initial tree, so the server must then use the same resources: handles, watches, threads and, in
// this process, goroutines. Memory must not keep growing, and every answer must equal a scan's.
func TestSoak(t *testing.T) {
	stress.SkipQuick(t)
	for _, tool := range []string{"go", "git"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed", tool)
		}
	}
	s := newSoak(t)
	defer s.close()
	run := stress.StartFor(t, "soak", 6*time.Second)
	s.began = time.Now()
	for seed := range run.Cases() {
		s.round(run, seed)
		s.sample()
	}
	run.Tried(s.compared)
	s.judge(run)
}

type soak struct {
	t       *testing.T
	dir     string // the tree, a git repository
	program string
	env     []string
	server  *exec.Cmd
	in      io.WriteCloser
	mu      sync.Mutex // guards in and waiting
	waiting map[int]chan string
	next    int
	own     *quarry.Workspace // this process's workspace, with its own index

	calls, failed, compared, differences int
	began                                time.Time
	printed                              time.Time
	samples                              []sample
}

// sample holds the resources used by the server and by this process at the end of a round.
type sample struct {
	at                        time.Duration
	rss                       int64 // resident memory of the server, in KB
	handles, threads, watches int   // of the server
	goroutines                int   // of this process
	heap                      int64 // of this process, after a garbage collection, in KB
}

func newSoak(t *testing.T) *soak {
	t.Helper()
	base := t.TempDir()
	s := &soak{t: t, dir: filepath.Join(base, "tree"), program: filepath.Join(base, "quarry"), waiting: map[int]chan string{}}
	s.must(exec.Command("go", "build", "-o", s.program, "../../cmd/quarry").CombinedOutput())
	home := filepath.Join(base, "home")
	s.env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "XDG_RUNTIME_DIR=" + filepath.Join(base, "run"), "GIT_CONFIG_NOSYSTEM=1", "TMPDIR=" + base}
	for _, d := range []string{s.dir, home, filepath.Join(base, "run")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	s.repository()
	s.start()
	var err error
	s.own, err = quarry.Open(s.dir, &quarry.Options{StateDir: stress.FastDir(t), Trash: change.TrashLocal, Index: &quarry.IndexOptions{Dir: stress.FastDir(t)}})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.own.Index().Wait(context.Background()); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *soak) must(out []byte, err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatalf("%v: %s", err, out)
	}
}

func (s *soak) git(args ...string) {
	s.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=soak", "-c", "user.email=soak@localhost", "-c", "gc.auto=0"}, args...)...)
	cmd.Dir, cmd.Env = s.dir, s.env
	s.must(cmd.CombinedOutput())
}

// repository makes a git repository with two branches that differ in most files and folders.
func (s *soak) repository() {
	files := 300
	if stress.Long() {
		files = 1500
	}
	s.git("init", "-q", "-b", "main")
	for branch := range 2 {
		if branch == 1 {
			s.git("checkout", "-q", "-b", "other")
		}
		for i := range files {
			if i%5 == 0 && branch == 1 {
				continue
			}
			put(s.t, filepath.Join(s.dir, fmt.Sprintf("pkg%d/b%d/f%d.go", i%37, branch, i)), soakText(rand.New(rand.NewPCG(uint64(i), uint64(branch)))))
			put(s.t, filepath.Join(s.dir, fmt.Sprintf("same%d/f%d.md", i%11, i)), soakText(rand.New(rand.NewPCG(uint64(i), 7+uint64(branch)))))
		}
		if branch == 1 {
			s.must(nil, os.RemoveAll(filepath.Join(s.dir, "same3")))
		}
		s.git("add", "-A")
		s.git("commit", "-q", "-m", "branch")
	}
	s.git("checkout", "-q", "main")
}

var soakWords = []string{"alpha", "beta", "needle", "mutex_lock", "func", "return", "ünïcode", "Gamma", "x", "deadline", "TODO"}

func soakText(rng *rand.Rand) string {
	var b strings.Builder
	for range 5 + rng.IntN(60) {
		for range 1 + rng.IntN(6) {
			b.WriteString(soakWords[rng.IntN(len(soakWords))] + " ")
		}
		fmt.Fprintf(&b, "%d\n", rng.IntN(1000))
	}
	return b.String()
}

// start starts the server.
func (s *soak) start() {
	s.t.Helper()
	s.server = exec.Command(s.program, "mcp", "--root", s.dir, "--trash", "local")
	s.server.Env, s.server.Dir, s.server.Stderr = s.env, s.dir, os.Stderr
	in, err := s.server.StdinPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	out, err := s.server.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := s.server.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.in = in
	go func() {
		r := bufio.NewReaderSize(out, 1<<20)
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			var m struct{ ID int }
			json.Unmarshal([]byte(line), &m)
			s.mu.Lock()
			c := s.waiting[m.ID]
			delete(s.waiting, m.ID)
			s.mu.Unlock()
			if c != nil {
				c <- line
			}
		}
	}()
	s.rpc("initialize", map[string]any{"protocolVersion": "2025-11-25", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "soak", "version": "1"}})
}

// rpc sends one request and waits for its answer.
func (s *soak) rpc(method string, params any) string {
	s.t.Helper()
	answer := make(chan string, 1)
	s.mu.Lock()
	s.next++
	id := s.next
	s.waiting[id] = answer
	b, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	if err == nil {
		_, err = s.in.Write(append(b, '\n'))
	}
	s.mu.Unlock()
	if err != nil {
		s.t.Errorf("the server is gone: %v", err)
		return ""
	}
	select {
	case line := <-answer:
		return line
	case <-time.After(2 * time.Minute):
		s.t.Errorf("no answer to %s in 2 minutes", b)
		return ""
	}
}

func (s *soak) tool(name string, args map[string]any) string {
	line := s.rpc("tools/call", map[string]any{"name": name, "arguments": args})
	s.mu.Lock()
	s.calls++
	if strings.Contains(line, `"isError":true`) {
		s.failed++
	}
	s.mu.Unlock()
	return line
}

func (s *soak) command(args ...string) string {
	cmd := exec.Command(s.program, args...)
	cmd.Dir, cmd.Env = s.dir, s.env
	out, _ := cmd.CombinedOutput()
	return string(out)
}

// round changes the tree in every way, compares the answers, and restores the tree.
func (s *soak) round(run *stress.Run, seed uint64) {
	rng := stress.Rand(seed)
	// A second agent searches at the same time.
	stop, wait := make(chan struct{}), sync.WaitGroup{}
	wait.Go(func() {
		own := rand.New(rand.NewPCG(seed, 2))
		for {
			select {
			case <-stop:
				return
			default:
			}
			word := soakWords[own.IntN(len(soakWords))]
			switch own.IntN(5) {
			case 0:
				s.tool("search_files", map[string]any{"regex": word + `\s\w+`})
			case 1:
				s.tool("file_search", map[string]any{"query": word})
			case 2:
				s.tool("search_by_path", map[string]any{"pattern": "f1*.md"})
			case 3:
				s.tool("search_code", map[string]any{"query": word + " deadline"})
			case 4:
				s.tool("list_files", map[string]any{"pattern": "**/*.go"})
			}
		}
	})
	s.git("checkout", "-q", "-f", "other")
	s.compare(run, seed, rng, "a checkout")
	for range 12 {
		s.agent(rng)
		s.others(rng)
	}
	s.compare(run, seed, rng, "changes")
	s.git("checkout", "-q", "-f", "main")
	s.git("clean", "-q", "-fdx")
	close(stop)
	wait.Wait()
	s.compare(run, seed, rng, "going back")
}

// agent changes a file over MCP, by the command line or with the library, in turn.
func (s *soak) agent(rng *rand.Rand) {
	file := fmt.Sprintf("same%d/f%d.md", rng.IntN(11), rng.IntN(300))
	folder := fmt.Sprintf("pkg%d", rng.IntN(37))
	switch rng.IntN(9) {
	case 0:
		s.tool("write_file", map[string]any{"path": file, "content": soakText(rng)})
	case 1:
		s.tool("edit_file", map[string]any{"path": file, "old_text": "needle", "new_text": "thread", "replace_all": true})
	case 2:
		s.tool("move_file", map[string]any{"source": folder, "destination": fmt.Sprintf("moved%d/%s", rng.IntN(5), folder)})
	case 3:
		s.tool("delete_file", map[string]any{"path": []string{file, folder}[rng.IntN(2)]})
	case 4:
		s.tool("undo_change", map[string]any{})
	case 5:
		s.tool("create_note", map[string]any{"path": fmt.Sprintf("notes/n%d.md", rng.IntN(50)), "content": soakText(rng)})
	case 6:
		s.command("edit", file, "--old", "alpha", "--new", "omega", "--all")
	case 7:
		s.command("mv", folder, "by-hand/"+folder)
	case 8:
		s.own.Write(context.Background(), file, []byte(soakText(rng)), nil)
		s.own.Search(context.Background(), search.Query{Pattern: "omega|thread"})
	}
}

// others changes the tree like other programs.
func (s *soak) others(rng *rand.Rand) {
	at := func(name string) string { return filepath.Join(s.dir, name) }
	file := at(fmt.Sprintf("same%d/f%d.md", rng.IntN(11), rng.IntN(300)))
	switch rng.IntN(6) {
	case 0:
		os.Rename(at(fmt.Sprintf("pkg%d", rng.IntN(37))), at(fmt.Sprintf("pkg%d-renamed", rng.IntN(37))))
	case 1:
		os.WriteFile(file, []byte(soakText(rng)), 0o644)
	case 2:
		os.Truncate(file, int64(rng.IntN(40)))
	case 3:
		os.RemoveAll(at(fmt.Sprintf("pkg%d", rng.IntN(37))))
	case 4:
		outside := filepath.Join(filepath.Dir(s.dir), "outside")
		if os.Rename(at("same5"), outside) == nil {
			os.Rename(outside, at("same5-back"))
		}
	case 5:
		if f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0); err == nil {
			f.WriteString("needle appended\n")
			f.Close()
		}
	}
}

// compare compares answers of the index and of scans; the tree does not change meanwhile.
func (s *soak) compare(run *stress.Run, seed uint64, rng *rand.Rand, when string) {
	for range 3 {
		word := soakWords[rng.IntN(len(soakWords))]
		flags := [][]string{{"-c"}, {"-l"}, {"-n"}, {"-i", "-c"}}[rng.IntN(4)]
		args := append([]string{"search"}, append(flags, word)...)
		byIndex, byScan := s.command(args...), s.command(append(args, "--no-index")...)
		s.compared++
		if byIndex != byScan {
			s.differences++
			run.Violation(seed, "after %s: %v differs by index\n%.2000s\nand by scan\n%.2000s", when, args, byIndex, byScan)
		}
		a, err := s.own.Search(context.Background(), search.Query{Pattern: word, Detail: search.Counts})
		if err != nil {
			s.t.Fatal(err)
		}
		b, err := s.own.Search(context.Background(), search.Query{Pattern: word, Detail: search.Counts, Scope: search.Scope{NoIndex: true}})
		if err != nil {
			s.t.Fatal(err)
		}
		s.compared++
		if a.LinesMatched != b.LinesMatched || a.FilesMatched != b.FilesMatched {
			s.differences++
			run.Violation(seed, "after %s: %s in the library: %d lines by index, %d by scan", when, word, a.LinesMatched, b.LinesMatched)
		}
	}
}

// sample reads the server's resources from /proc.
func (s *soak) sample() {
	proc := fmt.Sprintf("/proc/%d/", s.server.Process.Pid)
	now := sample{at: time.Since(s.began), goroutines: runtime.NumGoroutine()}
	status, _ := os.ReadFile(proc + "status")
	for line := range strings.Lines(string(status)) {
		f := strings.Fields(line)
		if len(f) < 2 {
			continue
		}
		switch f[0] {
		case "VmRSS:":
			now.rss, _ = strconv.ParseInt(f[1], 10, 64)
		case "Threads:":
			now.threads, _ = strconv.Atoi(f[1])
		}
	}
	fds, _ := os.ReadDir(proc + "fd")
	now.handles = len(fds)
	for _, fd := range fds {
		info, _ := os.ReadFile(proc + "fdinfo/" + fd.Name())
		now.watches += strings.Count("\n"+string(info), "\ninotify ")
	}
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	now.heap = int64(m.HeapAlloc) >> 10
	s.samples = append(s.samples, now)
	if time.Since(s.printed) > 30*time.Second || len(s.samples) == 1 {
		s.printed = time.Now()
		s.print(now)
	}
}

func (s *soak) print(n sample) {
	s.t.Logf("%6.0f s: %d rounds, %d calls (%d refused), %d compared, %d differ | server: %d MB, %d handles, %d threads, %d watches | library: %d goroutines, %d MB",
		n.at.Seconds(), len(s.samples), s.calls, s.failed, s.compared, s.differences, n.rss>>10, n.handles, n.threads, n.watches, n.goroutines, n.heap>>10)
}

// judge checks the second half of the samples; the first half is warm-up.
func (s *soak) judge(run *stress.Run) {
	s.print(s.samples[len(s.samples)-1])
	half := s.samples[len(s.samples)/2:]
	if len(half) < 2 {
		return
	}
	for _, c := range []struct {
		name  string
		of    func(sample) float64
		slack float64 // by how much the last sample may exceed the first of the half
	}{
		{"handles", func(n sample) float64 { return float64(n.handles) }, 6},
		{"watches", func(n sample) float64 { return float64(n.watches) }, 2},
		{"threads", func(n sample) float64 { return float64(n.threads) }, 6},
		{"goroutines", func(n sample) float64 { return float64(n.goroutines) }, 6},
		{"server memory, MB", func(n sample) float64 { return float64(n.rss) / 1024 }, 48},
		{"library heap, MB", func(n sample) float64 { return float64(n.heap) / 1024 }, 16},
	} {
		third := max(1, len(half)/3)
		grew := median(half[len(half)-third:], c.of) - median(half[:third], c.of)
		s.t.Logf("%-18s from %.0f to %.0f in the second half, slope %+.2f an hour", c.name, c.of(half[0]), c.of(half[len(half)-1]), slope(half, c.of)*3600)
		if grew > c.slack {
			run.Violation(0, "%s grew by %.1f in the second half", c.name, grew)
		}
	}
}

func median(list []sample, of func(sample) float64) float64 {
	var v []float64
	for _, n := range list {
		v = append(v, of(n))
	}
	slices.Sort(v)
	return v[len(v)/2]
}

// slope returns the slope of the least-squares line through the samples, per second.
func slope(list []sample, of func(sample) float64) float64 {
	var n, x, y, xx, xy float64
	for _, s := range list {
		a, b := s.at.Seconds(), of(s)
		n, x, y, xx, xy = n+1, x+a, y+b, xx+a*a, xy+a*b
	}
	if d := n*xx - x*x; d > 0 {
		return (n*xy - x*y) / d
	}
	return 0
}

func (s *soak) close() {
	if s.own != nil {
		s.own.Close()
	}
	s.in.Close()
	ended := make(chan error, 1)
	go func() { ended <- s.server.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			s.t.Errorf("the server ended with %v", err)
		}
	case <-time.After(20 * time.Second):
		s.server.Process.Kill()
		s.t.Error("the server did not end with its input")
	}
}
