// Package githead reports whether a file is unchanged since the last commit of its
// repository.
//
// It reads git's folder itself and does not run git, because a repository's configuration
// can name programs that git would start. A file is unchanged if its content has the id
// that the commit has for the path. Git's index is only used to avoid reading files with
// a known stamp. So a damaged or unsupported index costs time, but never makes a changed
// file look unchanged.
//
// The folder may be hostile; package gitdir describes how it is opened. All objects,
// indexes and lists of references are limited, so a repository takes at most about 64 MB
// of memory, and all work ends with the caller's context.
package githead

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"

	"quarry/fault"
	"quarry/internal/gitdir"
	"quarry/internal/rootfs"
)

// Repo is a repository at the time it was opened. It is safe for concurrent use, and must
// be closed.
type Repo struct {
	git    *gitdir.Dir
	stores []*store // the repository's own objects, and its alternates
	sha256 bool

	crlf bool // git may convert line endings here
	mode bool // git compares the executable bit

	known stamps // from the index

	reading sync.Mutex // one object at a time, because each may take 48 MB
	mu      sync.Mutex
	root    string           // id of HEAD's tree; "" before the first commit
	trees   map[string]*tree // by id; guarded by mu
	held    int              // bytes of trees; guarded by mu
}

// store is a folder of objects.
type store struct {
	root   *rootfs.Root
	prefix string   // path of the folder from the root
	packs  []string // names of packs, without .pack
	alone  bool     // the root is used only by this store
}

// errForeign is returned for a malformed file. It does not quote the file.
var errForeign = errors.New("a file in git's folder is not in git's format")

