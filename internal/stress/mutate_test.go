package stress_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// A mutation switches one safety mechanism off: the old text, which must be
// there exactly once, becomes the new one, and the named test must fail.
type mutation struct {
	mechanism, file, old, new string
	pkg, test                 string // the guard: a package and a test of it
}

var mutations = []mutation{
	{"exchange verify", "internal/rootfs/replace_linux.go", // each check after the exchange makes up for another, so all are off
		"	displaced, err := r.sys.InfoAt(c.at.dir, name)\n", "	if true {\n		return r.sys.SyncDir(c.at.dir)\n	}\n	displaced, err := r.sys.InfoAt(c.at.dir, name)\n",
		"./internal/rootfs", "TestForeignWriterAtEveryCall"},
	{"folder sync", "internal/rootfs/replace_linux.go",
		"	if err := r.sys.SyncDir(c.at.dir); err != nil {\n		return err\n	}\n	// Someone", "	// Someone",
		".", "TestPowerCut"},
	{"policy on the resolved path", "internal/rootfs/resolve.go",
		"		if err := r.policy.check(op, user, p, isDir); err != nil {\n			return Path{}, err\n		}\n	}\n	return p, nil", "	}\n	return p, nil",
		"./internal/rootfs", "TestResolve"},
	{"overflow sweep", "internal/watch/inotify_linux.go",
		"	w.pending.lost = true\n	w.mark(w.system.top)\n	w.rescan(rootfs.Path{})\n", "	_ = rootfs.Path{}\n",
		"./internal/watch", "TestOverflow"},
	{"writes through a name that is gone", "internal/watch/watch.go", "	c.Passed = w.nameless(&c) || c.Passed\n", "",
		"./internal/watch", "TestHandleOutlivesItsName"},
	{"ctime in stamps", "internal/index/stamp.go",
		"nanos(info.ModTime), nanos(info.ChangeTime)}", "nanos(info.ModTime), 0}",
		"./internal/index", "TestRewriteThatKeepsAllButChangeTime"},
	{"sums of lists that are read", "internal/index/sums.go",
		"		if crc32.Checksum(block, castagnoli()) != binary.LittleEndian.Uint32(sums[4*i:]) {\n", "		if crc32.Checksum(block, castagnoli()) != binary.LittleEndian.Uint32(sums[4*i:]) && false {\n",
		"./internal/index", "TestDamagedWhileServing"},
	{"need: what may be absent isn't needed", "internal/re/literal/literal.go",
		"	if n.Min == 0 {\n		b.gap()\n		return\n	}\n", "",
		"./internal/re/literal", "TestHolds"},
	{"need: letters of either case", "internal/re/literal/literal.go",
		"			l.Text, mixed = FoldString(l.Text), true\n", "			mixed = true\n",
		"./internal/re/literal", "TestExtract"},
	{"undo conflict", "internal/journal/expect.go",
		"		return (c.version.IsZero() || c.version == found.version) && ", "		return ",
		"./internal/changer", "TestUndoRefusesForeignChange"},
	{"Origin check", "internal/mcpserver/gate.go", "	case !g.allowedOrigin(r):\n", "	case false:\n", "./internal/mcpserver", "TestHTTPMatrix"},
	{"Host check", "internal/mcpserver/gate.go", "	case !g.allowedHost(r.Host):\n", "	case false:\n", "./internal/mcpserver", "TestHTTPMatrix"},
	{"token check", "internal/mcpserver/gate.go", "	case !g.allowedToken(r.Header.Values(\"Authorization\")):\n", "	case false:\n", "./internal/mcpserver", "TestHTTPMatrix"},
	{"temp clean-up", "internal/changer/state.go", "	w.cleanAround(ctx, last)\n", "	_ = last\n", "./internal/changer", "TestKill"},
	{"a folder that became a link is not walked", "internal/walk/queue.go",
		"		return p == t.path\n	}\n	return p.Dir() == t.from.dir.Path() && p.Base() == t.name\n", "		return true\n	}\n	return true\n",
		"./internal/walk", "TestFolderBecomesLink"},
	{"a move opens nothing", "internal/changer/closed.go", "	opens, err := w.opens(ctx, from, to)\n", "	opens, err := w.opens(ctx, from, to)\n	opens = false\n", "./internal/changer", "TestMoveKeepsClosed"},
	{"a page does not end between \\r and \\n", "internal/textfile/text.go", "	if !last && len(text) > 1 && text[len(text)-1] == '\\r' {", "	if false {",
		"./internal/textfile", "TestPagesAgree"},
	{"a large file is hashed when it is written", "internal/rootfs/replace_linux.go", "	if !c.expected.IsZero() && c.got.Old != c.expected {", "	if false {",
		"./internal/changer", "TestLargeFileChangesMeanwhile"},
	{"many replacements are not kept", "internal/replacer/replacer.go", "	if len(e.edits) >= maxEdits && len(new) < joinSize {", "	if false {",
		"./internal/replacer", "TestManyMatchesAreCheap"},
	{"replace says what it could not search", "internal/replacer/replacer.go", "	if missed.Count > 0 || missed.Stopped != \"\" {", "	if false {",
		"./internal/replacer", "TestIncomplete"},
	{"find ended by --timeout says so", "internal/cli/find.go", "		stopped = stopped || res.Stopped == search.StopTime\n", "",
		"./internal/cli", "TestScripts/promises"},
	{"a client has half of the slots", "internal/mcpserver/limits.go", "each: total / 2,", "each: total,",
		"./internal/mcpserver", "TestBodiesShareMemory"},
	{"the log hides what the policy does", "internal/changer/closed.go", "	return slices.ContainsFunc(e.Paths(), func(path rootfs.Path) bool { return closed(path.String()) }) ||\n", "	return false && closed(\"\") ||\n",
		"./internal/changer", "TestLogHidesWhatPolicyDoes"},
	{"a search whose time is over says so", "internal/searcher/search.go", "		stop(s, search.StopTime)\n		return nil\n", "		return nil\n", "./internal/searcher", "TestTimeLimits"},
	{"--timeout ends with exit code 2", "internal/cli/search.go", "	case search.StopTime:\n", "	case \"never\":\n", "./internal/cli", "TestScripts/promises"},
	{"what waits for its turn is bounded", "internal/searcher/stream.go", "	if b.used+n > b.room || b.ended {\n", "	if b.ended {\n", "./internal/searcher", "TestPartsAreBounded"},
	{"lines are handed on while a file is read", "internal/scan/file.go", "			if f.emit(); f.failed != nil {\n				return f.failed\n			}\n", "", "./internal/scan", "TestEmitAgrees"},
	{"nothing outside the workspace", "internal/cli/changing.go", "	if !inside {\n		return \"\", outsideError(given, root, config.FindRoot(config.ExistingDir(filepath.Dir(real))))\n	}\n", "	if !inside {\n		root = config.FindRoot(config.ExistingDir(filepath.Dir(real)))\n		rel, _ = env.Below(root, real)\n	}\n", "./internal/cli", "TestScripts/promises"},
	{"a pipe is searched", "internal/cli/env/stdin.go", "info.Mode()&os.ModeNamedPipe != 0", "false", "./internal/cli", "TestPipedInput"},
	{"undo and redo know the file that moved", "internal/journal/keep.go", "	case Rename, Trash:\n		return k.know(op, at)\n", "", "./internal/changer", "TestRedoOfDeletionRefusesForeignChange"},
	{"undo of a move knows its file", "internal/journal/keep.go", "	case rootfs.TypeFile:\n		n.Version, err = hashFile(k.ws, at)\n", "	case rootfs.TypeFile:\n", "./internal/changer", "TestUndoOfMoveRefusesReplacedDestination"},
	{"the order in a trash", "internal/trash/trash.go", " y.Info.ChangeTime.Compare(x.Info.ChangeTime),", "", "./internal/trash", "TestNewestFirstWithinASecond"},
	{"~/ in paths", "internal/cli/env/paths.go", "real, err := RealPath(config.ExpandHome(p, os.Getenv))", "real, err := RealPath(p)", "./internal/cli/agents", "TestHomeInPaths"},
	{"other white space needs one place", "internal/textedit/space.go", "			if place >= 0 {\n				return\n			}\n", "", "./internal/textedit", "TestOtherSpace"},
	{"text at another depth is stale", "internal/textedit/space.go", "	lost := oldBase == \"\" && newBase != \"\" && words > 1\n", "	lost := words > 1\n", "./internal/textedit", "TestOtherSpace"},
	{"refused hunks are told", "internal/review/inpart.go", "		r.Refused = append(r.Refused, p.Files[i].parts(No)...)\n", "", "./internal/review", "TestAcceptedInPart"},
	{"escapes on a terminal", "internal/cli/printing/escape.go", "		case r < 0x20 || r == 0x7f:\n", "		case r < 0:\n", "./internal/stress", "TestHostileNamesOnTerminal"},
}

