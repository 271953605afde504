package changer

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"quarry/change"
	"quarry/internal/patch"
	"quarry/internal/stress"
)

// gitRepos returns the repositories whose commits are applied. QUARRY_GIT_REPOS lists
// them, separated by colons; they may be bare.
func gitRepos(t *testing.T) []string {
	t.Helper()
	list := os.Getenv("QUARRY_GIT_REPOS")
	if list == "" {
		t.Skip("set QUARRY_GIT_REPOS to git repositories, with : between them")
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed (Debian: git)")
	}
	return strings.Split(list, ":")
}

func git(t *testing.T, repo string, args ...string) []byte {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", repo}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %v: %v: %s", args, err, stderr.String())
	}
	return out
}

// commitFiles holds the files touched by a commit, before and after it.
type commitFiles struct {
	id            string
	diff          []byte
	before, after map[string]string
	// wasProgram and isProgram have the files that are executable before and after.
	wasProgram, isProgram map[string]bool
	skip                  string // reason to skip the commit: binary files, symlinks, submodules
}

// load reads the files touched by a commit. git detects renames.
func load(t *testing.T, repo, id string) *commitFiles {
	c := &commitFiles{id: id, before: map[string]string{}, after: map[string]string{}, wasProgram: map[string]bool{}, isProgram: map[string]bool{}}
	c.diff = git(t, repo, "diff", "-M", "--no-color", "--no-ext-diff", id+"^", id)
	raw := string(git(t, repo, "diff", "-M", "--raw", "-z", "--no-abbrev", id+"^", id))
	fields := strings.Split(raw, "\x00")
	for i := 0; i < len(fields) && fields[i] != ""; {
		meta := strings.Fields(strings.TrimPrefix(fields[i], ":"))
		oldMode, newMode, oldID, newID, kind := meta[0], meta[1], meta[2], meta[3], meta[4]
		oldName, newName := fields[i+1], fields[i+1]
		i += 2
		if kind[0] == 'R' || kind[0] == 'C' {
			newName = fields[i]
			i++
		}
		for _, m := range []string{oldMode, newMode} {
			if m == "120000" || m == "160000" {
				c.skip = "a symlink or submodule"
			}
		}
		if c.skip != "" {
			return c
		}
		if kind[0] != 'A' {
			c.before[oldName] = string(git(t, repo, "cat-file", "blob", oldID))
			if oldMode == "100755" {
				c.wasProgram[oldName] = true
			}
		}
		if kind[0] != 'D' {
			c.after[newName] = string(git(t, repo, "cat-file", "blob", newID))
			if newMode == "100755" {
				c.isProgram[newName] = true
			}
		}
	}
	switch {
	case bytes.Contains(c.diff, []byte("\nBinary files ")):
		c.skip = "a binary file"
	case len(c.before)+len(c.after) == 0 || len(c.before) > 300:
		c.skip = "no files, or very many"
	}
	return c
}

