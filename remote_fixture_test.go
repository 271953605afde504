package quarry_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"quarry"
	"quarry/internal/stress"
	"quarry/internal/zoekt"
	"quarry/internal/zoekt/zoekttest"
)

// remoteCorpus is three repositories, by name and path.
func remoteCorpus() map[string]map[string]string {
	rng := rand.New(rand.NewPCG(9, 9))
	words := []string{
		"alpha", "Alpha", "ALPHA", "beta", "func", "return", "class", "session", "taſk", "task", "TASK", "\u212Ailo", "kilo", "Kilo",
		"naïve", "NAÏVE", "straße", "σοφός", "ΣΟΦΟΣ", "日本語", "x", "42", "2024-05-17", "foo(bar)", "repo:beta", `"quoted"`, "a.b", "a+b",
		"TODO:", "todo", "café", "-not", "or", "lang:go", "\tindent", "é", "tail ",
	}
	text := func(lines int, ending string) string {
		var b strings.Builder
		for range lines {
			for range rng.IntN(7) {
				b.WriteString(words[rng.IntN(len(words))])
				b.WriteString([]string{" ", " ", "  ", "\u00a0", ", ", ""}[rng.IntN(6)])
			}
			b.WriteString(ending)
		}
		return b.String()
	}
	corpus := map[string]map[string]string{}
	for _, repo := range []string{"alpha", "beta-x", "group/gamma"} {
		files := map[string]string{
			".gitignore":         "*.log\nbuild/\n!keep.log\n/only-here\n",
			"sub/.ignore":        "secret*\n",
			"debug.log":          text(3, "\n"),
			"sub/keep.log":       text(3, "\n"),
			"build/out.txt":      text(5, "\n"),
			"sub/secret.txt":     text(4, "\n"),
			".hidden/x.go":       text(4, "\n"),
			".env":               "TOKEN=alpha\n",
			"empty.txt":          "",
			"bin/data.bin":       "alpha\x00beta\n" + text(2, "\n"),
			"crlf.txt":           text(20, "\r\n"),
			"no-newline.txt":     text(6, "\n") + "alpha at the end",
			"latin1.txt":         "caf\xe9 alpha\nna\xefve task\nplain beta\n",
			"bom.txt":            "\xef\xbb\xbf" + text(6, "\n"),
			"marker.txt":         "NOT-INDEXED: this is text like any other, alpha and beta, though it looks different\n",
			"odd [name]{a,b}.go": text(5, "\n"),
			"sub/deep/er/z.md":   text(8, "\n"),
		}
		for i := range 12 {
			ext := []string{"go", "md", "ts", "txt"}[i%4]
			files[fmt.Sprintf("src/f%02d.%s", i, ext)] = text(5+rng.IntN(40), "\n")
			files[fmt.Sprintf("src/pkg%d/Name%02d.%s", i%3, i, ext)] = text(rng.IntN(30), "\n")
		}
		corpus[repo] = files
	}
	return corpus
}

// remoteWorld is the corpus in a folder and on two servers.
type remoteWorld struct {
	dir     string // the repositories in folders of their names
	servers string
	kill    func() // the second server, which has group/gamma and beta-x
	commits map[string]string
}

// worlds are the servers the tests run with: our own, and Zoekt's if it is
// there.
var worlds = []struct {
	name string
	make func(*testing.T) *remoteWorld
}{
	{"test server", fakeWorld},
	{"zoekt", zoektWorld},
}

func writeCorpus(t *testing.T, dir string, corpus map[string]map[string]string) {
	t.Helper()
	for repo, files := range corpus {
		if err := os.MkdirAll(filepath.Join(dir, repo, ".git"), 0o755); err != nil {
			t.Fatal(err)
		}
		for name, text := range files {
			putFile(t, filepath.Join(dir, repo, name), text)
		}
	}
}

func fakeWorld(t *testing.T) *remoteWorld {
	w := &remoteWorld{dir: t.TempDir(), commits: map[string]string{}}
	corpus := remoteCorpus()
	writeCorpus(t, w.dir, corpus)
	served := func(name string) zoekttest.Repo {
		w.commits[name] = "c0ffee-" + name
		return zoekttest.Repo{Name: name, Commit: w.commits[name], Files: corpus[name]}
	}
	one := startServer(t, served("alpha"))
	two := startServer(t, served("group/gamma"), served("beta-x"))
	w.servers, w.kill = one.Addr+","+two.Addr, two.Close
	return w
}

func startServer(t *testing.T, repos ...zoekttest.Repo) *zoekttest.Server {
	t.Helper()
	s, err := zoekttest.Start(repos...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// zoektWorld indexes and serves the corpus with Zoekt's own programs.
func zoektWorld(t *testing.T) *remoteWorld {
	tools := os.Getenv("QUARRY_ZOEKT")
	if tools == "" {
		t.Skip("zoekt-git-index and zoekt-webserver not found; set QUARRY_ZOEKT to the folder that holds them")
	}
	w := &remoteWorld{dir: t.TempDir(), commits: map[string]string{}}
	writeCorpus(t, w.dir, remoteCorpus())
	index := [2]string{t.TempDir(), t.TempDir()}
	for repo := range remoteCorpus() {
		dir := filepath.Join(w.dir, repo)
		os.Remove(filepath.Join(dir, ".git"))
		git := func(args ...string) string {
			base := []string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "core.autocrlf=false", "-c", "commit.gpgsign=false"}
			return output(t, "git", append(base, args...)...)
		}
		git("init", "-q", "-b", "main")
		git("config", "zoekt.name", repo)
		git("add", "-f", "-A", ".")
		git("commit", "-q", "-m", "all")
		w.commits[repo] = strings.TrimSpace(git("rev-parse", "HEAD"))
		to := index[1]
		if repo == "alpha" {
			to = index[0]
		}
		output(t, filepath.Join(tools, "zoekt-git-index"), "-disable_ctags", "-repo_cache", w.dir, "-index", to, dir)
	}
	var addresses []string
	for i := range index {
		address, kill := serveZoekt(t, filepath.Join(tools, "zoekt-webserver"), index[i])
		addresses, w.kill = append(addresses, address), kill
	}
	w.servers = strings.Join(addresses, ",")
	return w
}

func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return string(out)
}

// serveZoekt starts a server on a free port of this machine and waits until it
// answers for all of its index.
func serveZoekt(t *testing.T, program, index string) (address string, kill func()) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address = l.Addr().String()
	l.Close()
	cmd := exec.Command(program, "-listen", address, "-index", index, "-html=false")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill = func() {
		cmd.Process.Kill() //nolint:errcheck // it may be gone
		cmd.Wait()         //nolint:errcheck // killed
	}
	t.Cleanup(kill)
	c, err := zoekt.New(address, &zoekt.Options{Timeout: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if !stress.Becomes(func() bool {
		repos, failures := c.List(context.Background())
		return len(failures) == 0 && len(repos) > 0
	}) {
		t.Fatal("zoekt-webserver does not answer")
	}
	return address, kill
}

func (w *remoteWorld) open(t *testing.T, opts quarry.ServersOptions) *quarry.Workspace {
	t.Helper()
	opts.Servers = w.servers
	ws, err := quarry.OpenServers(&opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	return ws
}

func (w *remoteWorld) local(t *testing.T) *quarry.Workspace {
	t.Helper()
	ws, err := quarry.Open(w.dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	return ws
}
