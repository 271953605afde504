package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// sixPrograms returns stand-ins for the programs of all platforms.
func sixPrograms(host []byte) map[string][]byte {
	programs := map[string][]byte{}
	for _, system := range []string{"linux", "darwin", "windows"} {
		for _, processor := range []string{"amd64", "arm64"} {
			target := system + "/" + processor
			programs[target] = []byte("the program for " + target)
		}
	}
	if host != nil {
		programs[runtime.GOOS+"/"+runtime.GOARCH] = host
	}
	return programs
}

func TestNPMPackages(t *testing.T) {
	for _, name := range []string{"quarry-mcp", "@acme/quarry"} {
		o := options{version: "1.2.3", out: t.TempDir(), root: "../../..", npm: name}
		if err := npmPackages(o, sixPrograms(nil)); err != nil {
			t.Fatal(err)
		}
		dirs, err := filepath.Glob(filepath.Join(o.out, "npm", "*"))
		if err != nil || len(dirs) != 7 {
			t.Fatalf("%s: %v, %v; want seven packages", name, dirs, err)
		}
		packages := map[string]map[string]any{}
		for _, dir := range dirs {
			data, err := os.ReadFile(filepath.Join(dir, "package.json"))
			var p map[string]any
			if err == nil {
				err = json.Unmarshal(data, &p)
			}
			if err != nil {
				t.Fatal(err)
			}
			if p["scripts"] != nil || p["version"] != "1.2.3" || p["license"] != "MIT" || p["description"] == "" {
				t.Errorf("%s: %s", dir, data)
			}
			packages[p["name"].(string)] = p
			if system, ok := p["os"].([]any); ok {
				file := filepath.Join(dir, "bin", "quarry")
				if system[0] == "win32" {
					file += ".exe"
				}
				info, err := os.Stat(file)
				if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o755 {
					t.Errorf("%s: %v, %v", file, info, err)
				}
				text, _ := os.ReadFile(file)
				want := strings.NewReplacer("win32", "windows", "x64", "amd64").Replace(fmt.Sprintf("the program for %s/%s", system[0], p["cpu"].([]any)[0]))
				if string(text) != want {
					t.Errorf("%s holds %q, want %q", file, text, want)
				}
			}
			if readme, err := os.ReadFile(filepath.Join(dir, "README.md")); err != nil || bytes.Contains(readme, []byte("NAME")) || !bytes.Contains(readme, []byte(name)) {
				t.Errorf("%s: %v\n%s", dir, err, readme)
			}
		}
		for dependency, version := range packages[name]["optionalDependencies"].(map[string]any) {
			if packages[dependency] == nil || version != "1.2.3" {
				t.Errorf("%s depends on %s %s, which isn't there", name, dependency, version)
			}
		}
	}
	for _, bad := range []string{"Quarry", "a b", "@acme", "../x", "@Acme/quarry"} {
		if err := run(t.Context(), options{version: "1.2.3", out: t.TempDir(), root: "../../..", npm: bad}); err == nil || !strings.Contains(err.Error(), "-npm") {
			t.Errorf("-npm %s: %v", bad, err)
		}
	}
}

