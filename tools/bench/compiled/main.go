// Command compiled compiles ripgrep's or fd's integration tests without changes and runs them with
// quarry rg or quarry fd, or with another program.
//
//	scripts/tool bench/compiled -suite ripgrep -from DIR/ripgrep
//	scripts/tool bench/compiled -suite fd -from DIR/fd -program /usr/bin/fdfind
//
// It needs cargo, and the crates that the tests use in a folder that cargo uses as a source. Debian
// has them in /usr/share/cargo/registry, from the packages librust-bstr-dev,
// librust-serde-derive-dev, librust-serde-json-dev, librust-walkdir-dev, librust-diff-dev,
// librust-tempfile-dev, librust-filetime-dev, librust-test-case-dev, librust-nix-dev and
// librust-normpath-dev. The crate jiff is missing there, so this program contains the only function
// of it that fd's tests use.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

func main() {
	suite := flag.String("suite", "ripgrep", "whose tests: ripgrep or fd")
	from := flag.String("from", "", "its repository")
	program := flag.String("program", "", "what to test; quarry rg or quarry fd if empty")
	registry := flag.String("registry", "/usr/share/cargo/registry", "folder of crates")
	flag.Parse()
	if err := run(*suite, *from, *program, *registry); err != nil {
		fmt.Fprintln(os.Stderr, "compiled:", err)
		os.Exit(1)
	}
}

// names maps each suite to quarry's command for it.
var names = map[string]string{"ripgrep": "rg", "fd": "fd"}

func run(suite, from, program, registry string) error {
	name := names[suite]
	tests, err := filepath.Abs(filepath.Join(from, "tests", "tests.rs"))
	if err != nil || name == "" {
		return fmt.Errorf("-suite %q: ripgrep or fd", suite)
	}
	if info, err := os.Stat(tests); err != nil || info.Size() == 0 {
		return fmt.Errorf("%s: there are no tests; -from is the repository of %s", tests, suite)
	}
	dir, err := os.MkdirTemp("", "compiled")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if program == "" {
		if program, err = standIn(dir, name); err != nil {
			return err
		}
	}
	binary, err := build(dir, suite, tests, registry)
	if err != nil {
		return err
	}
	cmd := exec.Command(binary)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CARGO_BIN_EXE_"+name+"="+program, "QUARRY_CONFIG=", "RUST_BACKTRACE=0")
	out, _ := cmd.CombinedOutput() // an error only means that a test fails
	return report(suite, out)
}

var (
	failed = regexp.MustCompile(`(?m)^test (\S+) \.\.\. FAILED$`)
	result = regexp.MustCompile(`(?m)^test result: \w+\. (\d+) passed; (\d+) failed`)
)

// documented lists the tests that fail because of deliberate differences; docs/SEARCH.md has the
// reasons.
var documented = map[string][]string{
	"ripgrep": {
		"feature::f1404_nothing_searched_warning", "misc::symlink_follow", "regression::r1446_respect_excludes_in_worktree", "regression::r2236",
		"regression::r2480", "regression::r3127_gitignore_allow_unclosed_class", "regression::r428_unrecognized_style",
	},
	"fd": {
		"test_and_pattern_with_forward_slash_is_rejected", "test_exec_batch", "test_follow_broken_symlink", "test_multi_file_with_missing",
		"test_pattern_with_forward_slash_is_rejected",
	},
}

// report prints the failed tests and the counts.
func report(suite string, out []byte) error {
	meant, wrong := 0, 0
	for _, m := range failed.FindAllSubmatch(out, -1) {
		if slices.Contains(documented[suite], string(m[1])) {
			meant++
			fmt.Printf("documented: %s\n", m[1])
		} else {
			wrong++
			fmt.Printf("failed: %s\n", m[1])
		}
	}
	m := result.FindSubmatch(out)
	if m == nil || string(m[1]) == "0" {
		return fmt.Errorf("no test passed:\n%.2000s", out)
	}
	fmt.Printf("tests: pass %s, documented %d, fail %d\n", m[1], meant, wrong)
	return nil
}

// standIn builds quarry, and a script that runs one of its commands.
func standIn(dir, command string) (string, error) {
	quarry := filepath.Join(dir, "quarry")
	if out, err := exec.Command("go", "build", "-o", quarry, "./cmd/quarry").CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	script := filepath.Join(dir, command)
	return script, os.WriteFile(script, []byte("#!/bin/sh\nexec '"+quarry+"' "+command+" \"$@\"\n"), 0o755)
}

// build compiles the tests and returns the path of the test program.
func build(dir, suite, tests, registry string) (string, error) {
	files := map[string]string{
		".cargo/config.toml": fmt.Sprintf("[source.crates-io]\nreplace-with = \"here\"\n[source.here]\ndirectory = %q\n", registry),
		"Cargo.toml":         fmt.Sprintf(manifest, suite, tests) + crates[suite],
		"empty.rs":           "fn main() {}\n",
		"jiff/Cargo.toml":    "[package]\nname = \"jiff\"\nversion = \"0.2.27\"\nedition = \"2021\"\n",
		"jiff/src/lib.rs":    jiff,
	}
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return "", err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return "", err
		}
	}
	cmd := exec.Command("cargo", "build", "--offline", "--test", suite, "--message-format=json")
	cmd.Dir = dir
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("cargo: %w\n%s", err, errs.String())
	}
	for line := range strings.Lines(string(out)) {
		var message struct {
			Target     struct{ Name, Src_path string }
			Executable string
		}
		if json.Unmarshal([]byte(line), &message) == nil && message.Executable != "" && message.Target.Src_path == tests {
			return message.Executable, nil
		}
	}
	return "", fmt.Errorf("cargo built no tests")
}

const manifest = `[package]
name = "suite"
version = "0.0.0"
edition = "2024"
autobins = false

[[bin]]
name = "fd"
path = "empty.rs"

[[test]]
name = %q
path = %q

[features]
pcre2 = []
unstable-index = []

[profile.dev]
debug = false

[dependencies]
`

var crates = map[string]string{
	"ripgrep": "bstr = \"*\"\nserde = \"*\"\nserde_derive = \"*\"\nserde_json = \"*\"\nwalkdir = \"*\"\n",
	"fd":      "diff = \"*\"\ntempfile = \"*\"\nfiletime = \"*\"\ntest-case = \"*\"\nregex = \"*\"\nnix = \"*\"\nnormpath = \"*\"\njiff = { path = \"jiff\" }\n",
}

// jiff replaces the crate jiff. It supports instants in UTC, which is all that fd's tests use.
const jiff = `use std::{str::FromStr, time::{Duration, SystemTime}};

pub struct Timestamp(SystemTime);

impl FromStr for Timestamp {
    type Err = String;
    fn from_str(s: &str) -> Result<Self, String> {
        let n: Vec<i64> = s
            .split(|c: char| !c.is_ascii_digit())
            .filter(|p| !p.is_empty())
            .map(|p| p.parse().map_err(|_| s.to_string()))
            .collect::<Result<_, _>>()?;
        if n.len() != 6 || !s.ends_with('Z') {
            return Err(s.to_string());
        }
        // Days since 1970 by the calendar that begins in March.
        let (y, m) = if n[1] > 2 { (n[0], n[1] - 3) } else { (n[0] - 1, n[1] + 9) };
        let days = 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + n[2] - 1 - 719468;
        let seconds = days * 86400 + n[3] * 3600 + n[4] * 60 + n[5];
        Ok(Timestamp(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds as u64)))
    }
}

impl From<Timestamp> for SystemTime {
    fn from(t: Timestamp) -> SystemTime {
        t.0
    }
}
`
