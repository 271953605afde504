package stress_test

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"quarry"
	"quarry/internal/stress"
	"quarry/match"
	"quarry/search"
)

// Limits on processor time and memory for a search with any pattern. The slowest pattern below
// takes about 4 s, and 80 MB.
const (
	patternTime   = 15 * time.Second
	patternMemory = 256 << 20
)

// catastrophes returns patterns that make other engines hang or exhaust memory.
func catastrophes() []string {
	words := make([]string, 10_000)
	for i := range words {
		words[i] = fmt.Sprintf("w%dx", i*7)
	}
	return []string{
		"(a+)+$", "(a*)*$", "(a|a)*$", "(a|aa)+$", "(x+x+)+y", "(.*)*=", "((a+)+)+b", "^(([a-z])+.)+[A-Z]([a-z])+$", "(a?){64}a{64}",
		"([a-zA-Z0-9])(([-.]|[_]+)?([a-zA-Z0-9]+))*(@){1}[a-z0-9]+[.]{1}(([a-z]{2,3})|([a-z]{2,3}[.]{1}[a-z]{2,3}))$",
		"[a-q][^u-z]{13}x", "(?:(?:(?:(?:a{10}){10}){10}){10})", "(x{1000}){1000}", "a{0,1000}{0,1000}", "a{2147483647}", `\w{500}\s\w{500}`, `\pL{200}\PL{200}`,
		strings.Repeat(".*", 50) + "z", strings.Repeat("(", 10_000), strings.Repeat("(", 500) + "a" + strings.Repeat(")*", 500), strings.Repeat("[", 5000),
		strings.Repeat("a?", 1000) + strings.Repeat("a", 1000), strings.Repeat("(a|b|ab)*", 200) + "c", strings.Repeat("abcdefghij", 100_000),
		strings.Join(words, "|"), "(?i)" + strings.Join(words, "|"), "(?i)(ſ|k|K|ß)+$", strings.Repeat("é*", 1000), `(?s).{1,1000}.{1,1000}x`, `\b\b\b\b\b(\w+\b)+!`,
		strings.Repeat("(?:", 200) + strings.Repeat("|)", 200), "[" + strings.Repeat("a-z", 20_000) + "]", `(\d+)*\d+\d+\d+!`, "(a|b)*a(a|b){20}$",
	}
}

// slowInJavaScript are patterns with look-around or backreferences, which require a backtracking
// engine.
var slowInJavaScript = []string{
	`(a+)+(?=b)!`, `(?=(a+))\1+!`, `(a*)*\1!`, `(?<=(a+)+)b!`, `(?!(a+)+$)z`, `^(?:(a+)\1?)+!`, `(?<x>a|aa)+\k<x>!`, `(?=(?=(?=(?=(a+)+b))))`, `(.*)(.*)(.*)\1\2\3!`,
	`(?<!` + strings.Repeat("a*", 50) + `)!`, `((a)|(aa))*\2\3!`, `(?:(?=(a+))a)+!`, `(a|b|ab)*(?=c)\1!`,
}

// hurtfulTree makes files on which these patterns are slow.
func hurtfulTree(t *testing.T) string {
	dir := stress.FastDir(t)
	a := strings.Repeat("a", 20_000)
	for name, text := range map[string]string{
		"a.txt": a + "b\n" + a + "!\n", "x.txt": strings.Repeat("x", 20_000) + "\n", "letters.txt": strings.Repeat("abcdefghijklmnopqrst", 5000) + "\n",
		"lines.txt": strings.Repeat(strings.Repeat("a", 30)+"!\n", 5000), "words.txt": strings.Repeat("w70x w71x ſKk ß ", 5000) + "\n", "unicode.txt": strings.Repeat("é", 50_000) + "\n",
		"digits.txt": strings.Repeat("1", 20_000) + "\n", "empty.txt": "", "mail.txt": strings.Repeat("a", 5000) + "@" + strings.Repeat("b.", 3000) + "\n",
	} {
		put(t, filepath.Join(dir, name), text)
	}
	return dir
}

// cpu returns the processor time of this process, which unlike wall time doesn't depend on other
// load.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// grown runs f and returns by how much memory use grew. Meanwhile it often runs the garbage
// collector, so that garbage doesn't count.
func grown(f func()) int64 {
	defer debug.SetGCPercent(debug.SetGCPercent(20))
	debug.FreeOSMemory()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	var peak atomic.Uint64
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			var now runtime.MemStats
			runtime.ReadMemStats(&now)
			peak.Store(max(peak.Load(), now.HeapInuse+now.StackInuse))
			select {
			case <-done:
				return
			case <-tick.C:
			}
		}
	}()
	f()
	close(done)
	<-ended
	return int64(peak.Load()) - int64(before.HeapInuse+before.StackInuse)
}