// Applying a commit's diff gives the same tree as git, byte for byte, and undo restores
// the tree before it.
func TestCommits(t *testing.T) {
	repos := gitRepos(t)
	each := 12
	if stress.Long() {
		each = 340
	}
	modes, tried := 0, 0
	applied, undone, skipped, refused := 0, 0, map[string]int{}, map[string]int{}
	for _, repo := range repos {
		ids := strings.Fields(string(git(t, repo, "rev-list", "--no-merges", "--max-count=4000", "HEAD")))
		rng := rand.New(rand.NewPCG(1, uint64(len(ids))))
		rng.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
		ids = append(otherModes(t, repo, each/4), ids...)
		n := 0
		for _, id := range ids {
			if n == each {
				break
			}
			if !hasParent(repo, id) {
				continue
			}
			c := load(t, repo, id)
			if c.skip != "" {
				skipped[c.skip]++
				continue
			}
			n++
			tried++
			w := changing(t, c.before)
			for name := range c.wasProgram {
				if err := os.Chmod(filepath.Join(w.root.RealDir(), name), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			ops, err := patch.Parse(string(c.diff), -1)
			if err == nil {
				_, err = w.Apply(context.Background(), change.Set{Ops: ops})
			}
			if err != nil {
				if why := deliberate(err); why != "" {
					refused[why]++
				} else {
					t.Errorf("%s %s: %v", filepath.Base(filepath.Dir(repo)), id, err)
				}
				continue
			}
			if now := tree(t, w.root.RealDir()); !equal(now, c.after) {
				t.Errorf("%s %s: the tree is not git's: %s", filepath.Base(filepath.Dir(repo)), id, firstDifference(now, c.after))
				continue
			}
			if now := programs(t, w.root.RealDir()); !maps.Equal(now, c.isProgram) {
				t.Errorf("%s %s: executable are %v, git has %v", filepath.Base(filepath.Dir(repo)), id, now, c.isProgram)
			}
			if !maps.Equal(c.wasProgram, c.isProgram) {
				modes++
			}
			applied++
			if _, err := w.Undo(context.Background(), "", change.Options{}); err != nil {
				t.Errorf("%s: undo: %v", id, err)
			} else if now := tree(t, w.root.RealDir()); !equal(now, c.before) {
				t.Errorf("%s: undo does not give back the tree: %s", id, firstDifference(now, c.before))
			} else if now := programs(t, w.root.RealDir()); !maps.Equal(now, c.wasProgram) {
				t.Errorf("%s: undo does not give back the modes: %v, before %v", id, now, c.wasProgram)
			} else {
				undone++
			}
			w.Close()
		}
	}
	if modes == 0 {
		t.Error("no commit makes a file executable or plain: take a repository that has some")
	}
	if tried < 10*len(repos) || applied < tried*3/4 {
		t.Errorf("only %d commits of %d are compared", applied, tried)
	}
	t.Logf("%d commits applied as git has them (%d with other modes), %d undone; refused on purpose %v; passed over %v", applied, modes, undone, refused, skipped)
}

// otherModes returns the last n commits that change a file's executable bit. Randomly
// chosen commits often contain none.
func otherModes(t *testing.T, repo string, n int) (ids []string) {
	t.Helper()
	log := git(t, repo, "log", "--no-merges", "--no-renames", "--max-count=4000", "--summary", "--format=commit %H", "HEAD")
	id := ""
	for line := range strings.Lines(string(log)) {
		if rest, ok := strings.CutPrefix(line, "commit "); ok {
			id = strings.TrimSpace(rest)
		} else if strings.HasPrefix(line, " mode change 100") && id != "" && len(ids) < n {
			ids, id = append(ids, id), ""
		}
	}
	return ids
}

// programs returns the executable files of a folder.
func programs(t *testing.T, dir string) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for name := range tree(t, dir) {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode()&0o100 != 0 {
			out[name] = true
		}
	}
	return out
}

func hasParent(repo, id string) bool {
	return exec.Command("git", "-C", repo, "rev-parse", "-q", "--verify", id+"^").Run() == nil
}

// deliberate returns the rule by which Quarry refused a commit, if any.
func deliberate(err error) string {
	var twice = errTwice
	var ambiguous *change.AmbiguousError
	switch {
	case errors.Is(err, twice):
		return "one path is moved or deleted and another made below or above it"
	case errors.As(err, &ambiguous):
		return "ambiguous"
	case strings.Contains(err.Error(), "protected"):
		return "a protected path"
	case strings.Contains(err.Error(), "not a text file"), strings.Contains(err.Error(), "binary"):
		return "not a text file for us"
	}
	return ""
}

func firstDifference(got, want map[string]string) string {
	for name, text := range want {
		have, ok := got[name]
		if !ok {
			return name + " is missing"
		}
		if have != text {
			i := 0
			for i < min(len(have), len(text)) && have[i] == text[i] {
				i++
			}
			return name + ": at byte " + strings.ToValidUTF8(text[max(0, i-20):min(len(text), i+20)], "?") + " | " + strings.ToValidUTF8(have[max(0, i-20):min(len(have), i+20)], "?")
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			return name + " is too many"
		}
	}
	return ""
}
