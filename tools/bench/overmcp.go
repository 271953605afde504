package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// mcpCases are an agent's questions, each as a tool call and as equivalent arguments of rg. Quarry
// must either be faster by the given factor than ripgrep is at counting all matching lines, or
// answer within the given milliseconds.
var mcpCases = []struct {
	name, args, pattern string
	target, millis      float64
}{
	{"nothing found, with the look around", `{"regex":"zzyzxqq"}`, "zzyzxqq", 100, 0},
	{"PM_RESUME, a rare word", `{"regex":"PM_RESUME"}`, "PM_RESUME", 0, 1},
	{"mutex_lock, first page", `{"regex":"mutex_lock"}`, "mutex_lock", 40, 0},
	{"[A-Z]+_SUSPEND, first page", `{"regex":"[A-Z]+_SUSPEND"}`, "[A-Z]+_SUSPEND", 40, 0},
	{`\w{5}\s+\w{5}\s+\w{5}, first page`, `{"regex":"\\w{5}\\s+\\w{5}\\s+\\w{5}"}`, `\w{5}\s+\w{5}\s+\w{5}`, 20, 0},
	{"most matches first: mutex_lock", `{"pattern":"mutex_lock"}`, "mutex_lock", 20, 0},
	{"most matches first: return", `{"pattern":"return"}`, "return", 20, 0},
	{`most matches first: static\s+int`, `{"pattern":"static\\s+int"}`, `static\s+int`, 20, 0},
	{`most matches first: \w{5}\s+\w{5}\s+\w{5}`, `{"pattern":"\\w{5}\\s+\\w{5}\\s+\\w{5}"}`, `\w{5}\s+\w{5}\s+\w{5}`, 20, 0},
	{`most matches first: ^#include`, `{"pattern":"^#include"}`, `^#include`, 20, 0},
}

// overMCP measures calls of search_files in a server that owns an index, from the first byte of the
// request to the last byte of the answer, and compares them with ripgrep.
func (b *bench) overMCP() error {
	exe, cache, err := b.cached("cache")
	if err != nil {
		return err
	}
	defer func() { b.env = nil }()
	if dirs, err := indexesBelow(cache); err != nil {
		return err
	} else if len(dirs) == 0 {
		if _, err := b.once([]string{exe, "index", "build", "--quiet"}); err != nil {
			return err
		}
	}
	server, err := b.startMCP(exe)
	if err != nil {
		return err
	}
	defer server.close()
	fmt.Printf("\nmcp: search_files by an index, and how many times faster than rg -c\n%-48s %9s %9s\n", "", "ripgrep", "quarry")
	for _, c := range mcpCases {
		best, rg := time.Duration(1<<62), time.Duration(1<<62)
		for range b.rounds {
			once, err := b.once([]string{b.rg, "--no-config", "--no-require-git", "-c", c.pattern})
			if err != nil {
				return err
			}
			rg = min(rg, once.wall)
			for start, i := time.Now(), 0; i < 3 || time.Since(start) < 100*time.Millisecond; i++ {
				from := time.Now()
				if _, err := server.call("search_files", c.args); err != nil {
					return err
				}
				best = min(best, time.Since(from))
			}
		}
		fmt.Printf("%-48s %6d ms %6.2f ms %6.1fx%s\n", c.name, rg.Milliseconds(), best.Seconds()*1000, rg.Seconds()/best.Seconds(), asks(c.target, c.millis))
	}
	if err := b.pathsOverMCP(server); err != nil {
		return err
	}
	return b.fourServers(exe, server)
}

// pathsOverMCP measures search_by_path with an approximate path. The call first looks for exactly
// that path, and then ranks all paths.
func (b *bench) pathsOverMCP(server *mcpServer) error {
	for _, words := range []string{"tcp_input", "ipv4/tcp_inptu", "drivers net intel", "s"} {
		best := time.Duration(1 << 62)
		for range 5 * b.rounds {
			from := time.Now()
			if _, err := server.call("search_by_path", fmt.Sprintf(`{"pattern":%q}`, words)); err != nil {
				return err
			}
			best = min(best, time.Since(from))
		}
		fmt.Printf("%-48s %9s %6.2f ms%s\n", "search_by_path: "+words, "", best.Seconds()*1000, asks(0, 10))
	}
	return nil
}

