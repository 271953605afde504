//go:build linux && !portable

package watch

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// changer makes random changes in dir/root, with dir/out outside. Each change returns the
// places it touched, relative to the root; only their trees need to be compared.
type changer struct {
	dir string
	rnd *rand.Rand
	n   int
	fd  *os.File // a file kept open across changes
	in  uint64   // the inode of the folder in which it was opened

	// watched is set if every folder is watched: then a write is reported even if its name
	// is gone, with the limits in the package comment.
	watched bool
}

// serveChanges is the child: it makes one change per line read from stdin, and answers with the changed
// paths.
func serveChanges(dir string, seed uint64, watched bool, in io.Reader, out io.Writer) error {
	c := &changer{dir: dir, rnd: rand.New(rand.NewPCG(seed, 1)), watched: watched}
	kinds := c.kinds()
	asks := bufio.NewScanner(in)
	for asks.Scan() {
		kind := kinds[c.rnd.IntN(len(kinds))]
		if kind.heavy && c.rnd.IntN(8) > 0 {
			kind = kinds[c.rnd.IntN(21)]
		}
		c.n++
		touched := kind.do()
		line := kind.name
		for _, p := range touched {
			line += "\t" + strconv.Quote(p)
		}
		if _, err := io.WriteString(out, line+"\n"); err != nil {
			return err
		}
	}
	return asks.Err()
}

type changeKind struct {
	name  string
	do    func() []string
	heavy bool // many changes at once, so it is chosen less often
}

func (c *changer) kinds() []changeKind {
	return []changeKind{
		{"write", c.write, false}, {"append", c.appendTo, false}, {"truncate", c.truncate, false}, {"rewrite, kept mtime", c.keepMtime, false},
		{"atomic save", c.save, false}, {"rename over", c.renameOver, false}, {"exchange files", c.exchange, false}, {"delete", c.remove, false},
		{"delete and recreate", c.recreate, false}, {"chmod", c.chmod, false}, {"times", c.times, false}, {"xattr", c.xattr, false},
		{"hard link", c.link, false}, {"symlink", c.symlink, false}, {"map", c.memoryMap, false}, {"copy range", c.copyRange, false}, {"allocate", c.allocate, false},
		{"kept handle", c.keptHandle, false}, {"second name for a moment", c.passingLink, false}, {"move file in", c.fileIn, false}, {"move file out", c.fileOut, false},
		{"mkdir -p", c.deep, false}, {"chmod folder", c.chmodDir, false}, {"move folder", c.moveDir, false}, {"swap folders", c.swapDirs, false},
		{"move folder out", c.dirOut, false}, {"move folder in", c.dirIn, false}, {"delete folder and recreate", c.recreateDir, false},
		{"folder becomes file", c.dirToFile, false}, {"folder becomes symlink", c.dirToLink, false}, {"folder over empty folder", c.dirOverEmpty, false},
		{"checkout", c.checkout, true}, {"threads", c.threads, true}, {"moved while written", c.moveAndWrite, true},
	}
}

func (c *changer) root(p string) string { return filepath.Join(c.dir, "root", p) }
func (c *changer) out(p string) string  { return filepath.Join(c.dir, "out", p) }
func (c *changer) text() []byte {
	return fmt.Appendf(nil, "%d %s", c.n, strings.Repeat("x", c.rnd.IntN(300)))
}

// folder returns one of 40 folders in three levels, which may or may not exist; folders move
// among these names all the time.
func (c *changer) folder() string {
	p := "d" + strconv.Itoa(c.rnd.IntN(4))
	for range c.rnd.IntN(3) {
		p += "/e" + strconv.Itoa(c.rnd.IntN(3))
	}
	return p
}

func (c *changer) existing() string {
	p := c.folder()
	os.MkdirAll(c.root(p), 0o755)
	if st, err := os.Lstat(c.root(p)); err != nil || !st.IsDir() { // a file or a symlink on the way
		top, _, _ := strings.Cut(p, "/")
		os.RemoveAll(c.root(top))
		os.MkdirAll(c.root(p), 0o755)
	}
	return p
}

func (c *changer) name() string { return "f" + strconv.Itoa(c.rnd.IntN(8)) }

