package stress_test

import (
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

// A mutation disables one safety mechanism. The test that guards the mechanism must then fail.
type mutation struct {
	mechanism string
	in, name  string // package, and function or variable in it
	edits     []edit
	pkg, test string // package, and test in it, that guard the mechanism
}

var mutations = []mutation{
	{"exchange verify", "internal/rootfs", "replacement.settle", // all checks after the exchange are disabled, because each catches what the others miss
		[]edit{replace("displaced InfoAt", "if true {\nreturn r.sys.SyncDir(c.at.dir)\n}\n%s")}, "./internal/rootfs", "TestForeignWriterAtEveryCall"},
	{"folder sync", "internal/rootfs", "replacement.settle", []edit{skip("SyncDir err")}, ".", "TestPowerCut"},
	{"policy on the resolved path", "internal/rootfs", "Root.follow", []edit{skip("check isDir p")}, "./internal/rootfs", "TestResolve"},
	{"overflow sweep", "internal/watch", "Watcher.overflow", []edit{skip("pending lost"), skip("mark"), skip("rescan")}, "./internal/watch", "TestOverflow"},
	{"writes through a name that is gone", "internal/watch", "Watcher.hand", []edit{skip("nameless")}, "./internal/watch", "TestHandleOutlivesItsName"},
	{"ctime in stamps", "internal/index", "stampOf", []edit{instead("nanos ChangeTime", "0")}, "./internal/index", "TestRewriteThatKeepsAllButChangeTime"},
	{"sums of lists that are read", "internal/index", "intact", []edit{never("Checksum")}, "./internal/index", "TestDamagedWhileServing"},
	{"need: what may be absent isn't needed", "internal/re/literal", "builder.repeat", []edit{never("Min 0")}, "./internal/re/literal", "TestHolds"},
	{"need: letters of either case", "internal/re/literal", "join", []edit{instead("FoldString", "l.Text")}, "./internal/re/literal", "TestExtract"},
	{"undo conflict", "internal/journal", "cell.accepts", []edit{always("IsZero version found")}, "./internal/changer", "TestUndoRefusesForeignChange"},
	{"Origin check", "internal/mcpserver", "gate.refusal", []edit{never("allowedOrigin")}, "./internal/mcpserver", "TestHTTPMatrix"},
	{"Host check", "internal/mcpserver", "gate.refusal", []edit{never("allowedHost")}, "./internal/mcpserver", "TestHTTPMatrix"},
	{"token check", "internal/mcpserver", "gate.refusal", []edit{never("allowedToken")}, "./internal/mcpserver", "TestHTTPMatrix"},
	{"temp clean-up", "internal/changer", "Changer.recoverChanges", []edit{skip("cleanAround")}, "./internal/changer", "TestKill"},
	{"a folder that became a link is not walked", "internal/walk", "task.at", []edit{returns("true")}, "./internal/walk", "TestFolderBecomesLink"},
	{"a move opens nothing", "internal/changer", "Changer.staysClosed",
		[]edit{instead("w opens", "func() (bool, error) { _, err := %s; return false, err }()")}, "./internal/changer", "TestMoveKeepsClosed"},
	{"a page does not end between \\r and \\n", "internal/textfile", "scanner.decode", []edit{never(`last '\r'`)}, "./internal/textfile", "TestPagesAgree"},
	{"a large file is hashed when it is written", "internal/rootfs", "replacement.fill", []edit{never("Old expected")}, "./internal/changer", "TestLargeFileChangesMeanwhile"},
	{"many replacements are not kept", "internal/replacer", "editing.add", []edit{never("maxEdits")}, "./internal/replacer", "TestManyMatchesAreCheap"},
	{"replace says what it could not search", "internal/replacer", "Missed", []edit{never("Count Stopped")}, "./internal/replacer", "TestIncomplete"},
	{"find ended by --timeout says so", "internal/cli", "runFind", []edit{never("Stopped StopTime")}, "./internal/cli", "TestScripts/promises"},
	{"a client has half of the slots", "internal/mcpserver", "newShares", []edit{instead("total 2", "total")}, "./internal/mcpserver", "TestBodiesShareMemory"},
	{"the log hides what the policy does", "internal/changer", "Changer.hidden", []edit{always("Policy")}, "./internal/changer", "TestLogHidesWhatPolicyDoes"},
	{"a search whose time is over says so", "internal/searcher", "partly", []edit{skip("stop StopTime")}, "./internal/searcher", "TestTimeLimits"},
	{"--timeout ends with exit code 2", "internal/cli", "searching.cutShort", []edit{without("StopTime")}, "./internal/cli", "TestScripts/promises"},
	{"what waits for its turn is bounded", "internal/searcher", "backlog.take", []edit{never("used room ended -idle")}, "./internal/searcher", "TestPartsAreBounded"},
	{"lines are handed on while a file is read", "internal/scan", "file.blocks", []edit{skip("emit failed")}, "./internal/scan", "TestEmitAgrees"},
	{"nothing outside the workspace", "internal/cli", "changer.openFor",
		[]edit{replace("outsideError", "root = config.FindRoot(config.ExistingDir(filepath.Dir(real)))\nrel, _ = env.Below(root, real)")}, "./internal/cli", "TestScripts/promises"},
	{"a pipe is searched", "internal/cli/env", "Streams.InputGiven", []edit{never("ModeNamedPipe")}, "./internal/cli", "TestPipedInput"},
	{"undo and redo know the file that moved", "internal/journal", "keeper.surveyOp", []edit{without("Rename Trash")}, "./internal/changer", "TestRedoOfDeletionRefusesForeignChange"},
	{"undo of a move knows its file", "internal/journal", "keeper.identify", []edit{skip("hashFile")}, "./internal/changer", "TestUndoOfMoveRefusesReplacedDestination"},
	{"the order in a trash", "internal/trash", "Bin.List", []edit{instead("ChangeTime Compare", "0")}, "./internal/trash", "TestNewestFirstWithinASecond"},
	{"~/ in paths", "internal/cli/env", "RootPath", []edit{instead("ExpandHome Getenv", "p")}, "./internal/cli/agents", "TestHomeInPaths"},
	{"other white space needs one place", "internal/textedit", "planner.otherSpace", []edit{skip("place 0 -trusted -twin")}, "./internal/textedit", "TestOtherSpace"},
	{"text at another depth is stale", "internal/textedit", "newIndents", []edit{always(`oldBase newBase ""`)}, "./internal/textedit", "TestOtherSpace"},
	{"refused hunks are told", "internal/review", "Proposal.reviewed", []edit{skip("Refused append")}, "./internal/review", "TestAcceptedInPart"},
	{"escapes on a terminal", "internal/cli/printing", "AppendEscaped", []edit{never("r 0x20 0x7f")}, "./internal/stress", "TestHostileNamesOnTerminal"},
}

// Every mutation matches the source, and its guard exists. With MUTATE=1 (make mutate), each
// mutation is also applied, and the guard must fail.
func TestMutations(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	all := slices.Concat(mutations, edgeMutations)
	for _, m := range all {
		if _, _, err := mutate(filepath.Join(root, m.in), m.name, m.edits); err != nil {
			t.Errorf("%s: %s of %s: %v", m.mechanism, m.name, m.in, err)
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

// kill runs the guard without and with the mutation. The go command gets the mutated file as an
// overlay, which also applies to go commands that the guard runs. So the tree is not modified, and
// its build cache can be used.
func (m *mutation) kill(t *testing.T, root string) {
	file, text, err := mutate(filepath.Join(root, m.in), m.name, m.edits)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := m.guard(root, ""); err != nil {
		t.Fatalf("%s fails without the mutation:\n%.3000s", m.test, out)
	}
	mutated, overlay := filepath.Join(t.TempDir(), "mutated.go"), filepath.Join(t.TempDir(), "overlay.json")
	put(t, mutated, text)
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
