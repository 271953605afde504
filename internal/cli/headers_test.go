package cli

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"quarry/internal/zoekt/zoekttest"
)

// lockedServer is a server that answers who has its key, a folder to be in, and
// a file with the key.
func lockedServer(t *testing.T, name string) (s *zoekttest.Server, dir, file string) {
	t.Helper()
	s, err := zoekttest.Start(zoekttest.Repo{Name: name, Commit: "0123456789abcdef", Files: map[string]string{"main.go": "func main() { hello() }\n"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	s.Lock("Authorization", "Bearer s3cret-of-"+name)
	dir, file = t.TempDir(), filepath.Join(t.TempDir(), "headers")
	write(t, file, "# for the proxy\nAuthorization: Bearer s3cret-of-"+name+"\n", 0o600)
	return s, dir, file
}

func write(t *testing.T, name, text string, mode os.FileMode) {
	t.Helper()
	err := os.WriteFile(name, []byte(text), mode)
	if err == nil {
		err = os.Chmod(name, mode) // whatever the umask
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestBackendHeaders: who has the file gets an answer; nothing of it is shown,
// and nobody else may be able to read it.
func TestBackendHeaders(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	s, dir, file := lockedServer(t, "app")
	backend := "--backend=zoekt=" + s.Addr
	shared, broken := filepath.Join(dir, "shared"), filepath.Join(dir, "broken")
	write(t, shared, "Authorization: Bearer s3cret-of-app\n", 0o644)
	write(t, broken, "Authorization Bearer s3cret-of-app\n", 0o600)
	for _, x := range []struct {
		args []string
		code int
		want string // of stdout, or with an exclamation mark first, in stderr
	}{
		{[]string{"search", backend, "--backend-header-file", file, "-l", "hello"}, 0, "app/main.go\n"},
		{[]string{"find", backend, "--backend-header-file", file}, 0, "app/main.go\n"},
		{[]string{"read", backend, "--backend-header-file", file, "--plain", "app/main.go"}, 0, "func main() { hello() }\n"},
		{[]string{"search", backend, "hello"}, 2, "!401 Unauthorized: it wants credentials"},
		{[]string{"search", backend, "--backend-header-file", shared, "hello"}, 2, "!others can read " + shared + ": chmod 600 it"},
		{[]string{"search", backend, "--backend-header-file", broken, "hello"}, 2, "!broken:1: a line is Name: value"},
		{[]string{"search", backend, "--backend-header-file", dir, "hello"}, 2, "!not a regular file"},
		{[]string{"search", backend, "--backend-header-file", file + "x", "hello"}, 2, "!no such file"},
		{[]string{"search", backend + ",search.example.org:6070", "--backend-header-file", file, "hello"}, 2, "!search.example.org:6070 without encryption"},
		{[]string{"search", "--backend-header-file", file, "hello", dir}, 2, "!--backend-header-file is for --backend"},
		{[]string{"call", "--backend-header-file", file, "list_files"}, 2, "!--backend-header-file is for --backend"},
	} {
		if runtime.GOOS == "windows" && strings.Contains(x.want, "chmod") {
			continue
		}
		got := runQuarry("", x.args...)
		want, inErr := strings.CutPrefix(x.want, "!")
		if got.code != x.code || !inErr && got.out != want || inErr && !strings.Contains(got.err, want) {
			t.Errorf("quarry %q: %+v; want %d, %q", x.args, got, x.code, x.want)
		}
		if strings.Contains(got.out+got.err, "s3cret") {
			t.Errorf("quarry %q shows the secret: %+v", x.args, got)
		}
	}
	if got := runQuarry("", "call", backend, "--backend-header-file", file, "search_files", `{"regex":"hello"}`); !strings.Contains(got.out, "app/main.go") {
		t.Errorf("call: %+v", got)
	}
	got := runQuarry("", "mcp", "install", "--client", "claude-desktop", backend, "--backend-header-file", file, "--checkout", "app="+dir)
	for _, want := range []string{"zoekt=" + s.Addr, "backend-header-file", filepath.Base(file), "app=" + filepath.ToSlash(dir)} {
		if !strings.Contains(strings.ReplaceAll(got.out, `\\`, "/"), want) { // JSON doubles what Windows puts between names
			t.Errorf("what a client starts lacks %s: %+v", want, got)
		}
	}
}

// TestBackendConfig: in a folder whose section names servers no flag is needed,
// and credentials go to the servers they were set for only.
func TestBackendConfig(t *testing.T) {
	s, dir, file := lockedServer(t, "app")
	other, _, otherFile := lockedServer(t, "other")
	config := filepath.Join(t.TempDir(), "quarry.toml")
	write(t, config, `[root."`+filepath.ToSlash(dir)+`".remote]
backend = "zoekt=`+s.Addr+`"
backend-header-file = "`+filepath.ToSlash(file)+`"
backend-timeout = "5s"
`, 0o644)
	t.Setenv("QUARRY_CONFIG", config)
	write(t, filepath.Join(dir, "local.txt"), "hello from the folder\n", 0o644)
	t.Chdir(dir)
	for _, x := range []struct {
		args []string
		code int
		want string // in both outputs
	}{
		{[]string{"search", "-l", "hello"}, 0, "app/main.go\n"},
		{[]string{"search", "-l", "hello", "app"}, 0, "app/main.go\n"},
		{[]string{"find", "*.go"}, 0, "app/main.go\n"},
		{[]string{"read", "app/main.go", "--plain"}, 0, "func main() { hello() }\n"},
		{[]string{"call", "search_files", `{"regex":"hello"}`}, 0, "app/main.go"},
		{[]string{"config"}, 0, "quarry.toml:2, section of this folder"},
		{[]string{"config", "remote.backend"}, 0, "now       \"zoekt=" + s.Addr + "\", from "},
		{[]string{"search", "-l", "hello", "--root", dir}, 0, "local.txt\n"},
		{[]string{"search", "-l", "hello", "--no-config"}, 0, "local.txt\n"},
		{[]string{"search", "-l", "hello", "--backend", "zoekt=" + other.Addr, "--backend-header-file", otherFile}, 0, "other/main.go\n"},
		// Its credentials are not for another server.
		{[]string{"search", "-l", "hello", "--backend", "zoekt=" + other.Addr}, 2, "401 Unauthorized"},
	} {
		got := runQuarry("", x.args...)
		if got.code != x.code || !strings.Contains(got.out+got.err, x.want) || strings.Contains(got.out+got.err, "s3cret") {
			t.Errorf("quarry %q: %+v; want %d, %q", x.args, got, x.code, x.want)
		}
	}
	if got := runQuarry("", "doctor"); got.code == 2 || strings.Contains(got.out+got.err, "s3cret") {
		t.Errorf("doctor: %+v", got)
	}
	other.Lock("Authorization", "Bearer s3cret-of-app") // would take them
	t.Setenv("QUARRY_REMOTE_BACKEND", "zoekt="+other.Addr)
	if got := runQuarry("", "search", "hello"); got.code != 2 || !strings.Contains(got.err, "401") {
		t.Errorf("the file's credentials went to the server of the environment: %+v", got)
	}
}

// TestWorkspaceConfig: a quarry.toml in a workspace is a file like any other. It
// sends no search and no credentials anywhere.
func TestWorkspaceConfig(t *testing.T) {
	s, dir, file := lockedServer(t, "app")
	for _, name := range []string{"quarry.toml", ".quarry.toml", ".config/quarry/quarry.toml"} {
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, full, "[remote]\nbackend = \"zoekt="+s.Addr+"\"\nbackend-header-file = \""+filepath.ToSlash(file)+"\"\n", 0o644)
	}
	write(t, filepath.Join(dir, "local.txt"), "hello\n", 0o644)
	t.Chdir(dir)
	for _, args := range [][]string{{"search", "-l", "hello"}, {"call", "search_files", `{"regex":"hello"}`}} {
		if got := runQuarry("", args...); got.code != 0 || !strings.Contains(got.out, "local.txt") {
			t.Errorf("quarry %q: %+v", args, got)
		}
	}
	if s.Asked() != 0 {
		t.Errorf("the server of a workspace's file was asked %d times", s.Asked())
	}
}
