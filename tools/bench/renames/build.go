package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// complaints returns the compiler's errors for a tree, including its tests, after renaming places;
// "" if it builds. It does not change the tree.
func complaints(ctx context.Context, dir string, places map[place]bool, old, fresh string, windows bool) (string, error) {
	tmp, err := os.MkdirTemp("", "renames")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(tmp)
	byFile := map[string][]int{}
	for p := range places {
		byFile[p.file] = append(byFile[p.file], p.at)
	}
	overlay := map[string]string{}
	for file, at := range byFile {
		text, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			return "", err
		}
		out := filepath.Join(tmp, fmt.Sprintf("%d.go", len(overlay)))
		overlay[filepath.Join(dir, file)] = out
		if err := os.WriteFile(out, replaced(text, at, old, fresh), 0o644); err != nil {
			return "", err
		}
	}
	list, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		return "", err
	}
	name := filepath.Join(tmp, "overlay.json")
	if err := os.WriteFile(name, list, 0o644); err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, "go", "vet", "-assign", "-overlay="+name, "./...") // -assign selects a single check, because only type errors matter
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err == nil && windows {
		cmd = exec.CommandContext(ctx, "go", cmd.Args[1:]...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOOS=windows")
		out, err = cmd.CombinedOutput()
	}
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return string(out), nil
	}
	return "", err
}

// unseen returns the Go files of a tree, including tests, that are not built on this system.
func unseen(ctx context.Context, dir string) (map[string]bool, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-e", "-f", `{{$d := .Dir}}{{range .IgnoredGoFiles}}{{$d}}/{{.}}{{"\n"}}{{end}}`, "./...")
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	files := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		if rel, err := filepath.Rel(dir, strings.TrimSpace(line)); err == nil && strings.TrimSpace(line) != "" {
			files[filepath.ToSlash(rel)] = true
		}
	}
	return files, nil
}
