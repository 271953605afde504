package stress_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"quarry"
	"quarry/change"
	"quarry/internal/stress"
	"quarry/tool"
)

// pathCorpus returns paths of kinds that have broken sandboxes.
func pathCorpus(dir string) []string {
	long := func(n int) string { return strings.Repeat("x", n) }
	paths := []string{
		// up and out
		"..", "../", "../outside/f", "../ws-evil/f", dir + "-evil/f", dir + "/../outside/f", "notes/../../outside/f", "./.././outside/f",
		"/../outside/f", "//outside/f", "/etc/passwd", "///etc///passwd", "~/x", "~root/.profile", "$HOME/x", "file:///etc/passwd", "....//outside/f",
		"notes/..", "notes/../a.txt", "a.txt/..", "a.txt/../a.txt", strings.Repeat("../", 60) + "etc/passwd", "..;/outside/f", ".../outside/f",
		// percent-encoded, with backslashes, and absolute paths of other systems
		"%2e%2e/outside/f", "%2e%2e%2foutside%2ff", "..%2foutside/f", "..%5coutside%5cf", "%252e%252e/outside/f", "..%c0%afoutside/f", "..\xc0\xafoutside/f",
		`..\outside\f`, `notes\..\..\outside\f`, `C:\Windows\win.ini`, `C:a.txt`, `\\server\share\f`, `\\?\C:\f`, `//./pipe/x`, `back\slash.txt`,
		"\uff0e\uff0e/outside/f", "\u2025/outside/f", "..\u2215outside\u2215f", "..\u2044outside\u2044f",
		// NUL, newlines, control and invisible characters
		"a.txt\x00", "a.txt\x00.md", "../outside/f\x00.md", "\x00", "a\nb", "a\r\nb", "\x1b[2J", "\u202etxt.a", "a\u200b.txt", "\ufeffa.txt", "a\xff\xfe", "\u2028",
		// protected, in any spelling, existing and not
		".git", ".git/", ".git/config", ".GIT/config", ".Git/hooks/x", ".gIt/new", ".git./config", ".git /config", ".git\u200c/config", ".g\u200cit/config",
		"\uff0egit/config", ".\uff47it/config", ".g\u0131t/config", ".g\u0130t/config", "GIT~1/config", "git~1", ".git::$INDEX_ALLOCATION/config", ".git:x",
		`.git\config`, `notes\.git\config`, "notes/.git/config", "notes/.GIT", "notes/new/.git/config", "a/b/c/.git/hooks/pre-commit", "notes/../.git/config",
		".obsidian/app.json", ".OBSIDIAN/plugins/x/main.js", ".ob\u017fidian/app.json", ".obsid\u0131an/x", "OBSIDI~1/app.json", ".smarthole/x", ".SmartHole", "sub/.smarthole/y",
		".env", ".ENV", ".env.local", "keys/id_rsa", "keys/ID_RSA", "keys/server.pem", "keys/SERVER.PEM", "keys", "keys/", "new/id_rsa", "new/.env",
		// through symlinks
		"to-outside", "to-outside/", "to-outside/f", "to-outside/new", "to-outside/deep/g.md", "to-evil/f", "to-parent/outside/f", "to-parent/ws/a.txt",
		"to-git", "to-git/config", "to-git/new", "to-file", "to-env", "notes/up/outside/f", "absolute/passwd", "loop", "loop/x", "chain/f", "chain",
		"new-outside", "new-outside/x", "new-git", "new-git/x", "to-self/to-self/to-git/config", "fine/../.git/config", "fine/b.md", "fine/.git/config", "TO-OUTSIDE/f", "To-Git/config",
		"to-outside/../a.txt", "to-git/../a.txt", "to-self/to-outside/f",
		// long and deep
		long(255), long(256), "notes/" + long(255) + ".md", long(4096), strings.Repeat("d/", 500) + "f", strings.Repeat("0123456789/", 400), long(70_000),
		// odd but valid, or empty
		"", " ", ".", "./", "/", "a.txt/", "a.txt/x", "-", "--", "-rf", "*", "?", "[", "[a", "{a,b", "**", "!a", "#a", "CON", "nul.txt", "COM1", "aux", "a.txt.", "a.txt ", " a.txt",
		"caf\u00e9.md", "cafe\u0301.md", "CAF\u00c9.MD", "caf\u00e9 2.md", "NOTES/B.MD", "base64:Li4vb3V0c2lkZS9m", "base64:LmdpdC9jb25maWc=", "base64:", "base64:!!", "base64:AA==",
		".quarry-tmp-x", ".trash", ".trash/a.txt", dir, dir + "/", dir + "/a.txt", dir + "/.git/config", strings.ToUpper(dir) + "/a.txt",
	}
	return append(paths, windowsCorpus(dir)...)
}

