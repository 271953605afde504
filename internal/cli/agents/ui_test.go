package agents

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"quarry/internal/cli/env"
	"quarry/internal/config"
	"quarry/internal/stress"
)

// own returns an environment whose folders are all below dir.
func own(dir string, more map[string]string) func(string) string {
	return func(name string) string {
		switch {
		case name == "HOME":
			return dir
		case strings.HasPrefix(name, "XDG_"):
			return filepath.Join(dir, name)
		}
		return more[name]
	}
}

// The theme is remembered by later runs. If there is none, or its file is invalid, the page uses
// the system's theme.
func TestTheme(t *testing.T) {
	f := &uiFlags{agent: agent{s: env.Streams{Getenv: own(t.TempDir(), nil)}}}
	if got := f.theme(); got != "" {
		t.Errorf("before a choice: %q", got)
	}
	state, err := config.StateDir(f.s.Env())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(state, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := f.keepTheme("dark"); err != nil || f.theme() != "dark" {
		t.Errorf("after a choice: %q, %v", f.theme(), err)
	}
	if err := os.WriteFile(filepath.Join(state, "page-theme"), []byte("pink"), 0o600); err != nil || f.theme() != "" {
		t.Errorf("a theme that is none: %q, %v", f.theme(), err)
	}
}

// The policy on the page has the globs of each root's section in quarry.toml.
func TestPagePolicy(t *testing.T) {
	dir := t.TempDir()
	conf := filepath.Join(dir, "quarry.toml")
	for _, name := range []string{"v", "w"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	text := "[root.'" + filepath.ToSlash(dir) + "/v'.mcp]\ndeny = ['go.*']\nread-only = true\n"
	if err := os.WriteFile(conf, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	s := env.Streams{Getenv: own(dir, map[string]string{"QUARRY_CONFIG": conf}), Conf: &env.Settings{}}
	f := &uiFlags{agent: agent{s: s, noGate: true, noIndex: true, deny: []string{"*.md"}, roots: []string{filepath.Join(dir, "v"), filepath.Join(dir, "w")}}}
	ws, err := f.open(true, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	got := ""
	for _, r := range f.rules(ws.Roots()) {
		got += fmt.Sprintln(r.Path, r.Read, r.Write, r.Why)
	}
	const want = "** true false default in v\ngo.* false false denied in v\n** true true default in w\n*.md false false denied in w\n"
	if !strings.HasPrefix(got, want) {
		t.Errorf("the policy is\n%swant\n%s", got, want)
	}
}

// The address that the browser gets does not contain the token, because browsers keep addresses in
// their history.
func TestBrowserGetsATicket(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		t.Skip("the browser is not a program of the environment there")
	}
	dir, root := t.TempDir(), t.TempDir()
	script, copied := filepath.Join(dir, "browser"), filepath.Join(dir, "copied")
	if err := os.WriteFile(script, []byte("#!/bin/sh\ncp \"$1\" \""+copied+".new\" && mv \""+copied+".new\" \""+copied+"\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	f := &uiFlags{agent: agent{s: env.Streams{Out: &out, Err: &errs, Getenv: own(dir, map[string]string{"BROWSER": script})}, noGate: true, roots: []string{root}, noIndex: true}}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- f.run(ctx) }()
	var page []byte
	stress.Becomes(func() bool {
		page, _ = os.ReadFile(copied)
		return len(page) > 0
	})
	cancel()
	if err := <-done; err != nil {
		t.Fatalf("%v: %s", err, errs.String())
	}
	_, token, found := strings.Cut(strings.TrimSpace(out.String()), "#token=")
	if !found || len(page) == 0 {
		t.Fatalf("printed %q, opened %q: %s", out.String(), page, errs.String())
	}
	if !strings.Contains(string(page), "#ticket=") || strings.Contains(string(page), token) {
		t.Errorf("the browser was opened with %s", page)
	}
}
