package stress_test

import (
	"context"
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"quarry"
	"quarry/internal/profile"
	"quarry/internal/stress"
	"quarry/tool"
)

// secret occurs in every text that no tool may show or change.
const secret = "SECRET-7f3a"

// A fortress is a workspace with closed files inside and around it: folders next to it, protected
// folders, and files that look like secrets. Symlinks in the workspace lead to all of them.
type fortress struct {
	t     testing.TB
	base  string // contains ws, ws-evil and outside
	dir   string // the workspace
	ws    *quarry.Workspace
	tools []*tool.Tool // the tools of all profiles

	around map[string]string // all files except the open ones; must not change
	texts  []string          // contents of closed files
}

// The first files are open to tools; the closed ones must not change.
var (
	openFiles = map[string]string{
		"a.txt": "inside one\n", "notes/b.md": "inside two\n[[a]]\n", "notes/deep/c.txt": "inside three\n",
		"caf\u00e9.md": "inside nfc\n", "cafe\u0301 2.md": "inside nfd\n", `back\slash.txt`: "inside four\n",
		"percent%2e%2e.txt": "inside five\n",
	}
	closedFiles = []string{
		".git/config", ".git/hooks/x", ".obsidian/app.json", ".smarthole/x", "notes/.git/config", ".env", "keys/id_rsa", "keys/server.pem",
		"../outside/f", "../outside/deep/g.md", "../ws-evil/f",
	}
	links = map[string]string{
		"to-outside": "../outside", "to-evil": "../ws-evil", "to-parent": "..", "to-git": ".git", "to-file": "../outside/f", "to-env": ".env",
		"notes/up": "../..", "absolute": "/etc", "loop": "loop", "chain": "notes/up/outside", "new-outside": "../outside/not-yet",
		"new-git": ".git/not-yet", "to-self": ".", "fine": "notes",
	}
)

// closedText returns the content of a closed file, which is different for each.
func closedText(name string) string { return `{"` + secret + `": "` + name + `"}` }

