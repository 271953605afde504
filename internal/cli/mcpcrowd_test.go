package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"quarry/internal/stress"
)

// webServer is a process of the program that serves HTTP.
type webServer struct {
	url, token string
	pid        int
}

func startHTTP(t *testing.T, dir string, args ...string) *webServer {
	t.Helper()
	cmd := program(t, dir, append([]string{"mcp", "--http", "0"}, args...)...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	s := &webServer{pid: cmd.Process.Pid}
	for r := bufio.NewReader(stderr); s.url == ""; {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if m := regexp.MustCompile(`Bearer (\S+)`).FindStringSubmatch(line); m != nil {
			s.token = m[1]
		}
		if m := regexp.MustCompile(`listening on (\S+)`).FindStringSubmatch(line); m != nil {
			s.url = m[1]
		}
	}
	return s
}

// webClient is one client, with or without a session.
type webClient struct {
	server  *webServer
	http    *http.Client
	session string
	id      int
}

const newEraMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`

func (s *webServer) client(sessions bool) (*webClient, error) {
	c := &webClient{server: s, http: &http.Client{Transport: &http.Transport{}}}
	if !sessions {
		return c, nil
	}
	_, header, err := c.post(helloLine, nil)
	if err == nil {
		c.session = header.Get("Mcp-Session-Id")
		_, _, err = c.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, map[string]string{"Mcp-Session-Id": c.session})
	}
	return c, err
}

func (c *webClient) post(body string, headers map[string]string) ([]byte, http.Header, error) {
	req, err := http.NewRequest("POST", c.server.url, strings.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Authorization", "Bearer "+c.server.token)
	for k, v := range headers {
		req.Header.Set(k, v)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode >= 300 {
		err = fmt.Errorf("status %d: %s", resp.StatusCode, data)
	}
	for line := range bytes.Lines(data) { // a server may answer with an event stream
		if rest, ok := bytes.CutPrefix(line, []byte("data: {")); ok {
			data = append([]byte("{"), rest...)
		}
	}
	return data, resp.Header, err
}

type toolAnswer struct {
	Content []struct{ Text string }
	IsError bool
}

// call calls a tool.
func (c *webClient) call(name string, args map[string]any) (*toolAnswer, error) {
	c.id++
	raw, err := json.Marshal(args)
	if err != nil {
		return nil, err
	}
	params := fmt.Sprintf(`{"name":%q,"arguments":%s}`, name, raw)
	headers := map[string]string{"Mcp-Session-Id": c.session, "Mcp-Protocol-Version": "2025-11-25"}
	if c.session == "" {
		params = fmt.Sprintf(`{"name":%q,"arguments":%s,%s}`, name, raw, newEraMeta)
		headers = map[string]string{"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": name}
	}
	data, _, err := c.post(rpc(c.id, "tools/call", params), headers)
	if err != nil {
		return nil, err
	}
	var m struct {
		Result *toolAnswer
		Error  json.RawMessage
	}
	if err := json.Unmarshal(data, &m); err != nil || m.Result == nil || len(m.Result.Content) == 0 {
		return nil, fmt.Errorf("%s answers %.300s (%v)", name, data, err)
	}
	return m.Result, nil
}

// 100 clients, with and without sessions, read, search and edit a workspace over HTTP. No edit of
// the shared counters is lost, because a stale edit is refused and repeated. No other call fails.
//
// The server's memory grows only by the undo log, whose entries remain loaded: after 60 rounds of
// only changes, they were 13.1 of the 15.1 MB of the heap, 0.8 KB each. The rest contained no
// session, request or answer. After 60 rounds of only reads and searches the heap had 1 MB, as at
// the start.
func TestCrowd(t *testing.T) {
	stress.SkipTiny(t)
	dir := t.TempDir()
	const counters = 5
	for i := range counters {
		writeFile(t, filepath.Join(dir, fmt.Sprintf("counter%d.txt", i)), "count: 0\n")
	}
	for i := range 200 {
		writeFile(t, filepath.Join(dir, "src", fmt.Sprintf("f%03d.txt", i)), strings.Repeat(fmt.Sprintf("line of file %d with a needle%d\n", i, i%7), 20))
	}
	run := stress.Start(t, "protocol: a hundred clients", 1, 40)
	clients, rounds := stress.Size(30, 100), 0
	server := startHTTP(t, dir, "--trash", "none")
	var added [counters]atomic.Int64
	var conflicts, calls atomic.Int64
	list := make([]*webClient, clients)
	for i := range list {
		var err error
		if list[i], err = server.client(i%2 == 0); err != nil {
			t.Fatal(err)
		}
	}
	round := func(n int) {
		var wait sync.WaitGroup
		for i, c := range list {
			wait.Go(func() {
				w := &crowdWorker{c: c, name: fmt.Sprintf("own/client%d.txt", i), round: n, rnd: rand.New(rand.NewPCG(uint64(i), uint64(n))), calls: &calls}
				if err := w.all(&added, &conflicts); err != nil {
					t.Errorf("client %d, round %d: %v", i, n, err)
				}
			})
		}
		wait.Wait()
	}
	round(0)
	before := residentKB(server.pid)
	began, first := time.Now(), calls.Load()
	for range run.Cases() {
		rounds++
		round(rounds)
	}
	run.Tried(int(calls.Load() - first))
	took := time.Since(began)
	after := residentKB(server.pid)
	for i := range counters {
		data, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("counter%d.txt", i)))
		if want := fmt.Sprintf("count: %d\n", added[i].Load()); err != nil || string(data) != want {
			t.Errorf("counter %d holds %q, %v; want %q", i, data, err, want)
		}
	}
	for i := range list {
		data, err := os.ReadFile(filepath.Join(dir, "own", fmt.Sprintf("client%d.txt", i)))
		if got := strings.Count(string(data), "\n"); err != nil || got != rounds+1 {
			t.Errorf("the file of client %d has %d lines, %v; want %d", i, got, err, rounds+1)
		}
	}
	t.Logf("%d clients, %d calls in %d rounds, %v a call; %d conflicts; memory %d KB, then %d KB",
		clients, calls.Load(), rounds+1, (took / time.Duration(max(calls.Load()-first, 1))).Round(time.Microsecond), conflicts.Load(), before, after)
	if after > before+before/2+32<<10 {
		t.Errorf("the server's memory grew from %d KB to %d KB", before, after)
	}
}

// crowdWorker does the work of one client in one round.
type crowdWorker struct {
	c     *webClient
	name  string // name of the client's own file
	round int
	rnd   *rand.Rand
	calls *atomic.Int64
}

func (w *crowdWorker) must(name string, args map[string]any, want string) error {
	w.calls.Add(1)
	a, err := w.c.call(name, args)
	if err != nil {
		return err
	}
	if a.IsError || !strings.Contains(a.Content[0].Text, want) {
		return fmt.Errorf("%s %v: %.300s; want %q", name, args, a.Content[0].Text, want)
	}
	return nil
}

func (w *crowdWorker) all(added *[5]atomic.Int64, conflicts *atomic.Int64) error {
	n := w.rnd.IntN(200)
	file := fmt.Sprintf("src/f%03d.txt", n)
	if err := w.must("read_file", map[string]any{"path": file}, fmt.Sprintf("line of file %d ", n)); err != nil {
		return err
	}
	if err := w.must("search_files", map[string]any{"regex": fmt.Sprintf("file %d with", n)}, "# "+file); err != nil {
		return err
	}
	if err := w.must("search_by_path", map[string]any{"pattern": filepath.Base(file)}, file); err != nil {
		return err
	}
	// Append a line to its own file in each round.
	line := fmt.Sprintf("round %d", w.round)
	if w.round == 0 {
		if err := w.must("write_file", map[string]any{"path": w.name, "content": line + "\n"}, "Created"); err != nil {
			return err
		}
	} else if err := w.must("edit_file", map[string]any{"path": w.name, "insert_after_line": w.round, "content": line}, "Inserted 1 line"); err != nil {
		return err
	}
	return w.count(w.rnd.IntN(5), added, conflicts)
}

var (
	countText   = regexp.MustCompile(`count: (\d+)`)
	versionText = regexp.MustCompile(`\[version ([0-9a-f]+)`)
)

// count adds one to a shared counter.
func (w *crowdWorker) count(i int, added *[5]atomic.Int64, conflicts *atomic.Int64) error {
	path := fmt.Sprintf("counter%d.txt", i)
	for range 10_000 {
		w.calls.Add(2)
		read, err := w.c.call("read_file", map[string]any{"path": path})
		if err != nil {
			return err
		}
		m := countText.FindStringSubmatch(read.Content[0].Text)
		version := versionText.FindStringSubmatch(read.Content[0].Text)
		if read.IsError || m == nil || version == nil {
			return fmt.Errorf("read %s: %s", path, read.Content[0].Text)
		}
		n, _ := strconv.Atoi(m[1])
		done, err := w.c.call("edit_file", map[string]any{
			"path": path, "old_text": m[0], "new_text": fmt.Sprintf("count: %d", n+1), "expected_version": version[1],
		})
		if err != nil {
			return err
		}
		if !done.IsError {
			added[i].Add(1)
			return nil
		}
		if !strings.HasSuffix(done.Content[0].Text, "\n[CONFLICT]") {
			return fmt.Errorf("edit %s: %s", path, done.Content[0].Text)
		}
		conflicts.Add(1)
	}
	return fmt.Errorf("%s could never be changed", path)
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// residentKB returns the resident memory of a process in KB, or 0 if it is unknown.
func residentKB(pid int) int {
	if runtime.GOOS != "linux" {
		return 0
	}
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	m := regexp.MustCompile(`VmRSS:\s+(\d+)`).FindSubmatch(data)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(string(m[1]))
	return n
}
