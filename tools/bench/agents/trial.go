package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"time"
)

// trial is the path of a folder with a subfolder for each run. A run's folder contains run.json,
// log.jsonl (every call), rpc-TASK.jsonl (every message of the MCP connection), tree/TASK,
// definitions.json, answers/TASK.txt, judged.json, and home, where the program keeps its index and
// undo log.
type trial struct {
	dir    string
	places sourcePlaces
}

// runRecord is the content of run.json: the settings with which a run was prepared.
type runRecord struct {
	Name        string    `json:"name"`
	Arm         string    `json:"arm"`
	Kind        string    `json:"kind"`
	Date        time.Time `json:"date"`
	Program     string    `json:"program,omitempty"`
	Version     string    `json:"version,omitempty"`
	Profile     string    `json:"profile,omitempty"`
	Tools       string    `json:"tools,omitempty"`
	Definitions int       `json:"definitions"` // bytes of the tools/list result and the server's instructions
	Socket      string    `json:"socket,omitempty"`

	dir string
}

var nameOfRun = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9._-]*$`)

func (t trial) open(name string) (*runRecord, error) {
	if !nameOfRun.MatchString(name) {
		return nil, fmt.Errorf("invalid run name %q: letters, digits, dots and dashes", name)
	}
	data, err := os.ReadFile(filepath.Join(t.dir, name, "run.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no run %q in %s; there are %s", name, t.dir, strings.Join(t.runs(), ", "))
	} else if err != nil {
		return nil, err
	}
	r := &runRecord{dir: filepath.Join(t.dir, name)}
	return r, json.Unmarshal(data, r)
}

func (t trial) runs() []string {
	files, _ := filepath.Glob(filepath.Join(t.dir, "*", "run.json"))
	var names []string
	for _, f := range files {
		names = append(names, filepath.Base(filepath.Dir(f)))
	}
	sort.Strings(names)
	return names
}

func (t trial) eachRun(names []string, do func(*runRecord) error) error {
	if len(names) == 0 {
		return fmt.Errorf("which run? there are %s", strings.Join(t.runs(), ", "))
	}
	for _, name := range names {
		r, err := t.open(name)
		if err != nil {
			return err
		}
		if err := do(r); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func (r *runRecord) save() error { return writeJSON(filepath.Join(r.dir, "run.json"), r) }

func (r *runRecord) tree(task string) string { return filepath.Join(r.dir, "tree", task) }

// environment returns the environment for programs run for the agent. Each run has a home of its
// own, so that it doesn't use another run's index or settings.
func (r *runRecord) environment() []string {
	home := filepath.Join(r.dir, "home")
	env := []string{"HOME=" + home, "USERPROFILE=" + home, "LOCALAPPDATA=" + filepath.Join(home, "local"), "APPDATA=" + filepath.Join(home, "roaming")}
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if name = strings.ToUpper(name); !strings.HasPrefix(name, "XDG_") && !strings.HasPrefix(name, "QUARRY") &&
			name != "HOME" && name != "USERPROFILE" && name != "LOCALAPPDATA" && name != "APPDATA" {
			env = append(env, v)
		}
	}
	return env
}

func writeJSON(file string, value any) error {
	data, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(data, '\n'), 0o644)
}
