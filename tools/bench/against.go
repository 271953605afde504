package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// againstCommands are commands that change nothing, so they can be repeated.
var againstCommands = [][]string{
	{"--help"},
	{"find"},
	{"find", "-e", "c"},
	{"search", "-c", "PM_RESUME"},
	{"search", "-c", "mutex_lock"},
	{"search", "-c", "zzyzxqq"},
	{"search", "-c", "[A-Z]+_SUSPEND"},
	{"search", "-c", "-i", "linus"},
	{"search", "-c", `^\s*static\s+(inline\s+)?int\s+\w+\(`},
	{"search", "return"},
	{"symbols", "Makefile"},
	{"read", "Makefile"},
	{"replace", "--dry-run", "mutex_lock", "mutex_take"},
	{"index", "status"},
}

// againstCalls are tool calls over MCP that use an index.
var againstCalls = [][2]string{
	{"search_files", `{"regex":"mutex_lock"}`},
	{"search_files", `{"regex":"[A-Z]+_SUSPEND"}`},
	{"search_files", `{"regex":"zzyzxqq"}`},
	{"search_by_path", `{"pattern":"inode"}`},
	{"find_symbol", `{"name":"inode_init"}`},
	{"list_files", `{"path":""}`},
	{"read_file", `{"path":"Makefile"}`},
}

// against compares an older build with this one and, to show the noise, this one with itself.
// For commands it measures processor time. For calls over MCP it measures the time until the last
// byte of the answer.
func (b *bench) against() error {
	exe, cache, err := b.cached("against")
	if err != nil {
		return err
	}
	defer func() { b.env = nil }()
	programs := []string{b.older, exe, exe}
	fmt.Printf("\nagainst %s: processor time of processes, wall time of calls; the last column is this program against itself\n%-60s %10s %10s %7s %7s\n",
		b.older, "", "older", "this", "ratio", "noise")
	for _, args := range againstCommands {
		best := [3]time.Duration{1 << 62, 1 << 62, 1 << 62}
		for round := range b.rounds {
			for k := range programs {
				k = (k + round) % len(programs) // each program is first in some rounds
				c, err := b.once(append([]string{programs[k]}, args...))
				if err != nil {
					return err
				}
				best[k] = min(best[k], c.cpu)
			}
		}
		againstRow(fmt.Sprint(args), best)
	}
	var servers [3]*mcpServer
	for k, program := range programs {
		dir := filepath.Join(cache, fmt.Sprint(k)) // a cache for each, because index formats differ
		b.env = append(os.Environ(), "XDG_CACHE_HOME="+dir, "XDG_STATE_HOME="+dir, "XDG_RUNTIME_DIR="+dir)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		if servers[k], err = b.startMCP(program); err != nil {
			return err
		}
		defer servers[k].close()
	}
	for _, call := range againstCalls {
		best := [3]time.Duration{1 << 62, 1 << 62, 1 << 62}
		for start, round := time.Now(), 0; round < 3 || time.Since(start) < maxRow; round++ {
			for k := range servers {
				k = (k + round) % len(servers)
				from := time.Now()
				if _, err := servers[k].call(call[0], call[1]); err != nil {
					return err
				}
				best[k] = min(best[k], time.Since(from))
			}
		}
		againstRow(call[0]+" "+call[1], best)
	}
	return nil
}

func againstRow(name string, best [3]time.Duration) {
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	fmt.Printf("%-60s %7.2f ms %7.2f ms %6.3fx %6.3fx\n", name, ms(best[0]), ms(best[1]), best[1].Seconds()/best[0].Seconds(), best[2].Seconds()/best[1].Seconds())
}