func put(t testing.TB, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func newFortress(t testing.TB, opts quarry.Options) *fortress {
	t.Helper()
	f := &fortress{t: t, base: stress.FastDir(t)}
	f.dir = filepath.Join(f.base, "ws")
	if err := os.Mkdir(f.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	f.refill()
	opts.StateDir, opts.TrashDir = stress.FastDir(t), stress.FastDir(t)
	ws, err := quarry.Open(f.dir, &opts)
	if err != nil {
		t.Fatal(err)
	}
	f.ws = ws
	t.Cleanup(func() { ws.Close() })
	for _, name := range profile.Names() {
		reg, err := profile.New(ws, &profile.Options{Profile: name})
		if err != nil {
			t.Fatal(err)
		}
		f.tools = append(f.tools, reg.Tools()...)
	}
	f.around = f.closed()
	f.texts = slices.Collect(maps.Values(f.around))
	return f
}

// refill restores the files and links, and removes everything that tools have created.
func (f *fortress) refill() {
	f.t.Helper()
	keep := map[string]fs.FileMode{"ws": fs.ModeDir} // paths to keep if they have this type
	for _, name := range closedFiles {
		p := filepath.Join("ws", filepath.FromSlash(name))
		keep[p] = 0
		for p = filepath.Dir(p); p != "."; p = filepath.Dir(p) {
			keep[p] = fs.ModeDir
		}
	}
	filepath.WalkDir(f.dir, func(p string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(f.base, p)
		if err != nil {
			return nil
		}
		if typ, ok := keep[rel]; !ok || d.Type() != typ {
			os.RemoveAll(p)
			if d.IsDir() {
				return fs.SkipDir
			}
		}
		return nil
	})
	for _, name := range closedFiles {
		put(f.t, filepath.Join(f.dir, filepath.FromSlash(name)), closedText(name))
	}
	for name, text := range openFiles {
		if runtime.GOOS == "windows" && strings.Contains(name, `\`) {
			continue
		}
		put(f.t, filepath.Join(f.dir, filepath.FromSlash(name)), text)
	}
	for name, target := range links {
		if runtime.GOOS == "windows" {
			break // symlinks need a privilege on Windows, and Wine can't make them
		}
		if err := os.Symlink(target, filepath.Join(f.dir, filepath.FromSlash(name))); err != nil {
			f.t.Fatal(err)
		}
	}
}

// closed returns all files around the workspace and in its closed folders, and every path in the
// workspace that the policy should close.
func (f *fortress) closed() map[string]string {
	got := map[string]string{}
	filepath.WalkDir(f.base, func(p string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(f.base, p)
		rel = filepath.ToSlash(rel)
		inside, in := strings.CutPrefix(rel, "ws/")
		switch {
		case len(p) > 3000 && in:
			return fs.SkipDir // too long a path for any call except openat
		case err != nil:
			got[rel] = err.Error()
		case in && !isClosed(inside, d.IsDir()):
		case d.Type().IsRegular():
			b, err := os.ReadFile(p)
			got[rel] = string(b)
			if err != nil {
				got[rel] = err.Error()
			}
		case !in && rel != "ws" && rel != ".":
			got[rel] = d.Type().String()
		}
		return nil
	})
	return got
}

// isClosed reports whether the policy should close a path. It doesn't use the policy's code: it
// normalizes Unicode compatibility forms and case, and removes invisible characters.
func isClosed(rel string, isDir bool) bool {
	names := strings.Split(rel, "/")
	for i, name := range names {
		folded := strings.Map(func(r rune) rune {
			if unicode.Is(unicode.Cf, r) || 0xfe00 <= r && r <= 0xfe0f {
				return -1
			}
			return unicode.ToLower(r)
		}, norm.NFKC.String(name))
		if i := strings.IndexByte(folded, ':'); i > 0 {
			folded = folded[:i]
		}
		switch strings.TrimRight(folded, ". ") {
		case ".git", ".obsidian", ".smarthole", "git~1":
			return true
		case ".env", "id_rsa", "server.pem": // only files are secrets
			if i == len(names)-1 && !isDir {
				return true
			}
		}
	}
	return false
}

// breach describes the closed content that a call has shown or changed; "" if there is none.
func (f *fortress) breach(res *tool.Result, args string) string {
	shown := res.Text
	if b, err := json.Marshal(res.Structured); err == nil {
		shown += string(b)
	}
	if strings.Contains(shown, secret) && !strings.Contains(args, secret) {
		return "showed closed content: " + res.Text
	}
	if strings.Contains(res.Text, "failed unexpectedly") {
		return "panicked: " + res.Text
	}
	return ""
}

// disturbed describes changes to closed files. They may move with their folder if they are still
// closed afterwards.
func (f *fortress) disturbed() string {
	now := f.closed()
	if maps.Equal(now, f.around) {
		return ""
	}
	var diff []string
	texts := map[string]bool{}
	for name, text := range now {
		texts[text] = true
		was, there := f.around[name]
		if there && was == text || !there && strings.HasPrefix(name, "ws/") && slices.Contains(f.texts, text) {
			continue
		}
		diff = append(diff, "now "+name+" holds "+text)
	}
	for name, text := range f.around {
		if _, ok := now[name]; !ok && (!strings.HasPrefix(name, "ws/") || !texts[text]) {
			diff = append(diff, name+" is gone")
		}
	}
	slices.Sort(diff)
	return strings.Join(diff, "; ")
}

// pathShaped has the names of parameters that are paths.
var pathShaped = map[string]bool{
	"path": true, "source": true, "destination": true, "title": true, "file_pattern": true, "include": true, "pattern": true, "search": true,
}

// callsWith returns calls of a tool, with path in each place where the tool accepts one.
func callsWith(tl *tool.Tool, path string) []string {
	base := map[string]any{}
	has := map[string]bool{}
	for _, p := range tl.Params {
		has[p.Name] = true
	}
	fill := func(name string, v any) {
		if has[name] {
			base[name] = v
		}
	}
	fill("include_hidden", true)
	fill("include_ignored", true)
	fill("query", "inside "+secret[:6])
	fill("regex", "inside|SEC[R]ET")
	fill("content", "written")
	fill("operation", "append")
	fill("path", "a.txt")
	fill("source", "a.txt")
	fill("destination", "made/new.txt")
	if tl.Name == "search_by_path" || !has["regex"] {
		fill("pattern", "**")
	}
	var calls []string
	add := func(change map[string]any) {
		args := maps.Clone(base)
		maps.Copy(args, change)
		b, err := json.Marshal(args)
		if err == nil {
			calls = append(calls, string(b))
		}
	}
	for _, p := range tl.Params {
		if !pathShaped[p.Name] {
			continue
		}
		switch {
		case tl.Name == "edit_file":
			delete(base, "content")
			add(map[string]any{p.Name: path, "old_text": "inside", "new_text": "changed"})
			add(map[string]any{p.Name: path, "insert_after_line": 0, "content": "put\n"})
			add(map[string]any{p.Name: path, "delete_lines": map[string]any{"start": 1, "end": 1}})
		case p.Name == "pattern" && has["regex"]:
			// a JavaScript pattern, not a path
		default:
			add(map[string]any{p.Name: path})
		}
	}
	return calls
}

// attack makes all calls of every tool with a path. It returns the number of calls and the breach,
// if there is one.
func (f *fortress) attack(path string) (calls int, breach string) {
	for _, tl := range f.tools {
		for _, args := range callsWith(tl, path) {
			calls++
			if breach := f.call(tl, args); breach != "" {
				return calls, breach
			}
		}
	}
	return calls, ""
}

// call makes one call, restores the files, and describes the breach, if there is one.
func (f *fortress) call(tl *tool.Tool, args string) (breach string) {
	res := tl.Execute(context.Background(), json.RawMessage(args))
	if what := f.breach(res, args); what != "" {
		return tl.Name + " " + args + " " + what
	}
	if tl.Hints.ReadOnly {
		return ""
	}
	if what := f.disturbed(); what != "" {
		return tl.Name + " " + args + " answered " + res.Text + " and changed closed content: " + what
	}
	if !res.IsError {
		f.refill()
	}
	return ""
}
