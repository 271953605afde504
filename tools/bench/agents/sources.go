package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// sourcePlaces maps the names of sources to folders on this machine. A trial stores it.
type sourcePlaces map[string]string

func (s sourcePlaces) String() string { return "" }

func (s sourcePlaces) Set(v string) error {
	name, place, ok := strings.Cut(v, "=")
	if !ok || name == "" || place == "" {
		return fmt.Errorf("invalid source %q: NAME=FOLDER", v)
	}
	abs, err := filepath.Abs(place)
	if err != nil {
		return err
	}
	s[name] = abs
	return nil
}

// known adds the given places to those stored earlier in sources.json.
func (t *trial) known(given sourcePlaces) error {
	file := filepath.Join(t.dir, "sources.json")
	t.places = sourcePlaces{}
	if data, err := os.ReadFile(file); err == nil {
		if err := json.Unmarshal(data, &t.places); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	if len(given) == 0 {
		return nil
	}
	for name, place := range given {
		t.places[name] = place
	}
	if err := os.MkdirAll(t.dir, 0o755); err != nil {
		return err
	}
	return writeJSON(file, t.places)
}

// export writes the files of a source at a commit to a new folder.
func (t trial) export(s source, commit, to string) error {
	place := t.places[s.Name]
	var err error
	switch {
	case s.Module != "":
		if place, err = moduleDir(s.Module); err == nil {
			err = copyTree(place, to)
		}
	case s.Made != "":
		err = writeServices(to, "")
	case place == "" && s.Git != "":
		err = fmt.Errorf("clone %s and give -source %s=DIRECTORY", s.Git, s.Name)
	case place == "":
		err = fmt.Errorf("unpack Debian's %s and give -source %s=FOLDER", s.Package, s.Name)
	case s.Git != "":
		err = exportCommit(place, commit, to)
	default:
		err = copyTree(place, to)
	}
	if err != nil {
		return fmt.Errorf("source %s: %w", s.Name, err)
	}
	for name, text := range s.Add {
		file := filepath.Join(to, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// moduleDir downloads a version of a Go module and returns its folder.
func moduleDir(module string) (string, error) {
	c := exec.Command("go", "mod", "download", "-json", module)
	c.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GO111MODULE=on")
	c.Dir = os.TempDir()
	data, err := c.Output()
	var m struct{ Dir, Error string }
	if jsonErr := json.Unmarshal(data, &m); jsonErr != nil || m.Error != "" {
		return "", fmt.Errorf("go mod download %s: %w %s", module, errors.Join(err, jsonErr), m.Error)
	}
	return m.Dir, nil
}

// exportCommit writes the files of a commit to a folder. It skips files whose contents the clone
// lacks, because a clone may omit large ones. git archive would stop at the first of them.
func exportCommit(gitDir, commit, to string) error {
	list, err := exec.Command("git", "-C", gitDir, "ls-tree", "-r", "-z", commit).Output()
	if err != nil {
		return fmt.Errorf("git ls-tree %s: %w%s", commit, err, stderrOf(err))
	}
	cat := exec.Command("git", "-C", gitDir, "cat-file", "--batch")
	in, err := cat.StdinPipe()
	if err != nil {
		return err
	}
	pipe, err := cat.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cat.Start(); err != nil {
		return err
	}
	defer cat.Wait()
	defer in.Close()
	replies := bufio.NewReader(pipe)
	for _, entry := range strings.Split(strings.TrimSuffix(string(list), "\x00"), "\x00") {
		meta, name, _ := strings.Cut(entry, "\t")
		fields := strings.Fields(meta) // mode type id
		if len(fields) != 3 || fields[1] != "blob" {
			continue
		}
		fmt.Fprintln(in, fields[2])
		head, err := replies.ReadString('\n')
		if err != nil {
			return err
		}
		if strings.HasSuffix(head, " missing\n") {
			continue
		}
		words := strings.Fields(head)
		size, err := strconv.Atoi(words[len(words)-1])
		if err != nil {
			return fmt.Errorf("git cat-file: %q", head)
		}
		data := make([]byte, size+1)
		if _, err := io.ReadFull(replies, data); err != nil {
			return err
		}
		file := filepath.Join(to, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		switch fields[0] {
		case "120000":
			err = os.Symlink(string(data[:size]), file)
		case "100755":
			err = os.WriteFile(file, data[:size], 0o755)
		default:
			err = os.WriteFile(file, data[:size], 0o644)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// showFile returns one file of a commit.
func showFile(gitDir, commit, name string) ([]byte, error) {
	data, err := exec.Command("git", "-C", gitDir, "cat-file", "blob", commit+":"+name).Output()
	if err != nil {
		return nil, fmt.Errorf("git cat-file %s:%s: %w%s", commit, name, err, stderrOf(err))
	}
	return data, nil
}

func stderrOf(err error) string {
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return ": " + string(bytes.TrimSpace(exit.Stderr))
	}
	return ""
}

// copyTree copies a tree without its .git. The copy is writable, unlike the module
// cache.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(file string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, file)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		info, err := e.Info()
		switch {
		case err != nil:
			return err
		case e.IsDir() && e.Name() == ".git" && rel != ".":
			return filepath.SkipDir
		case e.IsDir():
			return os.MkdirAll(target, 0o755)
		case info.Mode()&fs.ModeSymlink != 0:
			link, err := os.Readlink(file)
			if err != nil {
				return err
			}
			return os.Symlink(link, target)
		case !info.Mode().IsRegular():
			return nil
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		return os.WriteFile(target, data, info.Mode().Perm()|0o200)
	})
}
