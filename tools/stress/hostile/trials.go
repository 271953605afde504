package main

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	logSize  = 64 << 20 // bytes of big.log
	lineSize = 64 << 20 // bytes of the only line of line.txt
	hugeSize = 1e9      // bytes of huge.log, and of the only line of hugeline.txt
	matches  = 5e6      // lines of matches.txt
)

// fill creates the workspace for the trials and their input files.
func fill(dir string) error {
	ws := filepath.Join(dir, "ws")
	for i, t := range trials(ws) {
		if t.in != nil {
			if err := os.WriteFile(input(dir, i), []byte(t.in()), 0o600); err != nil {
				return err
			}
		}
	}
	if err := os.MkdirAll(filepath.Join(ws, "many"), 0o755); err != nil {
		return err
	}
	line := "2026-11-16 12:00:00 INFO request handled in 35 ms by worker 7, 1204 bytes\n"
	code := "static int value = compute(first, second); /* some comment here */\n"
	for name, text := range map[string]string{
		"go.mod": "module hostile\n", "a.txt": strings.Repeat("a", 100<<10), "aaa.txt": strings.Repeat("a", 16<<20),
		"code.c": strings.Repeat(code, 4<<20/len(code)), "code1.c": strings.Repeat(strings.ReplaceAll(code, "\n", " "), 4<<20/len(code)),
		"matches.txt": strings.Repeat("a\n", matches), "angle.java": strings.Repeat("a<b<", 1<<20), "keys.md": manyKeys(400_000),
		"explode.txt": strings.Repeat("a", 5000) + "b\n", "pattern.txt": strings.Repeat("[^a]", 10_000), "word.txt": strings.Repeat("k", 1<<20),
	} {
		if err := os.WriteFile(filepath.Join(ws, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	long := "one long line "
	for _, f := range []struct {
		name, piece string
		size        int
	}{{"100.log", line, 100e6}, {"250.log", line, 250e6}, {"big.log", line, logSize}, {"line.txt", long, lineSize}, {"huge.log", line, hugeSize}, {"hugeline.txt", long, hugeSize}} {
		if err := repeat(filepath.Join(ws, f.name), strings.Repeat(f.piece, 1000), f.size); err != nil {
			return err
		}
	}
	if err := pack(filepath.Join(ws, "bomb.gz"), strings.Repeat(line, 1000), 1.5e9); err != nil {
		return err
	}
	sparse := filepath.Join(ws, "sparse.bin")
	if err := os.WriteFile(sparse, []byte("text at first\n"), 0o644); err != nil {
		return err
	}
	if err := os.Truncate(sparse, 10<<30); err != nil {
		return err
	}
	for i := range 5000 {
		if err := os.WriteFile(filepath.Join(ws, "many", fmt.Sprintf("f%04d.txt", i)), []byte("x\n"), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// pack writes a gzip file that contains piece repeatedly.
func pack(file, piece string, size int) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	w, err := gzip.NewWriterLevel(f, gzip.BestSpeed)
	if err != nil {
		return err
	}
	for n := 0; n < size; n += len(piece) {
		if _, err := io.WriteString(w, piece); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return f.Close()
}

func repeat(file, piece string, size int) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	for n := 0; n < size; n += len(piece) {
		if _, err := w.WriteString(piece); err != nil {
			return err
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}

// arguments returns the arguments of a tool as JSON.
func arguments(m func() map[string]any) func() string {
	return func() string {
		b, err := json.Marshal(m())
		if err != nil {
			panic(err) // only has strings and booleans
		}
		return string(b)
	}
}

func trials(ws string) []trial {
	const idle = 40 // MB used by an idle program
	edit := func(path, text string, n int, dry bool) func() string {
		return arguments(func() map[string]any {
			return map[string]any{"path": path, "old_text": "a", "new_text": strings.Repeat(text, n), "replace_all": true, "dry_run": dry}
		})
	}
	replace := func(path, before, after string, dry bool) func() string {
		return arguments(func() map[string]any {
			return map[string]any{"path": path, "old_text": before, "new_text": after, "replace_all": true, "dry_run": dry}
		})
	}
	call := func(tool string) []string { return []string{"call", tool, "-"} }
	search := func(args ...string) []string { return append([]string{"search", "--no-index"}, args...) }
	return []trial{
		{"replace every a of 100 KB by 1 MB, dry run", call("edit_file"), edit("a.txt", "x", 1<<20, true), 64 + idle, 5 * time.Second, "more than the limit"},
		{"the same, meant", call("edit_file"), edit("a.txt", "x", 1<<20, false), 64 + idle, 5 * time.Second, "more than the limit"},
		{"replace every a of 100 KB by 2 KB (200 MB), dry run", call("edit_file"), edit("a.txt", "x", 2000, true), 64 + idle, 10 * time.Second, ""},
		{"replace every letter of 16 MB by two, dry run", call("edit_file"), edit("aaa.txt", "bc", 1, true), 64, 10 * time.Second, ""},
		{"replace every e of 100 MB by two, dry run", call("edit_file"), replace("100.log", "e", "EE", true), 64, 20 * time.Second, "occurrences"},
		{"the same, meant", call("edit_file"), replace("100.log", "e", "EE", false), 64, 20 * time.Second, "occurrences"},
		{"the undo of it", []string{"undo"}, nil, 64, 20 * time.Second, "Undid"},
		{"insert a line in 100 MB, meant", []string{"edit", "100.log", "--insert-after", "1000000", "--content", "x"}, nil, 64, 10 * time.Second, "nserted"},
		{"replace a word on every line of 250 MB by two lines, dry run", call("edit_file"), replace("250.log", "worker", "a\nb", true), 64, 30 * time.Second, "occurrences"},
		{"replace a word on every line of 250 MB, meant", call("edit_file"), replace("250.log", "worker", "WORKER", false), 64, 30 * time.Second, "occurrences"},
		{"replace a word on every line of 1 GB, dry run", call("edit_file"), replace("huge.log", "worker 7", "worker 8", true), 64, 60 * time.Second, "occurrences"},
		{"overwrite 250 MB by a line, dry run", call("write_file"), arguments(func() map[string]any {
			return map[string]any{"path": "250.log", "content": "x\n", "dry_run": true}
		}), 64, 20 * time.Second, ""},
		{`search -U [\w\W]{5000} in 4 MB`, search("-U", "-c", `[\w\W]{5000}`, "code.c"), nil, 200, 10 * time.Second, ""},
		{"search a class 10,000 times", search("-f", "pattern.txt", "code1.c"), nil, 200, 10 * time.Second, ""},
		{"search -U a count that only simulation can run, 4 MB", search("-U", "-c", `[^a]{40}[^b]{5000}`, "code1.c"), nil, 300, 30 * time.Second, "not everything was searched"},
		{"search .*.*=.* in one line of 4 MB", search("-c", ".*.*=.*", "code1.c"), nil, 100, 5 * time.Second, "1"},
		{"search a word of 1 MB in any case", search("-i", "-f", "word.txt", "code.c"), nil, 300, 20 * time.Second, ""},
		{"search by backtracking that explodes", search("--syntax", "javascript", `(a*)*(?=c)\1b`, "explode.txt"), nil, 100, 20 * time.Second, "too many steps"},
		{"find by a glob of 65,000 backslashes", []string{"find", strings.Repeat(`\`, 65_000)}, nil, 100, 5 * time.Second, ""},
		{"count in a log of 64 MB", search("-c", "worker 7", "big.log"), nil, 64 + idle, 5 * time.Second, "9"},
		{"search -U in a log of 64 MB", search("-U", "-c", `bytes\n2026-11-17`, "big.log"), nil, 64 + 64 + idle, 10 * time.Second, ""},
		{"print every line of a log of 1 GB", search("-n", "e", "huge.log"), nil, 64, 20 * time.Second, "1:2026"},
		{"every line of 1 GB that does not match", search("-n", "-v", "zebra", "huge.log"), nil, 64, 20 * time.Second, "1:2026"},
		{"every match in 1 GB, alone", search("-o", "worker 7", "huge.log"), nil, 64, 20 * time.Second, "worker 7"},
		{"every line of 64 MB as JSON", search("--json", "e", "big.log"), nil, 64, 20 * time.Second, "begin"},
		{"every line of 64 MB with context, by a walk", search("-n", "-C3", "INFO", "-g", "big.log"), nil, 64, 20 * time.Second, "1:2026"},
		{"every line of 64 MB with each e replaced", search("-r", "E", "e", "big.log"), nil, 64, 20 * time.Second, "rEquEst"},
		{"search -U in a log of 1 GB, a pattern of one line", search("-U", "-c", "worker 7", "huge.log"), nil, 64, 10 * time.Second, "1"},
		{"search -U in a log of 1 GB, a pattern over lines", search("-U", "-c", `bytes\n2026-11-17`, "huge.log"), nil, 1024 + 64, 20 * time.Second, ""},
		{"search -z -U in 1.5 GB unpacked from 9 MB, a pattern over lines", search("-z", "-U", "-c", `bytes\n2026-11-17`, "bomb.gz"), nil, 1024 + 128, 20 * time.Second, "the rest of it was not searched"},
		{"search in one line of 1 GB", search("-c", "zebra", "hugeline.txt"), nil, 64 + idle, 5 * time.Second, "the rest of it was not searched"},
		{"read one line of 1 GB", []string{"read", "hugeline.txt"}, nil, 64 + idle, 20 * time.Second, "1: one long line"},
		{"read_file of one line of 1 GB", call("read_file"), arguments(func() map[string]any { return map[string]any{"path": "hugeline.txt"} }), 64, 20 * time.Second, "1: one long line"},
		{"read two lines near the end of 1 GB", []string{"read", "huge.log:13000000-13000001"}, nil, 64, 20 * time.Second, "13000001: 2026"},
		{"search in one line of 64 MB", search("-c", "zebra", "line.txt"), nil, 64 + idle, 5 * time.Second, "the rest of it was not searched"},
		{"search in 10 GB of holes", search("-c", "text", "sparse.bin"), nil, 64 + idle, 5 * time.Second, "the rest of it was not searched"},
		{"read 10 GB of holes", []string{"read", "sparse.bin"}, nil, 64 + idle, 5 * time.Second, ""},
		{"read lines 1-5 of one line of 64 MB", call("read_file"), arguments(func() map[string]any { return map[string]any{"path": "line.txt", "end_line": 5} }), 64, 10 * time.Second, ""},
		{"search with --timeout 1ms", search("--timeout", "1ms", "-c", `\w+\s+\w+x`, "."), nil, 200, 10 * time.Second, "not everything was searched"},
		{"a tool's arguments nested 100,000 deep", call("search_files"), func() string { return strings.Repeat(`{"a":`, 100_000) }, 100, 5 * time.Second, ""},
		{"list 5,000 files", call("list_files"), arguments(func() map[string]any { return map[string]any{"path": "many", "max_results": 100_000} }), 100, 5 * time.Second, ""},
		{"write 15 MB", call("write_file"), arguments(func() map[string]any {
			return map[string]any{"path": "new.txt", "content": strings.Repeat("some text\n", 1_500_000)}
		}), 8*15 + 64 + idle, 10 * time.Second, ""},
		{"5 million matches, counted", search("-c", "a", "matches.txt"), nil, 64, 10 * time.Second, "5000000"},
		{"the same by search_files", call("search_files"), arguments(func() map[string]any {
			return map[string]any{"path": "matches.txt", "regex": "a", "count": "exact"}
		}), 64, 10 * time.Second, "5000000"},
		{"replace 5 million matches, dry run", []string{"replace", "a", "bc", "matches.txt", "--dry-run"}, nil, 200, 20 * time.Second, "5000000"},
		{"outline of 4 MB that look ahead to the end", call("outline"), arguments(func() map[string]any { return map[string]any{"path": "angle.java"} }), 300, 2 * time.Second, "incomplete"},
		{"find_symbol in them", call("find_symbol"), arguments(func() map[string]any { return map[string]any{"name": "b", "path": "angle.java"} }), 300, 2 * time.Second, "incomplete"},
		{"properties of 400,000 keys", call("get_file_info"), arguments(func() map[string]any { return map[string]any{"path": "keys.md"} }), 200, time.Second, ""},
		{"64 outlines at once to the server", []string{"mcp", "--root", ws, "--no-index"}, func() string { return crowd("outline", `{"path":"angle.java"}`, 64) }, 600, 60 * time.Second, ""},
		{"1,000 notifications of 100 KB to the server", []string{"mcp", "--root", ws, "--no-index"}, func() string {
			note := `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1,"message":"` + strings.Repeat("x", 100<<10) + `"}}` + "\n"
			return hello + strings.Repeat(note, 1000)
		}, 128, 10 * time.Second, "protocolVersion"},
		{"a message of 20 MB to the server", []string{"mcp", "--root", ws}, func() string { return strings.Repeat("x", 20<<20) + "\n" }, 6*16 + 64, 5 * time.Second, ""},
	}
}

// hello is the request that begins a session.
const hello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"hostile","version":"1"}}}` + "\n"

// crowd returns n tool calls to be made at the same time.
func crowd(tool, args string, n int) string {
	var b strings.Builder
	b.WriteString(hello)
	for i := range n {
		fmt.Fprintf(&b, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`+"\n", i+1, tool, args)
	}
	return b.String()
}

// manyKeys returns a note with n properties.
func manyKeys(n int) string {
	var b strings.Builder
	b.WriteString("---\n")
	for i := range n {
		fmt.Fprintf(&b, "k%d: v%d\n", i, i)
	}
	b.WriteString("---\nx\n")
	return b.String()
}
