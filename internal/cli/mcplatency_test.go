package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"quarry/internal/stress"
)

// stdioClient talks to a server process.
type stdioClient struct {
	t  *testing.T
	in io.Writer
	r  *bufio.Reader
	id int
}

func (c *stdioClient) line(text string) []byte {
	c.t.Helper()
	if _, err := io.WriteString(c.in, text+"\n"); err != nil {
		c.t.Fatal(err)
	}
	for {
		line, err := c.r.ReadBytes('\n')
		if err != nil {
			c.t.Fatal(err)
		}
		if strings.Contains(string(line[:min(len(line), 60)]), `"id"`) {
			return line
		}
	}
}

// call calls a tool. It returns the text and how long the client waited.
func (c *stdioClient) call(name, args string) (string, time.Duration) {
	c.t.Helper()
	c.id++
	request := rpc(c.id, "tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, name, args))
	began := time.Now()
	line := c.line(request)
	took := time.Since(began)
	var m struct {
		Result struct{ Content []struct{ Text string } }
	}
	if err := json.Unmarshal(line, &m); err != nil || len(m.Result.Content) == 0 {
		c.t.Fatalf("%s answers %.300s", name, line)
	}
	return m.Result.Content[0].Text, took
}

// TestSearchLatency measures the time from request to answer for a client on stdin and stdout, in a
// large tree with a warm index. QUARRY_BENCH_TREE names the tree. Its index is kept in the
// temporary folder for the next run.
func TestSearchLatency(t *testing.T) {
	tree := os.Getenv("QUARRY_BENCH_TREE")
	if tree == "" || !stress.Thorough() {
		t.Skip("figures only: set QUARRY_BENCH_TREE to a large folder and STRESS=short")
	}
	cmd := program(t, tree, "mcp", "--root", tree)
	keep := filepath.Join(os.TempDir(), "quarry-bench")
	if err := os.MkdirAll(keep, 0o700); err != nil {
		t.Fatal(err)
	}
	cmd.Env = append(cmd.Env, "XDG_CACHE_HOME="+keep)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { in.Close(); _ = cmd.Wait() }()
	c := &stdioClient{t: t, in: in, r: bufio.NewReaderSize(out, 1<<20)}
	c.line(helloLine)
	began := time.Now()
	for ready := false; !ready; {
		ready = stress.Becomes(func() bool {
			text, _ := c.call("get_index_status", "{}")
			return strings.Contains(text, `"ready"`)
		})
	}
	t.Logf("the index was ready after %v", time.Since(began).Round(time.Millisecond))
	for _, q := range []struct{ name, tool, args string }{
		{"a rare literal", "search_files", `{"regex":"t7xx_pcie_mac_enable_disable_int"}`},
		{"a rare literal, one file", "search_files", `{"regex":"t7xx_pcie_mac_atr_cfg"}`},
		{"plain text in any case", "file_search", `{"query":"t7xx_pcie_mac_enable_disable_int"}`},
		{"no match", "search_files", `{"regex":"qwertyuiopasdf"}`},
		{"no match, a filter", "search_files", `{"regex":"t7xx_pcie_mac_atr_cfg","file_pattern":"*.rs"}`},
		{"a path", "search_by_path", `{"pattern":"t7xx_pci.c"}`},
		{"no such path", "search_by_path", `{"pattern":"qwertyuiop.c"}`},
		{"a file", "read_file", `{"path":"kernel/fork.c","end_line":400}`},
		{"information", "get_file_info", `{"path":"kernel/fork.c"}`},
	} {
		text := ""
		var times []time.Duration
		for range 30 {
			var took time.Duration
			text, took = c.call(q.tool, q.args)
			times = append(times, took)
		}
		slices.Sort(times)
		t.Logf("%-26s best %8v  median %8v  worst %8v  %6d bytes  %s", q.name,
			times[0].Round(10*time.Microsecond), times[15].Round(10*time.Microsecond), times[29].Round(10*time.Microsecond), len(text), lastLine(text))
	}
}

func lastLine(s string) string {
	s = s[strings.LastIndexByte(s, '\n')+1:]
	return s[:min(len(s), 160)]
}
