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

// secret marks every text that no tool may show or change.
const secret = "SECRET-7f3a"

// A fortress is a workspace with closed files around and in it: sibling folders,
// protected folders, and files that look like secrets. It contains symlinks to all of
// them.
type fortress struct {
	t     testing.TB
	base  string // holds ws, ws-evil and outside
	dir   string // the workspace
	ws    *quarry.Workspace
	tools []*tool.Tool // of every profile

	around map[string]string // everything but the open files; must not change
	texts  []string          // contents of the closed files
}

// Tools may use the open files; the closed ones must not change.
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

// closedText is the content of a closed file, different for each.
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

// refill restores the files and the links, and removes everything that tools created.
func (f *fortress) refill() {
	f.t.Helper()
	keep := map[string]fs.FileMode{"ws": fs.ModeDir} // paths to keep, if they have this type
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
			break // they need a privilege there, and Wine makes none
		}
		if err := os.Symlink(target, filepath.Join(f.dir, filepath.FromSlash(name))); err != nil {
			f.t.Fatal(err)
		}
	}
}

// closed returns all files around the workspace and in its closed folders, and every
// name in the workspace that the policy should close.
func (f *fortress) closed() map[string]string {
	got := map[string]string{}
	filepath.WalkDir(f.base, func(p string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(f.base, p)
		rel = filepath.ToSlash(rel)
		inside, in := strings.CutPrefix(rel, "ws/")
		switch {
		case len(p) > 3000 && in:
			return fs.SkipDir // the path is too long for anything but openat
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

// isClosed decides what the policy should close, independently of its code: with Unicode
// compatibility forms, lower case, and without invisible characters.
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

// breach describes closed content that a call has shown or changed; "" if none.
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

// disturbed describes changes around the workspace. Closed files may move with their
// folder, as long as they are closed at the new place, too.
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

// pathShaped has the parameters that name files.
var pathShaped = map[string]bool{
	"path": true, "source": true, "destination": true, "title": true, "file_pattern": true, "include": true, "pattern": true, "search": true,
}

// callsWith returns the calls of a tool with a path in each place that accepts one.
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

// attack makes every call of every tool on a path. It returns the number of calls and
// the breach, if any.
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

// call makes one call and describes the breach, if any. It restores the files.
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