// windowsCorpus returns paths for which Windows opens another file than the one named, or one
// outside the workspace. They must be harmless on every system, because the workspace may be a
// share that Windows uses too.
func windowsCorpus(dir string) []string {
	drive, rest := "C:", strings.ReplaceAll(dir, "/", `\`)
	if len(rest) > 2 && rest[1] == ':' {
		drive, rest = rest[:2], rest[2:]
	}
	return []string{
		// drives, shares, devices and the system's own namespace
		drive + `..\outside\f`, drive + `outside\f`, drive + `.`, drive, drive + `\`, `D:\outside\f`, `d:f`, `1:\f`, `C:/../outside/f`,
		`\outside\f`, `\\localhost\C$\outside\f`, `\\127.0.0.1\c$\windows\win.ini`, `//localhost/c$/outside/f`, `\\.\C:\outside\f`, `\\.\PhysicalDrive0`,
		`\\?\` + drive + rest + `\..\outside\f`, `\\?\` + drive + rest + `-evil\f`, `\\?\UNC\localhost\C$\outside\f`, `\\?\GLOBALROOT\Device\HarddiskVolume1\f`,
		`\\?\Volume{00000000-0000-0000-0000-000000000000}\f`, `\??\C:\outside\f`, `\Device\HarddiskVolume1\outside\f`, `\DosDevices\C:\f`, `\\.\pipe\x`, `\\.\NUL`,
		`file:///C:/outside/f`, `file://localhost/c$/outside/f`, drive + rest + `\..\outside\f`, drive + rest + `-evil\f`, drive + rest + `\.git\config`,
		`\\?\` + drive + rest + `\.git\config`, `\\?\` + drive + rest + `\keys\id_rsa`, drive + strings.ToUpper(rest) + `\.ENV`,
		// up, with characters that Windows drops
		`.. \outside\f`, `..\ outside\f`, `...\outside\f`, `.. /outside/f`, `notes\.. \..\outside\f`, `notes/..:/../outside/f`, `..::$INDEX_ALLOCATION\outside\f`, `..\outside\f::$DATA`,
		`notes\..\..\outside\f:stream`, "..\\outside\\f\x00.md", `..\\outside//f`, `.\..\outside\f`, `a.txt\..\..\outside\f`,
		// devices by name
		`CON`, `con.txt`, `notes\NUL`, `nul .md`, `PRN.tar.gz`, `AUX:`, `COM1:`, `LPT9.md`, `COM¹`, `CONIN$`, `CONOUT$`, `CLOCK$`, `notes/aux.`,
		// other names of closed files: streams, short names, ignored suffixes
		`.git::$INDEX_ALLOCATION\config`, `.git:$I30:$INDEX_ALLOCATION\config`, `.env::$DATA`, `.env:x`, `.env.`, `.env `, `.ENV.`, `keys\id_rsa::$DATA`, `keys\id_rsa.`, `keys\ID_RSA `,
		`GIT~1\config`, `GIT~2\hooks\x`, `ENV~1`, `KEYS\ID_RSA~1`, `keys\SERVER~1.PEM`, `keys\server.pem:x`, `OBSIDI~1\APP~1.JSO`, `SMARTH~1\x`, `NOTES~1\GIT~1\config`, `notes\GIT~1\config`,
		`.git.\config`, `.git \config`, `.git...\config`, `.git. . \config`, `notes\.GIT.\config`, `a.txt:secret`, `a.txt:secret:$DATA`, `a.txt::$DATA`, `notes:$I30:$INDEX_ALLOCATION\b.md`,
	}
}

// pathParts are elements of random paths.
var pathParts = []string{
	"..", ".", "", "a.txt", "notes", "b.md", "deep", ".git", ".obsidian", ".smarthole", "config", ".env", "keys", "id_rsa", "to-outside", "to-git",
	"to-self", "to-parent", "outside", "ws-evil", "ws", "f", "fine", "chain", "new", "loop", "hooks", "\u202e", "%2e%2e", "\u00e9", "e\u0301", "...", "~", "new-git", "absolute",
}

