package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

const archive = "/usr/src/linux-source-6.1.tar.xz"

// prepare locates or unpacks the source tree, and locates ripgrep.
func (b *bench) prepare() error {
	if b.rg == "" {
		path, err := exec.LookPath("rg")
		if err != nil {
			return errors.New("ripgrep is not installed (rg, or -rg PATH)")
		}
		b.rg = path
	}
	if err := os.MkdirAll(b.work, 0o755); err != nil {
		return err
	}
	if b.tree != "" {
		return nil
	}
	b.tree = filepath.Join(b.work, "linux-source-6.1")
	if _, err := os.Stat(b.tree); err == nil {
		return nil
	}
	if _, err := os.Stat(archive); err != nil {
		return errors.New("no corpus: install Debian's linux-source-6.1, or give a tree with -tree")
	}
	if err := exec.Command("tar", "-xf", archive, "-C", b.work).Run(); err != nil {
		return err
	}
	return allowEverything(filepath.Join(b.tree, ".gitignore"))
}

// allowEverything removes a rule of Debian's package that makes git ignore all files.
func allowEverything(name string) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	return os.WriteFile(name, []byte(strings.Replace("\n"+string(data), "\n/*\n", "\n", 1)), 0o644)
}

// textSize is the size of the text for the matching table, in bytes.
const textSize = 300 << 20

// text returns the path of a file with textSize bytes of source text, taken in path order.
func (b *bench) text() (string, error) {
	name := filepath.Join(b.work, "text")
	if info, err := os.Stat(name); err == nil && info.Size() >= textSize-(8<<20) {
		return name, nil
	}
	out, err := os.Create(name)
	if err != nil {
		return "", err
	}
	defer out.Close()
	size := int64(0)
	err = filepath.WalkDir(b.tree, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		ext := filepath.Ext(path)
		if ext != ".c" && ext != ".h" && ext != ".rst" {
			return nil
		}
		in, err := os.Open(path)
		if err != nil {
			return err
		}
		defer in.Close()
		n, err := io.Copy(out, in)
		if size += n; size >= textSize {
			return filepath.SkipAll
		}
		return err
	})
	return name, err
}

// pieces returns a tree of the given number of files, each at most 4 KiB of the corpus.
func (b *bench) pieces(files int) (string, error) {
	dir := filepath.Join(b.work, "pieces")
	done := filepath.Join(b.work, "pieces.done")
	if _, err := os.Stat(done); err == nil {
		return dir, nil
	}
	const size, each = 4 << 10, 4
	made := 0
	err := filepath.WalkDir(b.tree, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || strings.HasPrefix(d.Name(), ".") {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(b.tree, path)
		if err != nil {
			return err
		}
		for i := 0; i < each && made < files; i++ {
			at := i * size
			if at >= len(data) {
				at = 0
			}
			name := filepath.Join(dir, "part"+strconv.Itoa(i), rel)
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(name, data[at:min(at+size, len(data))], 0o644); err != nil {
				return err
			}
			made++
		}
		if made >= files {
			return filepath.SkipAll
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	return dir, os.WriteFile(done, nil, 0o644)
}