// installed packs the packages and installs them into an empty folder without network access.
func installed(t *testing.T) (dir, program string, env []string) {
	t.Helper()
	if testing.Short() {
		t.Skip("links the program: run without -short")
	}
	for _, name := range []string{"npm", "node"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is not installed (Debian: npm)", name)
		}
	}
	top := t.TempDir()
	env = append(os.Environ(), "npm_config_cache="+filepath.Join(top, "cache"), "npm_config_offline=true", "npm_config_audit=false", "npm_config_fund=false",
		"npm_config_update_notifier=false", "HOME="+top, "XDG_STATE_HOME="+filepath.Join(top, "state"), "XDG_CACHE_HOME="+filepath.Join(top, "caches"))
	program = filepath.Join(top, "quarry-built")
	if out, err := exec.Command("go", "build", "-C", "../../..", "-o", program, "./cmd/quarry").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	data, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	o := options{version: "1.2.3", out: top, root: "../../..", npm: "@acme/quarry"}
	if err := npmPackages(o, sixPrograms(data)); err != nil {
		t.Fatal(err)
	}
	dirs, err := filepath.Glob(filepath.Join(top, "npm", "*"))
	if err != nil {
		t.Fatal(err)
	}
	system, processor := npmPlatform(runtime.GOOS + "/" + runtime.GOARCH)
	dir = filepath.Join(top, "empty")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	npm := func(in string, args ...string) string {
		t.Helper()
		cmd := exec.Command("npm", args...)
		cmd.Dir, cmd.Env = in, env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("npm %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	install := []string{"install", "--no-package-lock"}
	npm(top, append([]string{"pack", "--silent"}, dirs...)...)
	for _, from := range dirs {
		tarball := filepath.Join(top, filepath.Base(from)+"-1.2.3.tgz")
		info, err := os.Stat(tarball)
		if err != nil {
			t.Fatal(err)
		}
		if name := filepath.Base(from); name == "acme-quarry" || name == "acme-quarry-"+system+"-"+processor {
			t.Logf("%s: %d bytes", filepath.Base(tarball), info.Size())
			install = append(install, tarball)
		}
	}
	if len(dirs) != 7 || len(install) != 4 {
		t.Fatalf("packed %d packages, to install %v", len(dirs), install)
	}
	npm(dir, install...)
	return dir, program, env
}

// The test uses the packages in the state in which a user has them after installing.
func TestNPMInstalled(t *testing.T) {
	dir, program, env := installed(t)
	t.Run("client", func(t *testing.T) { client(t, dir, program, env) })
	t.Run("launcher", func(t *testing.T) { launcher(t, dir, program, env) })
}

// launcher checks that the launcher passes on its arguments and input to the program, and the
// output back.
func launcher(t *testing.T, dir, program string, env []string) {
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("needle\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	installed := filepath.Join(dir, "node_modules", ".bin", "quarry")
	command := func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(name, args...)
		cmd.Dir, cmd.Env = dir, env
		return cmd
	}
	compared := 0
	for _, c := range []struct {
		stdin string
		args  []string
	}{
		{"", []string{"--version"}},
		{"", []string{"search", "needle", "a.txt"}},
		{"", []string{"search", "no such thing", "a.txt"}}, // exit code 1
		{"", []string{"search", "("}},                      // exit code 2, stderr
		{"one\ntwo needle\r\nthree", []string{"search", "-n", "needle", "-"}},
		{"", []string{"search", "a b'c\"d $e", "a.txt"}},
	} {
		var got [2]string
		for i, name := range []string{program, installed} {
			cmd := command(name, c.args...)
			cmd.Stdin = strings.NewReader(c.stdin)
			var out, errs bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &errs
			err := cmd.Run()
			if _, ran := errors.AsType[*exec.ExitError](err); err != nil && !ran {
				t.Fatal(err)
			}
			got[i] = fmt.Sprintf("exit code %d\n%s\n%s", cmd.ProcessState.ExitCode(), &out, &errs)
		}
		if got[0] != got[1] {
			t.Errorf("quarry %q: the program gives\n%s\nthe launcher\n%s", c.args, got[0], got[1])
		}
		compared++
	}
	t.Logf("%d command lines compared", compared)
	if runtime.GOOS == "windows" {
		return // Windows has no signals
	}

	// If the launcher gets a signal, the server ends.
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		cmd := command(installed, "serve", "--root", dir)
		stderr, err := cmd.StderrPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		line := make([]byte, 200)
		if n, err := stderr.Read(line); err != nil || !strings.Contains(string(line[:n]), "serving") {
			t.Fatalf("%s, %v", line[:n], err)
		}
		if err := cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		select {
		case <-ended:
		case <-time.After(time.Minute):
			cmd.Process.Kill()
			t.Fatalf("%v doesn't end it", signal)
		}
		if out, err := command(program, "index", "status", "--root", dir).CombinedOutput(); strings.Contains(string(out), "kept by process") {
			t.Errorf("after %v a server is left: %v\n%s", signal, err, out)
		}
	}

	killed(t, command(installed, "mcp", "--root", dir))

	// If the package for the platform is missing, the error says what to do.
	system, processor := npmPlatform(runtime.GOOS + "/" + runtime.GOARCH)
	if err := os.RemoveAll(filepath.Join(dir, "node_modules", "@acme", "quarry-"+system+"-"+processor)); err != nil {
		t.Fatal(err)
	}
	if out, err := command(installed, "--version").CombinedOutput(); err == nil || !strings.Contains(string(out), "install again without --omit=optional") {
		t.Errorf("without its platform: %v\n%s", err, out)
	}
}

