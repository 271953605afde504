// Package githead tells whether a file is as in the last commit of its
// repository.
//
// It reads git's folder itself and runs nothing: a repository can name programs
// in its configuration that git would start. A file is the same if its bytes have
// the name that the commit's tree gives the path; git's index only spares the
// reading of files whose stamp it knows. So a damaged or unknown form of index
// costs time, and never makes a changed file look unchanged.
package githead

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
)

// Repo is a repository as it was when it was opened. It is safe for concurrent
// use and holds no file open.
type Repo struct {
	top     string   // the folder with the files
	git     string   // git's folder of this worktree
	common  string   // git's folder that all worktrees share
	objects []string // folders of objects
	sha256  bool

	crlf bool // git may convert line endings here
	mode bool // the executable bit counts

	index   map[string]*stamped
	written stamp // of the index itself

	mu    sync.Mutex
	packs []string            // paths of pack files, without .pack
	root  string              // id of HEAD's tree; "" before the first commit
	trees map[string][]branch // by id
}

// Has reports whether a folder is the top of a repository or of a worktree.
func Has(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, ".git"))
	return err == nil
}

// maxSmall bounds the files that are read whole, except the index. Real ones
// are far smaller.
const maxSmall = 4 << 20

// Open opens the repository whose files are in a folder.
func Open(top string) (*Repo, error) {
	r := &Repo{top: top, git: filepath.Join(top, ".git"), mode: runtime.GOOS != "windows", crlf: runtime.GOOS == "windows", trees: map[string][]branch{}}
	info, err := os.Stat(r.git)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() { // a worktree or submodule: the file names the folder
		text, err := small(r.git)
		to, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir:")
		if err != nil || !ok {
			return nil, fmt.Errorf("%s is no git repository", top)
		}
		r.git = from(top, strings.TrimSpace(to))
	}
	r.common = r.git
	if text, err := small(filepath.Join(r.git, "commondir")); err == nil {
		r.common = from(r.git, strings.TrimSpace(string(text)))
	}
	if err := r.configure(); err != nil {
		return nil, err
	}
	r.objectFolders(filepath.Join(r.common, "objects"), 0)
	if r.root, err = r.headTree(); err != nil {
		return nil, err
	}
	r.readIndex()
	return r, nil
}

func from(dir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, filepath.FromSlash(name))
}

// small reads a regular file of reasonable size.
func small(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxSmall {
		return nil, fmt.Errorf("%s is not the file git writes", name)
	}
	return os.ReadFile(name)
}

// configure reads the parts of git's configuration that say how files are
// stored.
func (r *Repo) configure() error {
	text, _ := small(filepath.Join(r.common, "config"))
	section := ""
	for line := range bytes.Lines(text) {
		s := strings.ToLower(strings.TrimSpace(string(line)))
		if strings.HasPrefix(s, "[") {
			section, _, _ = strings.Cut(s[1:], "]")
			continue
		}
		key, value, _ := strings.Cut(s, "=")
		switch value = strings.TrimSpace(value); section + "." + strings.TrimSpace(key) {
		case "core.autocrlf":
			r.crlf = r.crlf || value == "true" || value == "input"
		case "core.filemode":
			r.mode = r.mode && value != "false"
		case "extensions.objectformat":
			if value != "sha1" && value != "sha256" {
				return fmt.Errorf("objects of the repository are named by %q", value)
			}
			r.sha256 = value == "sha256"
		case "extensions.refstorage":
			if value != "files" {
				return fmt.Errorf("the repository keeps its references as %q", value)
			}
		}
	}
	attributes, _ := small(filepath.Join(r.top, ".gitattributes"))
	r.crlf = r.crlf || bytes.Contains(attributes, []byte("text")) || bytes.Contains(attributes, []byte("eol=")) || bytes.Contains(attributes, []byte("crlf"))
	return nil
}

// objectFolders lists a folder of objects and its alternates.
func (r *Repo) objectFolders(dir string, depth int) {
	r.objects = append(r.objects, dir)
	names, _ := filepath.Glob(filepath.Join(dir, "pack", "*.idx"))
	for _, n := range names {
		r.packs = append(r.packs, strings.TrimSuffix(n, ".idx"))
	}
	text, err := small(filepath.Join(dir, "info", "alternates"))
	if err != nil || depth > 4 { // as deep as git goes
		return
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			r.objectFolders(from(dir, line), depth+1)
		}
	}
}

func (r *Repo) newHash() hash.Hash {
	if r.sha256 {
		return sha256.New()
	}
	return sha1.New()
}

func (r *Repo) idSize() int {
	if r.sha256 {
		return sha256.Size
	}
	return sha1.Size
}

// headTree is the tree of the last commit, or "" if there is none yet.
func (r *Repo) headTree() (string, error) {
	text, err := small(filepath.Join(r.git, "HEAD"))
	if err != nil {
		return "", err
	}
	value := strings.TrimSpace(string(text))
	for range 8 { // references to references
		name, ok := strings.CutPrefix(value, "ref:")
		if !ok {
			break
		}
		if value, err = r.reference(strings.TrimSpace(name)); err != nil || value == "" {
			return "", err
		}
	}
	id, err := hex.DecodeString(value)
	if err != nil || len(id) != r.idSize() {
		return "", fmt.Errorf("HEAD names no commit: %q", value)
	}
	kind, data, err := r.object(string(id))
	if err != nil {
		return "", err
	}
	line, _, _ := strings.Cut(string(data), "\n")
	tree, err := hex.DecodeString(strings.TrimPrefix(line, "tree "))
	if kind != commitObject || err != nil || len(tree) != r.idSize() {
		return "", errors.New("HEAD names something that is no commit")
	}
	return string(tree), nil
}

// reference is the value of a reference; "" if it does not exist yet.
func (r *Repo) reference(name string) (string, error) {
	if !strings.HasPrefix(name, "refs/") || strings.Contains(name, "..") {
		return "", fmt.Errorf("invalid reference %q", name)
	}
	for _, dir := range []string{r.git, r.common} {
		text, err := small(filepath.Join(dir, filepath.FromSlash(name)))
		if err == nil {
			return strings.TrimSpace(string(text)), nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	packed, err := os.ReadFile(filepath.Join(r.common, "packed-refs"))
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return "", nil
		}
		return "", err
	}
	for line := range bytes.Lines(packed) {
		id, of, ok := strings.Cut(strings.TrimSpace(string(line)), " ")
		if ok && of == name {
			return id, nil
		}
	}
	return "", nil
}