// Every mutation still fits the source, and its guard exists. MUTATE=1 (make
// mutate) also applies each to a copy of the tree and sees its guard fail.
func TestMutations(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	all := slices.Concat(mutations, edgeMutations)
	for _, m := range all {
		source, err := os.ReadFile(filepath.Join(root, m.file))
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(source, []byte(m.old)); n != 1 {
			t.Errorf("%s: %s has the text to change %d times, want once: the mechanism moved, so move the mutation\n%s", m.mechanism, m.file, n, m.old)
		}
		name, _, _ := strings.Cut(m.test, "/")
		if !hasTest(t, filepath.Join(root, m.pkg), name) {
			t.Errorf("%s: there is no test %s in %s", m.mechanism, m.test, m.pkg)
		}
	}
	if os.Getenv("MUTATE") == "" || t.Failed() {
		return
	}
	for _, m := range all {
		t.Run(m.mechanism, func(t *testing.T) { m.kill(t, root) })
	}
}

func hasTest(t *testing.T, dir, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\nfunc "+name) {
			return true
		}
	}
	return false
}

// kill runs the guard, and again with the mutation in the file's place: an overlay of
// the go command, which commands that the guard starts take part in. The tree stays as
// it is, and what is built for it is used.
func (m *mutation) kill(t *testing.T, root string) {
	file := filepath.Join(root, m.file)
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := m.guard(root, ""); err != nil {
		t.Fatalf("%s fails without the mutation:\n%.3000s", m.test, out)
	}
	mutated, overlay := filepath.Join(t.TempDir(), "mutated.go"), filepath.Join(t.TempDir(), "overlay.json")
	put(t, mutated, strings.Replace(string(source), m.old, m.new, 1))
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {file: mutated}})
	if err != nil {
		t.Fatal(err)
	}
	put(t, overlay, string(replace))
	began := time.Now()
	out, err := m.guard(root, "-overlay="+overlay)
	switch {
	case err == nil:
		t.Errorf("%s is off and %s passes: write a test", m.mechanism, m.test)
	case strings.Contains(out, "[build failed]") || strings.Contains(out, "[setup failed]"):
		t.Errorf("the mutated source doesn't compile:\n%.3000s", out)
	default:
		t.Logf("%s off: %s %s fails after %.1fs: %s", m.mechanism, m.pkg, m.test, time.Since(began).Seconds(), firstFailure(out))
	}
}

func (m *mutation) guard(dir, flags string) (string, error) {
	cmd := exec.Command("go", "test", "-count=1", "-timeout=10m", "-run", "^"+m.test+"$", m.pkg)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "MUTATE=", "STRESS=short", "STRESS_SEED=")
	if flags != "" {
		cmd.Env = append(cmd.Env, "GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" "+flags))
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func firstFailure(out string) string {
	for line := range strings.Lines(out) {
		if s := strings.TrimSpace(line); strings.Contains(s, "_test.go:") {
			return fmt.Sprintf("%.160s", s)
		}
	}
	return fmt.Sprintf("%.160s", strings.TrimSpace(out))
}