func asks(times, millis float64) string {
	if times > 0 {
		return fmt.Sprintf("  (asked: %.0fx)", times)
	}
	return fmt.Sprintf("  (asked: %.0f ms)", millis)
}

// fourServers compares the call rate of one server with that of four servers at once, one of which
// owns the index.
func (b *bench) fourServers(exe string, first *mcpServer) error {
	servers := []*mcpServer{first}
	for range 3 {
		s, err := b.startMCP(exe)
		if err != nil {
			return err
		}
		defer s.close()
		servers = append(servers, s)
	}
	for _, c := range []struct{ name, args string }{
		{"PM_RESUME", `{"regex":"PM_RESUME"}`},
		{"mutex_lock, first page", `{"regex":"mutex_lock"}`},
		{"most matches first: static\\s+int", `{"pattern":"static\\s+int"}`},
	} {
		var rate [2]float64
		for range b.rounds {
			for i, some := range [][]*mcpServer{servers[1:2], servers} {
				n, err := callsASecond(some, c.args)
				if err != nil {
					return err
				}
				rate[i] = max(rate[i], n)
			}
		}
		fmt.Printf("%-48s %6.0f and %6.0f calls a second, %.2fx\n", "one client, four servers at once: "+c.name, rate[0], rate[1], rate[1]/rate[0])
	}
	return nil
}

// callsASecond calls each of the servers repeatedly for some time and returns the rate.
func callsASecond(servers []*mcpServer, args string) (float64, error) {
	const while = 300 * time.Millisecond
	counts, errs := make([]int, len(servers)), make([]error, len(servers))
	start := time.Now()
	var wait sync.WaitGroup
	for i, s := range servers {
		wait.Go(func() {
			for time.Since(start) < while && errs[i] == nil {
				_, errs[i] = s.call("search_files", args)
				counts[i]++
			}
		})
	}
	wait.Wait()
	total := 0
	for _, n := range counts {
		total += n
	}
	return float64(total) / time.Since(start).Seconds(), errors.Join(errs...)
}

// mcpServer is a process of quarry mcp, connected by pipes.
type mcpServer struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
	id  int
}

// startMCP starts a server for the tree and waits until its index answers.
func (b *bench) startMCP(exe string) (*mcpServer, error) {
	s := &mcpServer{cmd: exec.Command(exe, "mcp", "--root", b.tree)}
	s.cmd.Env, s.cmd.Stderr = b.env, os.Stderr
	var err error
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.out = bufio.NewReaderSize(out, 1<<20)
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	_, err = s.ask("initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}`)
	if err == nil {
		_, err = io.WriteString(s.in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	}
	for range 3000 {
		if err != nil {
			s.close()
			return nil, err
		}
		var text string
		if text, err = s.call("get_index_status", `{}`); err == nil && strings.Contains(text, `"ready"`) {
			return s, nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	s.close()
	return nil, errors.New("the index of quarry mcp did not become ready")
}

func (s *mcpServer) close() {
	s.in.Close()
	s.cmd.Wait()
}

// call calls a tool and returns the text of the result.
func (s *mcpServer) call(tool, args string) (string, error) {
	raw, err := s.ask("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, args))
	if err != nil {
		return "", err
	}
	var result struct {
		IsError bool
		Content []struct{ Text string }
	}
	if err := json.Unmarshal(raw, &result); err != nil {
		return "", err
	}
	if result.IsError || len(result.Content) == 0 {
		return "", fmt.Errorf("%s %s: %s", tool, args, raw)
	}
	return result.Content[0].Text, nil
}

// ask sends a request and waits for its answer.
func (s *mcpServer) ask(method, params string) (json.RawMessage, error) {
	s.id++
	if _, err := fmt.Fprintf(s.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", s.id, method, params); err != nil {
		return nil, err
	}
	for {
		line, err := s.out.ReadBytes('\n')
		if err != nil {
			return nil, err
		}
		var answer struct {
			ID            *int
			Result, Error json.RawMessage
		}
		if err := json.Unmarshal(line, &answer); err != nil {
			return nil, err
		}
		switch {
		case answer.ID == nil || *answer.ID != s.id: // a notification
		case answer.Error != nil:
			return nil, errors.New(string(answer.Error))
		default:
			return answer.Result, nil
		}
	}
}
