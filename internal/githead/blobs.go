package githead

import (
	"context"
	"encoding/hex"
	"path/filepath"
	"strconv"
	"sync"

	"quarry/internal/gitdir"
	"quarry/internal/rootfs"
)

// Blobs gives access to the contents stored in a repository, for all commits.
type Blobs struct {
	r  *Repo
	mu sync.Mutex
	// indexes are the open pack indexes; guarded by mu.
	indexes map[string]*rootfs.File
}

// OpenBlobs opens the contents of the repository whose top folder is top, opened without
// a policy. Packs added later are not seen.
func OpenBlobs(ctx context.Context, top *rootfs.Root) (*Blobs, error) {
	git, err := gitdir.Open(top)
	if err != nil {
		return nil, err
	}
	r := &Repo{git: git, trees: map[string]*tree{}}
	err = r.configure(top)
	if err == nil {
		err = r.addStore(&store{root: git.Common, prefix: "objects/"}, 0)
	}
	if err != nil {
		r.Close()
		return nil, err
	}
	return &Blobs{r: r, indexes: map[string]*rootfs.File{}}, nil
}

// Close closes the repository.
func (b *Blobs) Close() {
	for _, f := range b.indexes {
		if f != nil {
			f.Close()
		}
	}
	b.r.Close()
}

// ID returns git's id of a content, as bytes.
func (b *Blobs) ID(data []byte) string {
	h := b.r.newHash()
	h.Write([]byte("blob " + strconv.Itoa(len(data)) + "\x00"))
	h.Write(data)
	return string(h.Sum(nil))
}

// Has reports whether the repository has the content id. It may return false by mistake,
// but never true.
func (b *Blobs) Has(id string) bool {
	name := hex.EncodeToString([]byte(id))
	for _, s := range b.r.stores {
		for _, pack := range s.packs {
			if f := b.index(s, pack); f != nil {
				if at, err := inIndex(f, id); err == nil && at > 0 {
					return true
				}
			}
		}
		p, err := s.root.Known(s.prefix + name[:2] + "/" + name[2:])
		if err != nil {
			continue
		}
		if info, err := s.root.Stat(p); err == nil && info.Type == rootfs.TypeFile {
			return true
		}
	}
	return false
}

func (b *Blobs) index(s *store, pack string) *rootfs.File {
	b.mu.Lock()
	defer b.mu.Unlock()
	key := s.dir() + pack
	f, known := b.indexes[key]
	if !known {
		f, _ = s.open("pack/" + pack + ".idx") // if nil, the contents are stored again
		b.indexes[key] = f
	}
	return f
}

// Blob returns the content id.
func (b *Blobs) Blob(ctx context.Context, id string) ([]byte, error) {
	if len(id) != b.r.idSize() {
		return nil, errDamaged
	}
	_, data, err := b.r.object(ctx, id)
	if err == nil && b.ID(data) != id {
		err = errDamaged
	}
	return data, err
}

// Head returns the id of the checked-out commit in hexadecimal, or "" if there is none.
func (b *Blobs) Head(ctx context.Context) string {
	value, err := b.r.head(ctx)
	if id, bad := hex.DecodeString(value); err != nil || bad != nil || len(id) != b.r.idSize() {
		return ""
	}
	return value
}

// Checkout opens the top folder of the git checkout that contains dir. It returns nil if
// there is none.
func Checkout(dir string) *rootfs.Root {
	if top, err := gitdir.View(dir); err == nil {
		if git, err := gitdir.Open(top); err == nil {
			git.Close()
			return top
		}
		top.Close()
	}
	for above := filepath.Dir(dir); above != dir; dir, above = above, filepath.Dir(above) {
		if top, ours := gitdir.Above(above); ours {
			return top
		}
	}
	return nil
}
