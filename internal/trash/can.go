package trash

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"quarry/fault"
	"quarry/internal/rootfs"
)

// can is one trash folder. It has a folder for items and one for their records.
type can struct {
	root  *rootfs.Root
	files rootfs.Path
	info  rootfs.Path
	// plain is set for macOS, which has no records.
	plain bool
	// hashed is set if records are named by a hash of the item's name, because in a
	// workspace the policy checks names. Otherwise a record is named like its item.
	hashed bool
	// recycled is set for Windows' recycle bin: items and records are in one folder and
	// have special names.
	recycled bool
	// base is the folder to which relative paths in records refer.
	base string
	// shown is the path of the items' folder; ids begin with it.
	shown string
	// mayCopy allows put and restore to copy between file systems.
	mayCopy bool
}

func (c *can) close(b *Bin) {
	if c.root != b.ws {
		c.root.Close()
	}
}

func isOtherDevice(err error) bool { return errors.Is(err, syscall.EXDEV) }

// file returns the path of the item called name.
func (c *can) file(name string) (rootfs.Path, error) { return c.files.Child(name) }

func (c *can) record(name string) (rootfs.Path, error) {
	if c.recycled {
		return c.info.Child(recycledRecord + strings.TrimPrefix(name, recycledThing))
	}
	if c.hashed {
		sum := sha256.Sum256([]byte(name))
		name = hex.EncodeToString(sum[:12])
	}
	return c.info.Child(name + infoSuffix)
}

// maxTries limits the search for a free name. The second half of the candidates are names
// unlikely to be taken.
const maxTries = 2000

// put moves the entry at p in b's workspace into the can.
func (c *can) put(b *Bin, p rootfs.Path, info rootfs.Info) (Item, error) {
	rec := record{path: b.recorded(c, p), deleted: b.opts.Now(), size: info.Size}
	for n := range maxTries {
		name := c.candidate(p.Base(), n, rec.deleted)
		err := c.putAs(b, p, name, rec)
		switch {
		case err == nil:
			return Item{ID: c.shown + "/" + name, Name: name, Original: b.original(c, rec.path), Path: p, Inside: true,
				Deleted: rec.deleted.Truncate(time.Second), Info: info}, nil
		case !errors.Is(err, fault.AlreadyExists):
			return Item{}, err
		}
	}
	return Item{}, fmt.Errorf("no free name for %s: %w", fault.Printable(p.Base()), fault.AlreadyExists)
}

// putAs tries to use one name. It writes the record first, because that reserves the name
// among all programs, and because an item without a record can't be restored.
func (c *can) putAs(b *Bin, p rootfs.Path, name string, rec record) error {
	to, err := c.file(name)
	if err != nil {
		return err
	}
	if _, err := c.root.Stat(to); err == nil {
		return fault.AlreadyExists
	} else if !errors.Is(err, fault.NotFound) {
		return err
	}
	if c.plain {
		return c.move(b.ws, p, c.root, to)
	}
	at, err := c.record(name)
	if err != nil {
		return err
	}
	_, _, err = c.root.Create(at, c.encode(rec), &rootfs.CreateOptions{Mode: 0o600})
	if errors.Is(err, fault.AlreadyExists) && c.stale(b, at) {
		if err := c.root.Remove(at); err != nil && !errors.Is(err, fault.NotFound) {
			return err
		}
		_, _, err = c.root.Create(at, c.encode(rec), &rootfs.CreateOptions{Mode: 0o600})
	}
	if err != nil {
		return err
	}
	err = c.move(b.ws, p, c.root, to)
	if err == nil {
		return nil
	}
	if _, moved := c.root.Stat(to); moved == nil {
		return err // the item was moved, though maybe not durably: the record must stay
	}
	return errors.Join(err, c.root.Remove(at))
}

func (c *can) encode(r record) []byte {
	if c.recycled {
		return r.encodeRecycled()
	}
	return r.encode()
}

// staleAfter is much longer than it takes to write a record and move its item.
const staleAfter = 10 * time.Minute

// stale reports whether the record at is left from an item that a user deleted from
// .trash by hand. putAs has checked that the item does not exist.
func (c *can) stale(b *Bin, at rootfs.Path) bool {
	if !c.hashed {
		return false
	}
	info, err := c.root.Stat(at)
	return err == nil && b.opts.Now().Sub(info.ModTime) > staleAfter
}

// move renames an entry. It copies only if that is allowed.
func (c *can) move(src *rootfs.Root, from rootfs.Path, dst *rootfs.Root, to rootfs.Path) error {
	if src == dst {
		return src.Rename(from, to)
	}
	err := src.RenameInto(from, dst, to)
	if c.mayCopy && isOtherDevice(err) {
		err = src.RenameTo(from, dst, to)
	}
	return err
}

// candidate returns the n-th name to try: "W.md", "W 1.md", "W 2.md". On macOS, like the
// Finder: "W.md", "W 15.04.05.md", "W 15.04.05 2.md". Names are short enough for the
// suffix of a record.
func (c *can) candidate(base string, n int, now time.Time) string {
	if c.recycled {
		return recycledName(base, rand.IntN)
	}
	ext := path.Ext(base)
	stem := strings.TrimSuffix(base, ext)
	if stem == "" || len(ext) > 32 {
		stem, ext = base, ""
	}
	tail := ext
	switch {
	case n > 1 && c.plain:
		tail = now.Local().Format(" 15.04.05 ") + strconv.Itoa(n) + ext
	case n > 0 && c.plain:
		tail = now.Local().Format(" 15.04.05") + ext
	case n > 0:
		tail = " " + strconv.Itoa(n) + ext
	}
	limit := 255
	if !c.hashed && !c.plain {
		limit -= len(infoSuffix)
	}
	if len(stem)+len(tail) > limit {
		stem = stem[:limit-len(tail)]
		for len(stem) > 0 && !utf8.ValidString(stem) && utf8.ValidString(base) {
			stem = stem[:len(stem)-1]
		}
	}
	return stem + tail
}