// file returns an existing regular file. It may make the file and its folders.
func (c *changer) file() string {
	p := c.existing() + "/" + c.name()
	if st, err := os.Lstat(c.root(p)); err != nil || !st.Mode().IsRegular() {
		os.RemoveAll(c.root(p))
		os.WriteFile(c.root(p), c.text(), 0o644)
	}
	return p
}

// tops returns the top folders of paths, in which existing and file may have made or
// deleted entries.
func tops(paths ...string) []string {
	for i, p := range paths {
		paths[i], _, _ = strings.Cut(p, "/")
	}
	return paths
}

func (c *changer) write() []string {
	p := c.file()
	os.WriteFile(c.root(p), c.text(), 0o644)
	return tops(p)
}

func (c *changer) appendTo() []string {
	p := c.file()
	if f, err := os.OpenFile(c.root(p), os.O_APPEND|os.O_WRONLY, 0); err == nil {
		f.Write(c.text())
		f.Close()
	}
	return tops(p)
}

func (c *changer) truncate() []string {
	p := c.file()
	os.Truncate(c.root(p), int64(c.rnd.IntN(50)))
	return tops(p)
}

// keepMtime changes a byte and restores the mtime: only ctime changes.
func (c *changer) keepMtime() []string {
	p := c.file()
	st, err := os.Stat(c.root(p))
	if err != nil {
		return nil
	}
	if f, err := os.OpenFile(c.root(p), os.O_WRONLY, 0); err == nil {
		f.WriteAt([]byte{byte('a' + c.n%26)}, 0)
		f.Close()
	}
	os.Chtimes(c.root(p), st.ModTime(), st.ModTime())
	return tops(p)
}

func (c *changer) save() []string {
	p := c.file()
	tmp := c.root(p + ".tmp")
	os.WriteFile(tmp, c.text(), 0o644)
	os.Rename(tmp, c.root(p))
	return tops(p)
}

func (c *changer) renameOver() []string {
	p, q := c.file(), c.file()
	os.Rename(c.root(p), c.root(q))
	return tops(p, q)
}

func (c *changer) exchange() []string {
	p, q := c.file(), c.file()
	unix.Renameat2(unix.AT_FDCWD, c.root(p), unix.AT_FDCWD, c.root(q), unix.RENAME_EXCHANGE)
	return tops(p, q)
}

func (c *changer) remove() []string {
	p := c.file()
	os.Remove(c.root(p))
	return tops(p)
}

func (c *changer) recreate() []string {
	p := c.file()
	os.Remove(c.root(p))
	os.WriteFile(c.root(p), c.text(), 0o600)
	return tops(p)
}

func (c *changer) chmod() []string {
	p := c.file()
	os.Chmod(c.root(p), os.FileMode(0o600+c.rnd.IntN(64)))
	return tops(p)
}

func (c *changer) times() []string {
	p := c.file()
	t := time.Unix(int64(c.rnd.IntN(1e9)), 0)
	if c.rnd.IntN(2) == 0 {
		os.Chtimes(c.root(p), time.Time{}, t) // mtime only
	} else {
		os.Chtimes(c.root(p), t, t)
	}
	return tops(p)
}

func (c *changer) xattr() []string {
	p := c.file()
	unix.Setxattr(c.root(p), "user.x", c.text()[:3], 0)
	return tops(p)
}

// link makes a second name and writes through one of them.
func (c *changer) link() []string {
	p, q := c.file(), c.existing()+"/"+c.name()
	os.RemoveAll(c.root(q))
	os.Link(c.root(p), c.root(q))
	if c.rnd.IntN(2) == 0 {
		os.WriteFile(c.root(q), c.text(), 0o644)
	}
	return tops(p, q)
}

func (c *changer) symlink() []string {
	p := c.existing() + "/" + c.name()
	os.RemoveAll(c.root(p))
	os.Symlink([]string{"nowhere", "..", "f1", c.out("")}[c.rnd.IntN(4)], c.root(p))
	return tops(p)
}

