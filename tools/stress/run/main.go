// Command run runs the regimes of docs/RELIABILITY.md one after another and prints what each has
// tried.
//
//	scripts/tool stress/run                  short forms
//	STRESS=20m scripts/tool stress/run       the full count, or 20 minutes each
//	STRESS=long scripts/tool stress/run      the full count, however long it takes
//	… -only 'race|paths' -write                   some; and into docs/FIGURES.md
//
// -write replaces the rows of the regimes that were run and keeps the others. So a table of long
// forms can be produced over several days.
//
// It only starts go test, and prints the command line of each regime.
package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A regime is one row of the table: tests that report through internal/stress,
// or a fuzz target.
type regime struct {
	name string
	pkg  string
	test string // the tests, as a pattern for -run
	fuzz string // or else a fuzz target
}

var regimes = []regime{
	{name: "index = scan", pkg: "./internal/searcher", test: "TestIndexEqualsScan"},
	{name: "index = scan, after own changes", pkg: "./internal/changer", test: "TestIndexSeesOwnChanges"},
	{name: "index = scan, below the workspace", pkg: "./internal/index", test: "TestIndexFollowsTheTree|TestIndexFollowsTheKernel"},
	{name: "gram soundness", pkg: "./internal/trigram", test: "TestMatchingTextsHaveTheGrams"},
	{name: "freshness, overflow", pkg: "./internal/watch", test: "TestAcknowledgedChangesAreReported|TestFresh|TestStreamFresh|TestOverflow|TestMaxWatches"},
	{name: "overflow, watch limit of 100", pkg: "./internal/searcher", test: "TestOwnerMissesEvents"},
	{name: "values by path", pkg: "./internal/value", test: "TestRandom"},
	{name: "undo of notes", pkg: "./internal/notebook", test: "TestUndoOfNotes"},
	{name: "kill −9: files", pkg: "./internal/rootfs", test: "TestKill"},
	{name: "kill −9: workspace", pkg: "./internal/changer", test: "TestKill|TestUndoRandomSequences|TestByteIntegrity"},
	{name: "kill −9: sets", pkg: "./internal/changer", test: "TestSetKill"},
	{name: "gate", pkg: ".", test: "TestGateFaults"},
	{name: "kill −9: accepting", pkg: "./internal/review", test: "TestKilledWhileApplying|TestAcceptedInPart|TestAcceptsBeneathOtherEdits"},
	{name: "kill −9: index", pkg: "./internal/index", test: "TestKill"},
	{name: "kill −9: journal", pkg: "./internal/journal", test: "TestKill"},
	{name: "kill −9: trash", pkg: "./internal/trash", test: "TestKill"},
	{name: "power loss", pkg: ".", test: "TestPowerCut|TestPowerCutRandom"},
	{name: "power loss: index", pkg: "./internal/index", test: "TestPowerCut"},
	{name: "nth fault", pkg: "./internal/rootfs", test: "TestNthFault|TestForeignWriterAtEveryCall"},
	{name: "nth fault: index", pkg: "./internal/index", test: "TestNthFault"},
	{name: "nth fault: workspace, one and two", pkg: ".", test: "TestNthFault|TestTwoFaults|TestDiskDies"},
	{name: "nth fault: lasting", pkg: "./internal/changer", test: "TestLastingFaults"},
	{name: "symlink race: files", pkg: "./internal/rootfs", test: "TestSymlinkRace|TestSymlinkRaceByName|TestSymlinkRaceOfChanges"},
	{name: "symlink race: every tool", pkg: "./internal/stress", test: "TestSymlinkRaceOfEveryTool"},
	{name: "paths: every tool", pkg: "./internal/stress", test: "TestPaths|TestRandomPaths"},
	{name: "paths: fuzzed", pkg: "./internal/stress", fuzz: "FuzzPaths"},
	{name: "cancel", pkg: "./internal/stress", test: "TestCancelEveryTool"},
	{name: "cancel: changes of 16,000 files", pkg: "./internal/cli", test: "TestEndedMidway"},
	{name: "secret names", pkg: "./internal/profile", test: "TestSecretNames|TestSuspectFiles"},
	{name: "git's folder as attack", pkg: "./internal/stress", test: "TestHostileGit"},
	{name: "names and text as attack", pkg: "./internal/stress", test: "TestHostileNames"},
	{name: "patterns as attack", pkg: "./internal/stress", test: "TestPatternsAsAttack|TestGlobsAsAttack|TestListsAsAttack"},
	{name: "odd files", pkg: "./internal/stress", test: "TestOddFiles"},
	{name: "lost update: files", pkg: "./internal/rootfs", test: "TestLostUpdate"},
	{name: "metadata race", pkg: "./internal/rootfs", test: "TestMetaRace"},
	{name: "lost update: workspace", pkg: "./internal/changer", test: "TestLostUpdate"},
	{name: "sets of several processes", pkg: "./internal/changer", test: "TestSetsTakeTurns"},
	{name: "changes of other programs", pkg: "./internal/recorder", test: "TestReference"},
	{name: "going back by author", pkg: "./internal/recorder", test: "TestBackByAuthor"},
	{name: "going back by author in shared files", pkg: "./internal/recorder", test: "TestOneAuthorInSharedFiles"},
	{name: "secrets are not recorded", pkg: "./internal/recorder", test: "TestSecretsAreNotKept"},
	{name: "own files while names swap", pkg: "./internal/rootfs", test: "TestOwnFilesWhileNamesSwap"},
	{name: "offsets of lines", pkg: ".", test: "TestOffsetsOfLines"},
	{name: "filters of notes", pkg: "./internal/notebook", test: "TestFiltersSelectWhatModelsSay|TestFiltersSelectInRealNotes"},
	{name: "scalars by parsers", pkg: "./internal/value", test: "TestScalarsByParsers"},
	{name: "beside ripgrep and PCRE2", pkg: "./internal/cli", test: "TestRgRandom|TestPCRERandom"},
	{name: "processes", pkg: "./internal/searcher", test: "TestOwnersKilled"},
	{name: "journal loss", pkg: "./internal/journal", test: "TestCutSegmentsAreNoticed|TestZeroedEndsAreNoticed"},
	{name: "large: merged segments", pkg: "./internal/index", test: "TestMergedEqualsBuilt"},
	{name: "index damage", pkg: "./internal/index", test: "TestDamage"},
	{name: "identity: second names", pkg: "./internal/index", test: "TestSecondNameOutside"},
	{name: "identity: root, mounts, rules", pkg: "./internal/owner", test: "TestReplacedRoot|TestMountsBelowTheRoot|TestExcludesUnderEveryOwner|TestOutsideRulesAreFollowed"},
	{name: "one index, all policies", pkg: "./internal/owner", test: "TestOneIndexForAllViews"},
	{name: "changes while opening", pkg: "./internal/owner", test: "TestChangesWhileOpening"},
	{name: "protocol", pkg: "./internal/mcpserver", fuzz: "FuzzStdio"},
	{name: "protocol: arguments", pkg: "./internal/profile", fuzz: "FuzzTools"},
	{name: "protocol: random calls", pkg: "./internal/profile", test: "TestRandomTools"},
	{name: "protocol: a hundred clients", pkg: "./internal/cli", test: "TestCrowd"},
	{name: "HTTP", pkg: "./internal/mcpserver", test: "TestHTTPMatrix|TestHTTPRefusals"},
	{name: "HTTP: hostile bodies", pkg: "./internal/mcpserver", test: "TestHostileBodies"},
	{name: "time limits", pkg: "./internal/searcher", test: "TestTimeLimits"},
	{name: "streaming = whole", pkg: "./internal/scan", test: "TestEmitAgrees"},
	{name: "standard input", pkg: "./internal/cli", test: "TestPipedInput"},
	{name: "policy: what the log tells", pkg: "./internal/changer", test: "TestLogHidesRandomChanges"},
	{name: "two ways agree: patterns", pkg: "./match", test: "TestFastPathsAgree|TestWholeTextsAgree|TestCutAgrees|TestLongTextAgrees|TestAgainstStandardLibrary|TestNode"},
	{name: "two ways agree: look-around", pkg: "./internal/re/backref", test: "TestNode"},
	{name: "two ways agree: vectors", pkg: "./internal/re/vec", test: "TestFindRandom|TestMultiRandom|TestFindPlanted"},
	{name: "two ways agree: lines", pkg: "./internal/scan", test: "TestAgainstReference|TestTogetherAgrees|TestViewAgrees"},
	{name: "two ways agree: several replacements", pkg: "./internal/replacer", test: "TestSeveralAtOnce"},
	{name: "exact bytes: line endings", pkg: "./internal/replacer", test: "TestLineEndings"},
	{name: "two ways agree: globs", pkg: "./internal/glob", test: "TestMinimatchLive"},
	{name: "two ways agree: fd", pkg: "./internal/cli", test: "TestFindFd|TestFdPreset"},
	{name: "two ways agree: walks", pkg: "./internal/walk", test: "TestFolderBecomesLink|TestJudgeAgreesWithWalk|TestAgainstRipgrep"},
	{name: "two ways agree: lists", pkg: "./internal/trigram", test: "TestListFilterAndUnion|TestListRoundTrip"},
	{name: "two ways agree: holes of others", pkg: "./internal/searcher", test: "TestHolesOfOthers"},
	{name: "two ways agree: ranking", pkg: "./internal/searcher", test: "TestRankedIndexEqualsScan|TestSymbolsIndexEqualsScan|TestManyNames"},
	{name: "two ways agree: names after many changes", pkg: "./internal/searcher", test: "TestNamesAfterManyChanges"},
	{name: "two ways agree: notes", pkg: "./internal/notebook", test: "TestNotesIndexEqualsScan|TestAbsenceIsTrue"},
	{name: "two ways agree: parts of notes", pkg: "./internal/vault", test: "TestPartsAgree"},
	{name: "authors of lines", pkg: ".", test: "TestAuthorsOfLines|TestDiffAll"},
	{name: "rules in the gate", pkg: "./internal/review", test: "TestRulesInTheGate|TestTrialAgreesWithGate"},
	{name: "end of input", pkg: "./internal/cli", test: "TestGoneAfterInput"},
	{name: "exact bytes", pkg: "./internal/textedit", test: "TestRandomEdits"},
	{name: "exact bytes: encodings", pkg: "./internal/textfile", test: "TestRoundTripRandom"},
	{name: "exact bytes: notes", pkg: "./internal/vault", test: "TestMoveEveryNote|TestPartsLeaveTheRest"},
	{name: "patches", pkg: "./internal/changer", test: "TestAgainstGNUPatch|TestMutatedPatches|TestLinesOfAVersion"},
	{name: "speed of changes", pkg: "./internal/changer", test: "TestSmallEditSpeed|TestVaultMoveSpeed"},
	{name: "symbols as attack", pkg: "./internal/symbols", test: "TestLinear|TestShapes|TestCutTexts|TestTokensInAnyOrder"},
	{name: "structures as attack", pkg: "./internal/structure", test: "TestHostileTexts"},
	{name: "protocol: random requests", pkg: "./internal/mcpserver", test: "TestFuzzedRequests"},
	{name: "browser", pkg: "./internal/page", test: "TestBrowser"},
	{name: "large: edits", pkg: "./internal/textedit", test: "TestDenseReplacementsAreCheap|TestClosestIsBounded"},
	{name: "large: edits in pages", pkg: "./internal/changer", test: "TestLargeAgrees"},
	{name: "large: edits beyond the cap", pkg: "./internal/changer", test: "TestLargeEditsBeyondTheCap"},
	{name: "large: lines and counts", pkg: "./match", test: "TestUnbroken|TestLargeCounts"},
	{name: "large: patterns", pkg: "./internal/re/syntax/rust", test: "TestLarge"},
	{name: "large: classes", pkg: "./internal/re/nfa", test: "TestClassIsItsUTF8"},
	{name: "large: results", pkg: "./internal/scan", test: "TestEmitIsBounded"},
	{name: "large: reading", pkg: "./internal/searcher", test: "TestReadLargeIsBounded"},
	{name: "large: vaults", pkg: "./internal/notebook", test: "TestBacklinksIndexed|TestNotesIndexedSpeed"},
	{name: "large: stored indexes", pkg: "./internal/owner", test: "TestStoredIndexWithoutOwner"},
	{name: "HTTP: a hundred clients", pkg: "./internal/mcpserver", test: "TestHundredClients"},
	{name: "two ways agree: git", pkg: "./internal/ignore", test: "TestAgainstGit"},
	{name: "two ways agree: ripgrep", pkg: "./internal/cli", test: "TestRipgrep|TestRgPreset"},
	{name: "release", pkg: "./tools/packaging", test: "TestReproducible"},
	{name: "soak", pkg: "./internal/stress", test: "TestSoak"},
}