// recorded returns the path to write into the record of p.
func (b *Bin) recorded(c *can, p rootfs.Path) string {
	if c.hashed {
		return p.String()
	}
	abs := path.Join(filepath.ToSlash(b.ws.RealDir()), p.String())
	if c.base == "" {
		return abs
	}
	if rel, ok := strings.CutPrefix(abs, strings.TrimSuffix(c.base, "/")+"/"); ok {
		return rel
	}
	return abs
}

// original converts a path from a record to the form of Item.Original.
func (b *Bin) original(c *can, recorded string) string {
	if c.hashed || path.IsAbs(recorded) || c.base == "" {
		return recorded
	}
	return path.Join(c.base, recorded)
}

// locate converts an original path to a path in the workspace, if it is inside.
func (b *Bin) locate(c *can, original string) (rootfs.Path, bool) {
	rel, ok := original, c.hashed
	if !c.hashed {
		for _, root := range [...]string{b.ws.RealDir(), b.ws.Dir()} {
			prefix := strings.TrimSuffix(filepath.ToSlash(root), "/") + "/"
			if len(original) > len(prefix) && (original[:len(prefix)] == prefix || c.recycled && strings.EqualFold(original[:len(prefix)], prefix)) {
				rel, ok = original[len(prefix):], true
				break
			}
		}
	}
	if !ok || rel == "" || rel == "." {
		return rootfs.Path{}, false
	}
	p, err := b.ws.Known(rel)
	return p, err == nil && !p.IsRoot()
}

// item describes the item called name.
func (c *can) item(b *Bin, name string) (Item, error) {
	item := Item{ID: c.shown + "/" + name, Name: strings.Clone(name)}
	at, err := c.file(name)
	if err == nil {
		item.Info, err = c.root.Stat(at)
		item.identity = c.root.Identity(item.Info)
	}
	if errors.Is(err, fault.NotFound) {
		err = ErrNotFound
	}
	if err != nil || c.plain {
		return item, err
	}
	rec, err := c.readRecord(name)
	if errors.Is(err, fault.NotFound) {
		// Items deleted by other programs have no original path.
		item.Inside = false
		return item, nil
	}
	if err != nil {
		return item, err
	}
	item.Deleted, item.Original = rec.deleted, b.original(c, rec.path)
	item.Path, item.Inside = b.locate(c, item.Original)
	return item, nil
}

func (c *can) readRecord(name string) (record, error) {
	at, err := c.record(name)
	if err != nil {
		return record{}, err
	}
	data, _, _, err := c.root.ReadFile(at, maxInfo)
	if err != nil {
		return record{}, err
	}
	parse := parseRecord
	if c.recycled {
		parse = parseRecycled
	}
	rec, err := parse(data)
	if err != nil {
		return record{}, fmt.Errorf("record of %s: %w", fault.Printable(name), err)
	}
	return rec, nil
}

// list describes everything in the can.
func (c *can) list(b *Bin) (items []Item, skipped []error) {
	entries, err := c.root.List(c.files)
	if err != nil {
		skipped = append(skipped, err)
	}
	for _, e := range entries {
		if rootfs.IsTemp(e.Name) || c.hashed && e.Name == c.info.Base() || c.plain && e.Name == ".DS_Store" ||
			c.recycled && !strings.HasPrefix(e.Name, recycledThing) {
			continue
		}
		item, err := c.item(b, e.Name)
		if errors.Is(err, ErrNotFound) {
			continue // removed meanwhile
		}
		if err != nil {
			skipped = append(skipped, err)
			continue
		}
		items = append(items, item)
	}
	return items, skipped
}

// restore moves the item called name to a path in the workspace.
func (c *can) restore(b *Bin, name string, to rootfs.Path) error {
	from, err := c.file(name)
	if err != nil {
		return err
	}
	if _, err := c.root.Stat(from); errors.Is(err, fault.NotFound) {
		return ErrNotFound
	} else if err != nil {
		return err
	}
	made, err := b.ws.MkdirAll(to.Dir())
	if err == nil {
		err = c.move(c.root, from, b.ws, to)
		if isOtherDevice(err) { // the item was copied into the trash
			err = c.root.RenameTo(from, b.ws, to)
		}
	}
	if err != nil {
		if _, gone := c.root.Stat(from); errors.Is(gone, fault.NotFound) {
			// The item was moved, though maybe not durably. Its record still exists, so
			// move it back to the same name.
			err = errors.Join(err, c.move(b.ws, to, c.root, from))
		}
		for i := len(made) - 1; i >= 0; i-- {
			b.ws.Remove(made[i]) // ignore errors: empty folders are harmless
		}
		return err
	}
	// The item is restored. If its record remains, Clean removes it.
	c.forget(name)
	return nil
}

// forget removes the record of an item that has left the trash.
func (c *can) forget(name string) error {
	if c.plain {
		return nil
	}
	at, err := c.record(name)
	if err == nil {
		err = c.root.Remove(at)
	}
	if errors.Is(err, fault.NotFound) {
		return nil
	}
	return err
}

func (c *can) delete(name string) error {
	at, err := c.file(name)
	if err == nil {
		err = c.root.RemoveAll(at)
	}
	if errors.Is(err, fault.NotFound) {
		return ErrNotFound
	}
	if err != nil {
		return err
	}
	return c.forget(name)
}