// randomPath joins random parts and then calls spoil.
func randomPath(rng *rand.Rand, dir string) string {
	var b strings.Builder
	switch rng.IntN(12) {
	case 0:
		b.WriteString(dir + "/")
	case 1:
		b.WriteString("/")
	case 2:
		b.WriteString(dir + "-evil/")
	}
	for i := range 1 + rng.IntN(6) {
		if i > 0 {
			b.WriteString([]string{"/", "/", "/", "/", `\`, "//"}[rng.IntN(6)])
		}
		b.WriteString(pathParts[rng.IntN(len(pathParts))])
	}
	p := b.String()
	for range rng.IntN(3) {
		p = spoil(rng, p)
	}
	return p
}

// spoil makes small changes to a path: letter case, full-width forms, code points that file systems
// ignore, raw bytes.
func spoil(rng *rand.Rand, p string) string {
	if p == "" {
		return p
	}
	i := rng.IntN(len(p))
	for i > 0 && !utf8.RuneStart(p[i]) {
		i--
	}
	c, rest := p[i], p[i+1:]
	switch rng.IntN(9) {
	case 0:
		return strings.ToUpper(p)
	case 1:
		return p[:i] + []string{"\u200c", "\u200d", "\ufeff", "\u2060", "\u00ad", "\ufe0f"}[rng.IntN(6)] + p[i:]
	case 2:
		if c > ' ' && c < 0x7f {
			return p[:i] + string(rune(c)+0xfee0) + rest
		}
	case 3:
		if c < 0x80 {
			return p[:i] + fmt.Sprintf("%%%02x", c) + rest
		}
	case 4:
		return p + []string{".", " ", "/", "/.", "::$DATA", "\x00", "~1"}[rng.IntN(7)]
	case 5:
		return p[:i] + string(rune(rng.IntN(256))) + p[i:]
	case 6:
		return p[:i] + string([]byte{byte(rng.IntN(256))}) + p[i:]
	case 7:
		return strings.NewReplacer("i", "\u0131", "s", "\u017f", "k", "\u212a").Replace(p)
	case 8:
		if 'a' <= c && c <= 'z' {
			return p[:i] + string(c-32) + rest
		}
	}
	return p
}

// Every tool of every profile is called with every path of the corpus, in each place where it
// accepts a path. Nothing closed is shown or changed.
func TestPaths(t *testing.T) {
	f := newFortress(t, quarry.Options{Trash: change.TrashLocal})
	run := stress.Start(t, "paths: corpus × every tool", len(pathCorpus(f.dir)), len(pathCorpus(f.dir)))
	corpus := pathCorpus(f.dir)
	for seed := range run.Cases() {
		path := corpus[int((seed-1)%uint64(len(corpus)))]
		calls, breach := f.attack(path)
		run.Tried(calls)
		if breach != "" {
			run.Violation(seed, "%s", breach)
		}
	}
}

// TestRandomPaths does the same with random paths.
func TestRandomPaths(t *testing.T) {
	f := newFortress(t, quarry.Options{Trash: change.TrashLocal})
	run := stress.StartFor(t, "paths: random × every tool", 10*time.Second)
	for seed := range run.Cases() {
		calls, breach := f.attack(randomPath(stress.Rand(seed), f.dir))
		run.Tried(calls)
		if breach != "" {
			run.Violation(seed, "%s", breach)
		}
	}
}

// The checks above can fail: without the policy, they detect access to closed files.
func TestPathsGuardWorks(t *testing.T) {
	f := newFortress(t, quarry.Options{Trusted: true})
	if _, breach := f.attack(".git/config"); breach == "" {
		t.Error("without a policy nothing closed was shown or changed: the test of paths proves nothing")
	}
}

// FuzzPaths calls one tool with a path in each place where it accepts one, and checks that nothing
// closed is shown. Tools that change files make a dry run, because restoring the workspace takes
// longer than any call. TestPaths and TestRandomPaths make the changes.
func FuzzPaths(f *testing.F) {
	castle := newFortress(f, quarry.Options{Trash: change.TrashLocal, Workers: 1})
	var tools []*tool.Tool
	for _, tl := range castle.tools {
		if tl.Hints.ReadOnly || hasParam(tl, "dry_run") {
			tools = append(tools, tl)
		}
	}
	for i, p := range pathCorpus("/ws") {
		if len(p) < 1000 && stress.Takes(i) { // TestPaths tries all of them
			f.Add(uint16(i), p)
		}
	}
	f.Fuzz(func(t *testing.T, which uint16, path string) {
		if strings.Contains(path, secret) || len(path) > 5000 {
			return
		}
		tl := tools[int(which)%len(tools)]
		calls := callsWith(tl, path)
		if len(calls) == 0 {
			return
		}
		args := calls[int(which)/len(tools)%len(calls)]
		if !tl.Hints.ReadOnly {
			args = strings.TrimSuffix(args, "}") + `,"dry_run":true}`
		}
		if breach := castle.breach(tl.Execute(t.Context(), json.RawMessage(args)), args); breach != "" {
			t.Error(tl.Name, args, breach)
		}
	})
}

func hasParam(tl *tool.Tool, name string) bool {
	return slices.ContainsFunc(tl.Params, func(p tool.Param) bool { return p.Name == name })
}