// Open opens the repository whose top folder is top, opened without a policy.
func Open(ctx context.Context, top *rootfs.Root) (*Repo, error) {
	git, err := gitdir.Open(top)
	if err != nil {
		return nil, err
	}
	r := &Repo{git: git, mode: runtime.GOOS != "windows", crlf: runtime.GOOS == "windows", trees: map[string]*tree{}}
	if err := r.load(ctx, top); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// Close closes the repository.
func (r *Repo) Close() {
	for _, s := range r.stores {
		if s.alone {
			s.root.Close()
		}
	}
	r.git.Close()
}

func (r *Repo) load(ctx context.Context, top *rootfs.Root) error {
	if err := r.configure(top); err != nil {
		return err
	}
	if err := r.addStore(&store{root: r.git.Common, prefix: "objects/"}, 0); err != nil {
		return err
	}
	var err error
	if r.root, err = r.headTree(ctx); err != nil {
		return err
	}
	return r.readIndex(ctx)
}

// configure reads the parts of git's configuration that determine how files are stored.
func (r *Repo) configure(top *rootfs.Root) error {
	text, err := gitdir.Read(r.git.Common, "config")
	if err != nil && rootfs.KindOf(err) != fault.NotFound {
		return err
	}
	for key, value := range gitdir.Settings(text) {
		value = strings.ToLower(value)
		switch key {
		case "core.autocrlf":
			r.crlf = r.crlf || value == "true" || value == "input"
		case "core.filemode":
			r.mode = r.mode && value != "false"
		case "extensions.objectformat":
			if value != "sha1" && value != "sha256" {
				return errors.New("the objects of the repository are named in an unknown way (extensions.objectFormat)")
			}
			r.sha256 = value == "sha256"
		case "extensions.refstorage":
			if value != "files" {
				return errors.New("the repository does not keep its references in files (extensions.refStorage)")
			}
		}
	}
	attributes, _ := gitdir.Read(top, ".gitattributes")
	r.crlf = r.crlf || bytes.Contains(attributes, []byte("text")) || bytes.Contains(attributes, []byte("eol=")) || bytes.Contains(attributes, []byte("crlf"))
	return nil
}

// Limits on a repository's alternates and packs. Git follows alternates five levels deep and
// starts to repack at 50 packs.
const (
	maxDepth  = 5
	maxStores = 32
	maxPacks  = 4096
)

// addStore adds a folder of objects and its alternates, without duplicates.
func (r *Repo) addStore(s *store, depth int) error {
	r.stores = append(r.stores, s)
	if len(r.stores) > maxStores || depth > maxDepth {
		return fmt.Errorf("the repository borrows objects from more than %d others, or more than %d deep", maxStores-1, maxDepth)
	}
	if err := s.listPacks(); err != nil {
		return err
	}
	text, err := gitdir.Read(s.root, s.prefix+"info/alternates")
	if rootfs.KindOf(err) == fault.NotFound || rootfs.KindOf(err) == fault.NotFolder {
		return nil
	}
	if err != nil {
		return err
	}
	tried := 0
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		if tried++; tried > maxStores {
			return fmt.Errorf("the repository borrows objects from more than %d others", maxStores-1)
		}
		root, err := gitdir.Alternate(s.dir(), line)
		if err != nil {
			continue // git also continues without it
		}
		if r.has(root) {
			root.Close()
			continue
		}
		if err := r.addStore(&store{root: root, alone: true}, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (r *Repo) has(root *rootfs.Root) bool {
	at, err := root.Place()
	return err != nil || slices.ContainsFunc(r.stores, func(s *store) bool {
		other, err := s.place()
		return err != nil || other == at
	})
}

// dir returns the absolute path of the folder.
func (s *store) dir() string {
	return s.root.RealDir() + "/" + s.prefix
}

func (s *store) place() (rootfs.Place, error) {
	if s.prefix == "" {
		return s.root.Place()
	}
	p, err := s.root.Resolve(s.prefix)
	if err != nil {
		return rootfs.Place{}, err
	}
	info, err := s.root.Stat(p)
	return rootfs.Place{Dev: info.Dev, Ino: info.Ino}, err
}

// listPacks finds the packs of a store.
func (s *store) listPacks() error {
	p, err := s.root.Resolve(s.prefix + "pack")
	if err != nil {
		return err
	}
	list, err := s.root.List(p)
	if k := rootfs.KindOf(err); k == fault.NotFound || k == fault.NotFolder {
		return nil
	} else if err != nil {
		return err
	}
	for _, e := range list {
		if name, ok := strings.CutSuffix(e.Name, ".idx"); ok {
			s.packs = append(s.packs, strings.Clone(name))
		}
	}
	if len(s.packs) > maxPacks {
		return fmt.Errorf("the repository has %d packs, and at most %d are read: run git gc", len(s.packs), maxPacks)
	}
	slices.Sort(s.packs)
	return nil
}

// open opens a file of a store.
func (s *store) open(name string) (*rootfs.File, error) {
	p, err := s.root.Known(s.prefix + name)
	if err != nil {
		return nil, err
	}
	return s.root.OpenFile(p)
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

// head returns the id of the checked-out commit; "" if there is none yet.
func (r *Repo) head(ctx context.Context) (string, error) {
	text, err := gitdir.Read(r.git.Own, "HEAD")
	value := strings.TrimSpace(string(text))
	for range 8 { // references to references
		name, ok := strings.CutPrefix(value, "ref:")
		if !ok || err != nil {
			break
		}
		value, err = r.reference(ctx, strings.TrimSpace(name))
	}
	return value, err
}

// headTree returns the tree of the last commit, or "" if there is none yet.
func (r *Repo) headTree(ctx context.Context) (string, error) {
	value, err := r.head(ctx)
	if err != nil || value == "" {
		return "", err
	}
	id, err := hex.DecodeString(value)
	if err != nil || len(id) != r.idSize() {
		return "", errors.New("HEAD names no commit")
	}
	kind, data, err := r.object(ctx, string(id))
	if err != nil {
		return "", err
	}
	line, _, _ := bytes.Cut(data, []byte("\n"))
	tree := make([]byte, hex.DecodedLen(len(line)))
	n, err := hex.Decode(tree, bytes.TrimPrefix(line, []byte("tree ")))
	if kind != commitObject || err != nil || n != r.idSize() {
		return "", errors.New("HEAD names an object that is not a commit")
	}
	return string(tree[:n]), nil
}

// maxReferences limits packed-refs: about three million references.
const maxReferences = 256 << 20

// reference returns the value of a reference; "" if it does not exist yet.
func (r *Repo) reference(ctx context.Context, name string) (string, error) {
	if !strings.HasPrefix(name, "refs/") || strings.Contains(name, "..") {
		return "", errors.New("HEAD names an invalid reference")
	}
	for _, dir := range []*rootfs.Root{r.git.Own, r.git.Common} {
		text, err := gitdir.Read(dir, name)
		if err == nil {
			return strings.TrimSpace(string(text)), nil
		}
		switch rootfs.KindOf(err) {
		case fault.NotFound, fault.NotFolder:
		case fault.InvalidArgument:
			return "", errors.New("HEAD names an invalid reference")
		default:
			return "", errForeign
		}
	}
	p, err := r.git.Common.Known("packed-refs")
	if err != nil {
		return "", err
	}
	f, err := r.git.Common.OpenFile(p)
	if err != nil {
		if rootfs.KindOf(err) == fault.NotFound {
			return "", nil
		}
		return "", err
	}
	defer f.Close()
	if f.Info().Size > maxReferences {
		return "", fmt.Errorf("packed-refs has more than %d MB", maxReferences>>20)
	}
	lines := bufio.NewScanner(&reader{ctx.Err, io.LimitReader(f, maxReferences)})
	for lines.Scan() {
		id, of, ok := bytes.Cut(bytes.TrimSpace(lines.Bytes()), []byte(" "))
		if ok && string(of) == name {
			return string(id), nil
		}
	}
	if err := lines.Err(); err != nil { // a line of more than 64 KB
		return "", errors.Join(ctx.Err(), errForeign)
	}
	return "", nil
}

// reader reads until the context ends.
type reader struct {
	ended func() error // the context's Err
	in    io.Reader
}

func (r *reader) Read(b []byte) (int, error) {
	if err := r.ended(); err != nil {
		return 0, err
	}
	return r.in.Read(b)
}