// killed checks that no server remains if a client kills the launcher and closes its pipes. The
// program's output ends only when all its writers are closed.
func killed(t *testing.T, cmd *exec.Cmd) {
	in, inErr := cmd.StdinPipe()
	read, write, pipeErr := os.Pipe()
	if err := errors.Join(inErr, pipeErr); err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = write
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	write.Close()
	out := bufio.NewReader(read)
	fmt.Fprintln(in, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	if answer, err := out.ReadString('\n'); err != nil || !strings.Contains(answer, `"id":1`) {
		t.Fatalf("%s, %v", answer, err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	in.Close()
	_ = read.SetReadDeadline(time.Now().Add(time.Minute))
	if rest, err := io.ReadAll(out); err != nil {
		t.Errorf("a server outlives its killed launcher: %v\n%s", err, rest)
	}
	t.Logf("the server ended %v after its launcher was killed", time.Since(began).Round(time.Millisecond))
	_ = cmd.Wait()
}

// client runs the official TypeScript client against a server installed from the packages, started
// by its command and by npx. It lists tools, searches, edits, undoes and stops the server.
func client(t *testing.T, dir, program string, env []string) {
	sdk := filepath.Join(os.Getenv("QUARRY_NPM"), "@modelcontextprotocol", "sdk")
	if _, err := os.Stat(sdk); err != nil {
		t.Skip("@modelcontextprotocol/sdk is not below QUARRY_NPM: make conformance-install")
	}
	script, err := filepath.Abs("testdata/client.mjs")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		command []string
	}{
		{"the program alone", []string{program}},
		{"the installed command", []string{filepath.Join(dir, "node_modules", ".bin", "quarry")}},
		{"npx", []string{"npx", "--no", "quarry"}},
	} {
		if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("needle\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("node", append(append([]string{script, sdk, dir}, c.command...), "mcp", "--root", dir)...)
		cmd.Dir, cmd.Env = dir, env
		var errs bytes.Buffer
		cmd.Stderr = &errs
		out, err := cmd.Output()
		var seen struct {
			StartMs, CloseMs   float64
			Tools, Left        int
			Search, Edit, Undo string
		}
		if err == nil {
			err = json.Unmarshal(out, &seen)
		}
		if err != nil {
			t.Fatalf("%s: %v\n%s%s", c.name, err, out, &errs)
		}
		if seen.Tools < 20 || !strings.Contains(seen.Search, "a.txt:1") || !strings.Contains(seen.Edit, "Replaced 1 occurrence") || !strings.Contains(seen.Undo, "Undid") || seen.Left != 0 {
			t.Errorf("%s: %+v", c.name, seen)
		}
		if text, err := os.ReadFile(filepath.Join(dir, "a.txt")); err != nil || string(text) != "needle\n" {
			t.Errorf("%s: after the undo a.txt is %q, %v", c.name, text, err)
		}
		t.Logf("%s: %d tools, first answer after %.0f ms, ended after %.0f ms", c.name, seen.Tools, seen.StartMs, seen.CloseMs)
	}
}