// memoryMap writes through a memory map. The write must be reported once the map is
// unmapped.
func (c *changer) memoryMap() []string {
	p := c.file()
	f, err := os.OpenFile(c.root(p), os.O_RDWR, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	f.Truncate(4096)
	m, err := syscall.Mmap(int(f.Fd()), 0, 4096, syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err == nil {
		copy(m, c.text())
		syscall.Munmap(m)
	}
	return tops(p)
}

func (c *changer) copyRange() []string {
	p, q := c.file(), c.file()
	from, err1 := os.Open(c.root(p))
	to, err2 := os.OpenFile(c.root(q), os.O_WRONLY, 0)
	if err1 == nil && err2 == nil {
		unix.CopyFileRange(int(from.Fd()), nil, int(to.Fd()), nil, 100, 0)
	}
	from.Close()
	to.Close()
	return tops(p, q)
}

func (c *changer) allocate() []string {
	p := c.file()
	if f, err := os.OpenFile(c.root(p), os.O_WRONLY, 0); err == nil {
		unix.Fallocate(int(f.Fd()), 0, 0, int64(500+c.rnd.IntN(500)))
		f.Close()
	}
	return tops(p)
}

// keptHandle writes through a handle opened some changes ago. The file or a parent folder
// may have been moved or deleted since.
func (c *changer) keptHandle() []string {
	all := []string{"d0", "d1", "d2", "d3"} // the file may be in any of them
	if c.fd != nil {
		if !c.untold() {
			c.fd.Write(c.text())
			if c.rnd.IntN(3) > 0 {
				return all
			}
		}
		c.fd.Close()
	}
	p := c.file()
	c.fd, _ = os.OpenFile(c.root(p), os.O_APPEND|os.O_WRONLY, 0)
	c.in = inodeOf(filepath.Dir(c.root(p)))
	return all
}

// untold reports whether no event can identify the file changed by a write through the kept
// handle: it has another name, and the one it was opened by belongs to another file, or was
// deleted together with its folder.
func (c *changer) untold() bool {
	var st syscall.Stat_t
	if syscall.Fstat(int(c.fd.Fd()), &st) != nil || st.Nlink == 0 {
		return false
	}
	name, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", c.fd.Fd()))
	name, gone := strings.CutSuffix(name, " (deleted)")
	if err != nil || !gone {
		return err != nil
	}
	return !c.watched || inodeOf(name) != 0 || inodeOf(filepath.Dir(name)) != c.in
}

func inodeOf(path string) uint64 {
	var st syscall.Stat_t
	if syscall.Lstat(path, &st) != nil {
		return 0
	}
	return st.Ino
}

// passingLink writes through a second name and removes it again, in a folder that already
// existed.
func (c *changer) passingLink() []string {
	folder := c.folder()
	if st, err := os.Lstat(c.root(folder)); err != nil || !st.IsDir() || !c.watched {
		return c.appendTo()
	}
	p, q := c.file(), folder+"/l"
	if os.Link(c.root(p), c.root(q)) == nil {
		os.WriteFile(c.root(q), c.text(), 0o644)
		os.Remove(c.root(q))
	}
	return tops(p, q)
}

func (c *changer) fileIn() []string {
	p, name := c.existing(), c.name()
	os.WriteFile(c.out("f"), c.text(), 0o644)
	os.RemoveAll(c.root(p + "/" + name))
	os.Rename(c.out("f"), c.root(p+"/"+name))
	return tops(p)
}

func (c *changer) fileOut() []string {
	p := c.file()
	os.Rename(c.root(p), c.out("g"))
	return tops(p)
}

// deep makes folders and files faster than watches can be added.
func (c *changer) deep() []string {
	p := c.existing()
	q := p
	for range 1 + c.rnd.IntN(6) {
		q += "/n" + strconv.Itoa(c.rnd.IntN(2))
		if os.Mkdir(c.root(q), 0o755) != nil && c.rnd.IntN(2) == 0 {
			os.RemoveAll(c.root(q))
			os.Mkdir(c.root(q), 0o755)
		}
		os.WriteFile(c.root(q+"/"+c.name()), c.text(), 0o644)
	}
	return tops(p)
}

func (c *changer) chmodDir() []string {
	p := c.existing()
	os.Chmod(c.root(p), os.FileMode(0o700+c.rnd.IntN(64)))
	return tops(p)
}

func (c *changer) moveDir() []string {
	p, q := c.existing(), c.folder()
	os.RemoveAll(c.root(q))
	os.Rename(c.root(p), c.root(q))
	return tops(p, q)
}

func (c *changer) swapDirs() []string {
	p, q := c.existing(), c.existing()
	if c.rnd.IntN(2) == 0 {
		unix.Renameat2(unix.AT_FDCWD, c.root(p), unix.AT_FDCWD, c.root(q), unix.RENAME_EXCHANGE)
	} else if os.Rename(c.root(p), c.root("swap")) == nil {
		os.Rename(c.root(q), c.root(p))
		os.Rename(c.root("swap"), c.root(q))
	}
	return append(tops(p, q), "swap")
}

func (c *changer) dirOut() []string {
	p := c.existing()
	dst := c.out("o" + strconv.Itoa(c.rnd.IntN(3)))
	os.RemoveAll(dst)
	os.Rename(c.root(p), dst)
	if c.rnd.IntN(2) == 0 { // and write outside
		os.WriteFile(dst+"/f1", c.text(), 0o644)
	}
	return tops(p)
}

func (c *changer) dirIn() []string {
	src, p := c.out("o"+strconv.Itoa(c.rnd.IntN(3))), c.folder()
	os.MkdirAll(src+"/e1/e2", 0o755)
	os.WriteFile(src+"/e1/f2", c.text(), 0o644)
	os.RemoveAll(c.root(p))
	os.Rename(src, c.root(p))
	return tops(p)
}

func (c *changer) recreateDir() []string {
	p := c.existing()
	os.RemoveAll(c.root(p))
	os.Mkdir(c.root(p), 0o755)
	os.WriteFile(c.root(p+"/f1"), c.text(), 0o644)
	return tops(p)
}

func (c *changer) dirToFile() []string {
	p := c.existing()
	os.RemoveAll(c.root(p))
	os.WriteFile(c.root(p), c.text(), 0o644)
	return tops(p)
}

func (c *changer) dirToLink() []string {
	p, q := c.existing(), c.existing()
	os.RemoveAll(c.root(p))
	os.Symlink(c.root(q), c.root(p))
	return tops(p, q)
}

func (c *changer) dirOverEmpty() []string {
	p, q := c.existing(), c.existing()
	os.RemoveAll(c.root(q))
	os.Mkdir(c.root(q), 0o755)
	os.Rename(c.root(p), c.root(q))
	return tops(p, q)
}

// checkout replaces many files and some folders, as git does: unlink, create.
func (c *changer) checkout() []string {
	for range 10 + c.rnd.IntN(30) {
		p := c.file()
		os.Remove(c.root(p))
		if c.rnd.IntN(4) > 0 {
			os.WriteFile(c.root(p), c.text(), 0o644)
		} else {
			os.Remove(filepath.Dir(c.root(p))) // if empty
		}
	}
	return []string{"d0", "d1", "d2", "d3"}
}

// threads makes changes of many kinds concurrently, but no links: a second name could
// appear and disappear unnoticed in a new folder.
func (c *changer) threads() []string {
	var wg sync.WaitGroup
	for i := range 6 {
		sub := &changer{dir: c.dir, n: c.n, rnd: rand.New(rand.NewPCG(c.rnd.Uint64(), uint64(i)))}
		wg.Go(func() {
			some := []func() []string{sub.write, sub.save, sub.deep, sub.moveDir, sub.recreateDir, sub.swapDirs,
				sub.remove, sub.dirOut, sub.dirIn, sub.dirToFile, sub.chmodDir}
			for range 4 {
				some[sub.rnd.IntN(len(some))]()
			}
		})
	}
	wg.Wait()
	return []string{"d0", "d1", "d2", "d3", "swap"}
}

// moveAndWrite renames a folder again and again, writing in it under each name.
func (c *changer) moveAndWrite() []string {
	p := c.existing()
	top, _, _ := strings.Cut(p, "/")
	at := c.root(p)
	for i := range 5 {
		next := c.root(fmt.Sprintf("%s/m%d", top, i))
		if strings.HasPrefix(next, at+"/") {
			break
		}
		os.RemoveAll(next)
		if os.Rename(at, next) != nil {
			break
		}
		at = next
		os.MkdirAll(at+"/e"+strconv.Itoa(i), 0o755)
		os.WriteFile(at+"/e"+strconv.Itoa(i)+"/f1", c.text(), 0o644)
	}
	return []string{top}
}