// Every catastrophic pattern is answered or refused within the limits, in every syntax and mode,
// with and without an index.
func TestPatternsAsAttack(t *testing.T) {
	stress.SkipTiny(t)
	dir := hurtfulTree(t)
	plain, err := quarry.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	indexed, err := quarry.Open(dir, &quarry.Options{Index: &quarry.IndexOptions{Dir: stress.FastDir(t)}})
	if err != nil {
		t.Fatal(err)
	}
	defer indexed.Close()
	if err := indexed.Index().Wait(context.Background()); err != nil {
		t.Fatal(err)
	}
	type attack struct {
		ws *quarry.Workspace
		q  search.Query
	}
	// The short form scans with each pattern in its worst mode, in both syntaxes. The long form
	// tries all combinations.
	var attacks, more []attack
	for i, pattern := range append(catastrophes(), slowInJavaScript...) {
		for _, o := range []match.Options{
			{Syntax: match.Rust}, {Syntax: match.ECMAScript}, {Syntax: match.Rust, Mode: match.Multiline, Case: match.Insensitive}, {Syntax: match.Words},
		} {
			a := attack{plain, search.Query{Pattern: pattern, Match: o, Spans: o.Mode == match.Lines}}
			if o == (match.Options{Syntax: match.Syntax(i % 2)}) || i >= len(catastrophes()) && o.Syntax == match.ECMAScript {
				attacks = append(attacks, a)
			} else {
				more = append(more, a)
			}
			if o.Mode == match.Lines {
				more = append(more, attack{indexed, search.Query{Pattern: pattern, Match: o, Detail: search.Counts}})
			}
		}
	}
	short := len(attacks)
	attacks = append(attacks, more...)
	run := stress.Start(t, "patterns as attack", short, len(attacks))
	slowest, largest := time.Duration(0), int64(0)
	for seed := range run.Cases() {
		a := attacks[int((seed-1)%uint64(len(attacks)))]
		began := cpu()
		var answer string
		more := grown(func() {
			r, err := a.ws.Search(context.Background(), a.q)
			answer = fmt.Sprint(err)
			if err == nil {
				answer = fmt.Sprint(r.LinesMatched, " lines, skipped ", r.SkippedCount)
			}
		})
		took := cpu() - began
		slowest, largest = max(slowest, took), max(largest, more)
		if took > patternTime || more > patternMemory {
			run.Violation(seed, "%.60q %v: %v and %d MB, then %.200s", a.q.Pattern, a.q.Match, took, more>>20, answer)
		}
		if took > time.Second {
			t.Logf("%.60q %v: %v, %.200s", a.q.Pattern, a.q.Match, took, answer)
		}
	}
	t.Logf("at most %v and %d MB", slowest, largest>>20)
}

// Hostile globs and ignore rules, in every dialect, are used as a filter, for a listing and in a
// rule file.
func TestGlobsAsAttack(t *testing.T) {
	dir := stress.FastDir(t)
	deep := strings.Repeat("a/", 60)
	for _, name := range []string{deep + strings.Repeat("a", 200), strings.Repeat("ab", 120), "x/" + strings.Repeat("a", 250), "b.md"} {
		put(t, filepath.Join(dir, name), "text\n")
	}
	globs := []string{
		strings.Repeat("*a", 100) + "b", strings.Repeat("**/", 100) + "b", strings.Repeat("a*", 120), strings.Repeat("{a,b}", 20), strings.Repeat("{a,b,", 200),
		strings.Repeat("{", 5000), strings.Repeat("[", 5000), strings.Repeat("?", 5000), "{" + strings.Repeat("a,", 20_000) + "b}", strings.Repeat("{1..9}", 12), "{1..999999999}",
		strings.Repeat("@(a|b)", 50), strings.Repeat("*(a|aa)", 30) + "b", strings.Repeat("+(a|*)", 20) + "c", strings.Repeat("!(a)", 30), strings.Repeat("**", 500), strings.Repeat("[a-z]*", 80) + "!",
		strings.Repeat("{a,b}{a,b}/", 40), strings.Repeat(`\`, 4001), strings.Repeat("!", 2000) + "a", "{" + strings.Repeat("{a,b},", 500) + "}",
	}
	type attack struct {
		name string
		call func(*quarry.Workspace) error
	}
	var attacks []attack
	for _, g := range globs {
		for _, d := range []search.Dialect{search.Gitignore, search.Plain, search.Minimatch} {
			attacks = append(attacks, attack{fmt.Sprintf("%.40q in dialect %v", g, d), func(ws *quarry.Workspace) error {
				_, err := ws.Find(context.Background(), search.FindQuery{Scope: search.Scope{Globs: []string{g}, Dialect: d}})
				return err
			}})
		}
		attacks = append(attacks, attack{fmt.Sprintf("%.40q as a rule", g), func(ws *quarry.Workspace) error {
			_, err := ws.Find(context.Background(), search.FindQuery{Scope: search.Scope{Extra: []string{g}}})
			return err
		}})
	}
	ws, err := quarry.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	run := stress.Start(t, "globs as attack", len(attacks), len(attacks))
	for seed := range run.Cases() {
		a := attacks[int((seed-1)%uint64(len(attacks)))]
		began := cpu()
		var err error
		more := grown(func() { err = a.call(ws) })
		if took := cpu() - began; took > patternTime/3 || more > patternMemory {
			run.Violation(seed, "%s: %v and %d MB, then %.200v", a.name, took, more>>20, err)
		}
	}
}