// result is one report of a regime.
type result struct {
	regime, what           string
	tried, violated, seeds string
	took                   float64
	command                string
}

func main() {
	only := flag.String("only", "", "regimes whose name matches this expression")
	write := flag.Bool("write", false, "put the table into docs/FIGURES.md")
	list := flag.Bool("list", false, "print the commands and run nothing")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	if err := run(ctx, *only, *write, *list); err != nil {
		fmt.Fprintln(os.Stderr, "stress:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, only string, write, list bool) error {
	wanted, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	form := cmp.Or(os.Getenv("STRESS"), "short")
	var results []result
	broken := 0
	for _, r := range regimes {
		if !wanted.MatchString(r.name) || ctx.Err() != nil {
			continue
		}
		args := r.args(form)
		fmt.Printf("== %s: STRESS=%s go %s\n", r.name, form, quoted(args))
		if list {
			continue
		}
		got, err := r.carryOut(ctx, args)
		if err != nil {
			broken++
			fmt.Printf("FAILED: %v\n", err)
		}
		results = append(results, got...)
	}
	if list {
		return nil
	}
	rows := rowsOf(results, time.Now())
	fmt.Print("\n", tableHead, strings.Join(rows, ""))
	if ctx.Err() != nil {
		return errors.New("interrupted; nothing is written down")
	}
	if write {
		if err := intoDocs("docs/FIGURES.md", rows); err != nil {
			return err
		}
	}
	if broken > 0 {
		return fmt.Errorf("%d regimes failed", broken)
	}
	return nil
}

func quoted(args []string) string {
	var out []string
	for _, a := range args {
		if strings.ContainsAny(a, "|^$ ") {
			a = "'" + a + "'"
		}
		out = append(out, a)
	}
	return strings.Join(out, " ")
}

// args returns the arguments of the go command.
func (r *regime) args(form string) []string {
	limit := "30m"
	if d, err := time.ParseDuration(form); err == nil {
		limit = (6*d + 30*time.Minute).String() // a package may have several regimes, and one may stop slowly
	} else if form == "long" {
		limit = "72h"
	}
	if inTools, ok := strings.CutPrefix(r.pkg, "./tools/"); ok {
		return []string{"test", "-C", "tools", "-count=1", "-v", "-timeout=" + limit, "-run=^(" + r.test + ")", "./" + inTools}
	}
	if r.fuzz == "" {
		return []string{"test", "-count=1", "-v", "-timeout=" + limit, "-run=^(" + r.test + ")", r.pkg}
	}
	fuzzTime := "10s"
	if form == "long" {
		fuzzTime = "24h"
	} else if form != "" && form != "short" {
		fuzzTime = form
	}
	return []string{"test", "-timeout=" + limit, "-run=^$", "-fuzz=^" + r.fuzz + "$", "-fuzztime=" + fuzzTime, r.pkg}
}

var (
	reportLine = regexp.MustCompile(`stress: "(.*)" tried (\d+), violated (\d+), seeds from (\d+), took ([\d.]+)s`)
	fuzzLine   = regexp.MustCompile(`fuzz: elapsed: .*execs: (\d+)`)
)

// carryOut runs the command, prints reports and failures, and returns the results.
func (r *regime) carryOut(ctx context.Context, args []string) ([]result, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	cmd.Stderr = cmd.Stdout
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	results, execs, tail := r.read(out)
	err = cmd.Wait()
	took := time.Since(began).Seconds()
	violated := "0"
	if err != nil {
		violated = "1"
		fmt.Println(strings.Join(tail, "\n"))
	}
	command := "go " + quoted(args)
	if len(results) == 0 { // a fuzz target, or a test with a fixed number of cases
		what := r.fuzz
		if what == "" {
			what, execs = r.test, "all"
		}
		results = append(results, result{what: what, tried: execs, violated: violated, took: took})
	}
	if err != nil && !slices.ContainsFunc(results, func(r result) bool { return r.violated != "0" }) {
		// It ended without a report, for example by a panic or at the time limit.
		results = append(results, result{what: "did not end", tried: "?", violated: violated, took: took})
	}
	for i := range results {
		results[i].regime, results[i].command = r.name, command
	}
	return results, err
}

// read returns the results, the last count of a fuzz target, and the last lines of output.
func (r *regime) read(out io.Reader) (results []result, execs string, tail []string) {
	execs = "0"
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		line := lines.Text()
		if m := reportLine.FindStringSubmatch(line); m != nil {
			var took float64
			fmt.Sscan(m[5], &took)
			results = append(results, result{what: m[1], tried: m[2], violated: m[3], seeds: m[4], took: took})
			fmt.Println("  " + line[strings.Index(line, "stress:"):])
		} else if m := fuzzLine.FindStringSubmatch(line); m != nil {
			execs = m[1]
			continue
		}
		if tail = append(tail, line); len(tail) > 60 {
			tail = tail[1:]
		}
	}
	return results, execs, tail
}

const tableHead = "| regime | tried | violated | day |\n|---|---:|---:|---|\n"

// rowsOf returns a row for each regime. If a regime has several results, their counts are joined in
// order.
func rowsOf(results []result, now time.Time) []string {
	var rows []string
	for len(results) > 0 {
		name := results[0].regime
		var tried []string
		violated := 0
		for len(results) > 0 && results[0].regime == name {
			n, err := strconv.Atoi(results[0].violated)
			if err != nil {
				n = 1
			}
			tried, violated, results = append(tried, results[0].tried), violated+n, results[1:]
		}
		rows = append(rows, fmt.Sprintf("| %s | %s | %d | %s |\n", name, strings.Join(tried, ", "), violated, now.UTC().Format(time.DateOnly)))
	}
	return rows
}

// merged replaces rows of an earlier table by new rows of the same regimes. The result is in the
// order of the list above. Rows of regimes that are no longer in the list are dropped.
func merged(earlier, rows []string) []string {
	of := func(row string) string { // "| regime | ..."
		cells := strings.SplitN(row, "|", 3)
		return strings.TrimSpace(cells[min(1, len(cells)-1)])
	}
	byRegime := map[string][]string{}
	for _, row := range earlier {
		byRegime[of(row)] = append(byRegime[of(row)], row)
	}
	for _, row := range rows {
		delete(byRegime, of(row))
	}
	for _, row := range rows {
		byRegime[of(row)] = append(byRegime[of(row)], row)
	}
	var all []string
	for _, r := range regimes {
		all = append(all, byRegime[r.name]...)
	}
	return all
}

// intoDocs merges the rows into the table between the two marks.
func intoDocs(file string, rows []string) error {
	const begin, end = "<!-- figures: begin -->\n", "<!-- figures: end -->"
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	head, rest, ok := strings.Cut(string(data), begin)
	table, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		return fmt.Errorf("%s has no %s", file, strings.TrimSpace(begin))
	}
	all := strings.Join(merged(strings.SplitAfter(table, "\n"), rows), "")
	return os.WriteFile(file, []byte(head+begin+"\n"+tableHead+all+"\n"+end+tail), 0o644)
}
