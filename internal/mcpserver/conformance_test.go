package mcpserver

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"quarry/tool"
)

// npmPackage finds a file of an npm package in the node_modules folder below QUARRY_NPM,
// or skips the test.
func npmPackage(t *testing.T, parts ...string) string {
	t.Helper()
	dir := os.Getenv("QUARRY_NPM")
	if dir == "" {
		t.Skip("QUARRY_NPM does not name a folder node_modules: make conformance-install")
	}
	file := filepath.Join(append([]string{dir}, parts...)...)
	if _, err := os.Stat(file); err != nil {
		t.Skipf("%s is not below QUARRY_NPM: make conformance-install", filepath.Join(parts[:2]...))
	}
	return file
}

// node finds Node 22 or newer: as a package below QUARRY_NPM, else on the path.
func node(t *testing.T) string {
	t.Helper()
	arch := map[string]string{"amd64": "x64"}[runtime.GOARCH]
	if arch == "" {
		arch = runtime.GOARCH
	}
	file := filepath.Join(os.Getenv("QUARRY_NPM"), "node-"+runtime.GOOS+"-"+arch, "bin", "node")
	if _, err := os.Stat(file); err != nil {
		if file, err = exec.LookPath("node"); err != nil {
			t.Skip("node is not installed: install Node 22 (Debian: nodejs)")
		}
	}
	out, err := exec.Command(file, "--version").Output()
	major, _, _ := strings.Cut(strings.TrimPrefix(string(out), "v"), ".")
	if n, _ := strconv.Atoi(major); err != nil || n < 22 {
		t.Skipf("node is %s: install Node 22", strings.TrimSpace(string(out)))
	}
	return file
}

// suiteTotal matches the line with the suite's totals.
var suiteTotal = regexp.MustCompile(`Total: (\d+) passed, (\d+) failed`)

// TestConformance runs the official suite over HTTP with both protocol generations,
// through the same gate and router as for any client. Only the token is added by a proxy,
// because the suite can't send it. It takes half a minute; make conformance runs it.
func TestConformance(t *testing.T) {
	if os.Getenv("QUARRY_CONFORMANCE") == "" {
		t.Skip("QUARRY_CONFORMANCE is not set; make conformance sets it")
	}
	suite := npmPackage(t, "@modelcontextprotocol", "conformance", "dist", "index.js")
	program := node(t)
	none, err := tool.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	s, err := newServer(none, nil, fixtureOptions)
	if err != nil {
		t.Fatal(err)
	}
	addFixtures(s.sdk)
	inner := testHandler(t, s, HTTPOptions{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("Authorization", "Bearer "+testToken)
		inner.ServeHTTP(w, r)
	}))
	defer server.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		for tick := time.NewTicker(time.Second); ; {
			select {
			case <-tick.C:
				_ = s.sdk.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: watched})
			case <-ctx.Done():
				tick.Stop()
				return
			}
		}
	}()
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(revision, func(t *testing.T) {
			cmd := exec.CommandContext(ctx, program, suite, "server", "--url", server.URL+Path, "--requirements", revision)
			cmd.Dir = t.TempDir()
			out, err := cmd.CombinedOutput()
			text := regexp.MustCompile(`\x1b\[[0-9;]*m`).ReplaceAllString(string(out), "")
			if i := strings.LastIndex(text, "=== SUMMARY"); i >= 0 {
				t.Log(text[i:])
			}
			if err != nil {
				t.Errorf("%v\n%s", err, text)
			}
			passed := 0
			if m := suiteTotal.FindStringSubmatch(text); m != nil {
				passed, _ = strconv.Atoi(m[1])
			}
			if passed < 50 {
				t.Errorf("only %d checks of the suite passed", passed)
			}
		})
	}
}
