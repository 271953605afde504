package ignore

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"quarry/internal/stress"
)

// A repo is a random work tree: folders, rule files, and paths to ask about.
type repo struct {
	dirs    []string // without the root
	rules   map[string]string
	exclude string
	global  string
	paths   []string
}

var repoNames = []string{"a", "b", "c", "ab", "abc", "foo", "bar", "a.b", "b.c", ".h", "a b", "foo ", "[a]", "a*", `b\`, "é", "B", "x1", "!a", "#a", "foobar"}

func randomRepo(rng *rand.Rand, paths int) *repo {
	name := func() string { return repoNames[rng.IntN(len(repoNames))] }
	r := &repo{rules: map[string]string{"": randomRules(rng)}, exclude: randomRules(rng), global: randomRules(rng)}
	all := []string{""}
	for range 14 {
		up := all[rng.IntN(len(all))]
		d := up + name()
		if up != "" {
			d = up + "/" + name()
		}
		if strings.Count(d, "/") < 5 && !slices.Contains(all, d) {
			all = append(all, d)
			r.dirs = append(r.dirs, d)
			if rng.IntN(3) == 0 {
				r.rules[d] = randomRules(rng)
			}
		}
	}
	seen := map[string]bool{}
	for range paths * 3 {
		p := all[rng.IntN(len(all))]
		for range rng.IntN(3) {
			if p != "" {
				p += "/"
			}
			p += name()
		}
		if p != "" && !seen[p] && len(r.paths) < paths {
			seen[p] = true
			r.paths = append(r.paths, p)
		}
	}
	return r
}

func randomRules(rng *rand.Rand) string {
	var b strings.Builder
	if rng.IntN(20) == 0 {
		b.WriteString("\xef\xbb\xbf")
	}
	for range rng.IntN(7) {
		b.WriteString(randomRule(rng))
		b.WriteString([]string{"\n", "\n", "\n", "\n", "\r\n", " \n", "  \n", "\\ \n", "\\\n", "\t\n", "\n\n"}[rng.IntN(11)])
	}
	if rng.IntN(4) == 0 {
		b.WriteString(randomRule(rng))
	}
	return b.String()
}

func randomRule(rng *rand.Rand) string {
	piece := func() string {
		switch rng.IntN(12) {
		case 0, 1:
			return "*"
		case 2:
			return "**"
		case 3:
			return "?"
		case 4:
			return []string{"[ab]", "[!a]", "[^b]", "[a-c]", "[]a]", "[a-]", "[[:alpha:]]", "[[:digit:][:space:]]", "[![:upper:]]", "[\\]a]", "[a\\-c]",
				"[[:nope:]]", "[a", "[", "[z-a]", "[a/b]", "[[:alpha]", "[!-a]", "[a-\\c]", "[[]", "[é]", "[.-z]", "[^/]"}[rng.IntN(23)]
		case 5:
			return []string{"\\*", "\\a", "\\[", "\\\\", "\\ ", "\\!", "\\#", "\\/", "***", "a**", "**b", "#", "!", ".*", "*.b", "[ab]**", "?**", "\\a**", "*b**", "**?"}[rng.IntN(20)]
		default:
			return repoNames[rng.IntN(len(repoNames))]
		}
	}
	var parts []string
	for range 1 + rng.IntN(3) {
		s := piece()
		if strings.Trim(s, "*?") == "" && rng.IntN(4) > 0 { // a lone * would ignore nearly all paths
			s += repoNames[rng.IntN(len(repoNames))][:1]
		} else if rng.IntN(3) == 0 {
			s += piece()
		}
		parts = append(parts, s)
		if rng.IntN(2) == 0 {
			break
		}
	}
	p := strings.Join(parts, "/")
	if rng.IntN(4) == 0 {
		p = "/" + p
	}
	if rng.IntN(4) == 0 {
		p += "/"
	}
	if rng.IntN(4) == 0 {
		p = "!" + p
	}
	return p
}

// folders returns the repo's rules for a Matcher, with sources named as in git.
func (r *repo) folders(exclude, global string) []Folder {
	out := []Folder{{Sets: []Set{
		{Kind: Global, Rules: Parse(global, []byte(r.global))},
		{Kind: Exclude, Rules: Parse(exclude, []byte(r.exclude))},
	}}}
	for dir, text := range r.rules {
		source := ".gitignore"
		if dir != "" {
			source = dir + "/.gitignore"
		}
		out = append(out, Folder{Dir: dir, Sets: []Set{{Kind: Git, Rules: Parse(source, []byte(text))}}})
	}
	return out
}

func (r *repo) write(t *testing.T, dir, global string) {
	t.Helper()
	put := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, d := range append([]string{".git/info", ".git/objects", ".git/refs"}, r.dirs...) {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	put(".git/HEAD", "ref: refs/heads/main\n")
	put(".git/config", "[core]\n\trepositoryformatversion = 0\n\tignorecase = false\n\texcludesFile = "+global+"\n")
	put(".git/info/exclude", r.exclude)
	if err := os.WriteFile(global, []byte(r.global), 0o644); err != nil {
		t.Fatal(err)
	}
	for d, text := range r.rules {
		put(filepath.Join(d, ".gitignore"), text)
	}
}

// askGit returns git's decision about each path.
func askGit(t *testing.T, dir string, paths []string) []Decision {
	t.Helper()
	cmd := exec.Command("git", "check-ignore", "--no-index", "--stdin", "-z", "-v", "-n")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_DIR="+filepath.Join(dir, ".git"), "GIT_WORK_TREE="+dir)
	cmd.Stdin = strings.NewReader(strings.Join(paths, "\x00") + "\x00")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil && cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("git check-ignore: %v: %s", err, stderr.String())
		return nil
	}
	f := strings.Split(string(out), "\x00")
	if len(f) != 4*len(paths)+1 {
		t.Errorf("git answered %d fields for %d paths: %s", len(f), len(paths), stderr.String())
		return nil
	}
	ds := make([]Decision, len(paths))
	for i := range paths {
		source, line, pattern := f[4*i], f[4*i+1], f[4*i+2]
		if source == "" {
			continue
		}
		n, err := strconv.Atoi(line)
		if err != nil {
			t.Fatal(err)
		}
		ds[i] = Decision{Ignored: !strings.HasPrefix(pattern, "!"), Rule: Rule{Source: source, Line: n, Pattern: pattern}}
	}
	return ds
}

// TestAgainstGit compares decisions and their rules with git's in random repositories: at
// least 200,000 cases under STRESS.
func TestAgainstGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed (Debian: git)")
	}
	repos, perRepo := stress.Size(40, 130), 1600
	if n, err := strconv.Atoi(os.Getenv("QUARRY_IGNORE_REPOS")); err == nil {
		repos = n // 650 repositories are a million cases
	}
	if testing.Short() {
		repos = 10
	}
	var mu sync.Mutex
	cases, ignored, negated := 0, 0, 0
	var wg sync.WaitGroup
	next := make(chan uint64)
	for range 2 {
		wg.Go(func() {
			for seed := range next {
				c, i, n := compareRepo(t, seed, perRepo)
				mu.Lock()
				cases, ignored, negated = cases+c, ignored+i, negated+n
				mu.Unlock()
			}
		})
	}
	for seed := range uint64(repos) {
		next <- seed
	}
	close(next)
	wg.Wait()
	t.Logf("%d cases: %d ignored, %d kept by a negated rule", cases, ignored, negated)
	if want := 200_000; cases < want && repos >= 130 {
		t.Errorf("%d cases, want at least %d", cases, want)
	}
	if ignored < cases/20 || negated < cases/100 {
		t.Error("too few paths are touched by a rule for the test to show much")
	}
}

func compareRepo(t *testing.T, seed uint64, paths int) (cases, ignored, negated int) {
	dir := t.TempDir()
	r := randomRepo(rand.New(rand.NewPCG(seed, 9)), paths)
	global := filepath.Join(dir, ".git", "global")
	r.write(t, dir, global)
	m := NewMatcher(r.folders(filepath.Join(dir, ".git", "info", "exclude"), global))
	want := askGit(t, dir, r.paths)
	if want == nil {
		return
	}
	for i, p := range r.paths {
		got := m.Match(p, slices.Contains(r.dirs, p))
		w := want[i]
		if got.Ignored != w.Ignored || got.Rule.Source != w.Rule.Source || got.Rule.Line != w.Rule.Line {
			t.Errorf("seed %d, %q: got %+v\ngit says %+v", seed, p, got, w)
		}
		if w.Ignored {
			ignored++
		} else if w.Rule.Source != "" {
			negated++
		}
	}
	return len(r.paths), ignored, negated
}

// TestWalkAgreesWithPaths checks that frames passed down a tree and a Matcher give the same
// results.
func TestWalkAgreesWithPaths(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 10))
		r := randomRepo(rng, 200)
		folders := r.folders("exclude", "global")
		for _, k := range []Kind{Dot, Rg, Roo} {
			for dir := range r.rules {
				if rng.IntN(3) == 0 {
					folders = append(folders, Folder{Dir: dir, Repo: rng.IntN(9) == 0, Sets: []Set{{Kind: k, Rules: Parse(fmt.Sprint(dir, k), []byte(randomRules(rng)))}}})
				}
			}
		}
		m := NewMatcher(folders)
		byDir := map[string][]Folder{}
		for _, d := range folders {
			byDir[d.Dir] = append(byDir[d.Dir], d)
		}
		var walk func(dir string, f *Frame)
		checked := 0
		walk = func(dir string, f *Frame) {
			for _, d := range byDir[dir] {
				f = f.Push(dir, d.Repo, d.Sets...)
			}
			for _, p := range r.paths {
				if up := p[:max(strings.LastIndexByte(p, '/'), 0)]; up != dir {
					continue
				}
				isDir := slices.Contains(r.dirs, p)
				checked++
				if got, want := f.Decide(p, isDir), m.Match(p, isDir); got != want || (f.Answer(p, path.Base(p), isDir) == Ignore) != want.Ignored {
					t.Fatalf("seed %d, %q: walk %+v, path %+v", seed, p, got, want)
				}
			}
			for _, d := range r.dirs {
				if up := d[:max(strings.LastIndexByte(d, '/'), 0)]; up == dir && f.Answer(d, path.Base(d), true) != Ignore {
					walk(d, f)
				}
			}
		}
		walk("", nil)
		if checked == 0 {
			t.Fatalf("seed %d: nothing compared", seed)
		}
	}
}
