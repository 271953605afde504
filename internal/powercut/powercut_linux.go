package powercut

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"quarry/internal/rootfs"
	"quarry/internal/rootfs/layer"
)

// node is a file, folder or symlink that exists or existed.
type node struct {
	id     int
	ino    uint64
	typ    fs.FileMode // the type bits
	mode   fs.FileMode
	target string
	data   []byte         // content at the start of the recording
	time   time.Time      // modification time of data
	names  map[string]int // entries of a folder at the start of the recording
}

// event is a change of a node or a sync.
type event struct {
	layer.Event
	file, dir, to int // ids of nodes; -1 if unused
	entry         int // the node that is renamed, linked or unlinked
	other         int // the node that it is exchanged with
}

// Disk records the operations on some folders through a rootfs.Layer. Pass the result of Layer to
// every Root that is opened in those folders.
type Disk struct {
	mu     sync.Mutex
	nodes  []*node
	byIno  map[uint64]int
	tops   []string
	top    []int // nodes of the recorded folders
	events []event
	err    error
	live   []map[string]int // current entries of each folder, by node
}

// New starts recording the folders dirs, which must be on one file system. Their initial content
// counts as synced.
func New(dirs ...string) (*Disk, error) {
	d := &Disk{byIno: map[uint64]int{}}
	for _, dir := range dirs {
		info, err := os.Lstat(dir)
		if err != nil {
			return nil, err
		}
		n, err := d.take(dir, info)
		if err != nil {
			return nil, err
		}
		d.tops, d.top = append(d.tops, dir), append(d.top, n)
	}
	return d, nil
}

func inoOf(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Ino
	}
	return 0
}

// take records the initial state of path and everything below it.
func (d *Disk) take(path string, info fs.FileInfo) (int, error) {
	if id, ok := d.byIno[inoOf(info)]; ok {
		return id, nil // a further hard link
	}
	n := d.add(inoOf(info), info.Mode())
	switch info.Mode().Type() {
	case fs.ModeDir:
		entries, err := os.ReadDir(path)
		if err != nil {
			return 0, err
		}
		for _, e := range entries {
			inner, err := e.Info()
			if err != nil {
				return 0, err
			}
			if n.names[e.Name()], err = d.take(filepath.Join(path, e.Name()), inner); err != nil {
				return 0, err
			}
			d.live[n.id][e.Name()] = n.names[e.Name()]
		}
	case fs.ModeSymlink:
		var err error
		if n.target, err = os.Readlink(path); err != nil {
			return 0, err
		}
	default:
		var err error
		if n.data, err = os.ReadFile(path); err != nil {
			return 0, err
		}
		n.time = info.ModTime()
	}
	return n.id, nil
}

func (d *Disk) add(ino uint64, mode fs.FileMode) *node {
	n := &node{id: len(d.nodes), ino: ino, typ: mode.Type(), mode: mode &^ fs.ModeType, names: map[string]int{}}
	d.nodes, d.live = append(d.nodes, n), append(d.live, map[string]int{})
	d.byIno[ino] = n.id
	return n
}

// Layer returns the layer to use for roots in the folders. It gives temporary files another boot
// id, so that they appear to be from before a reboot.
func (d *Disk) Layer() *rootfs.Layer { return &rootfs.Layer{After: d.record, Boot: "0badb007"} }

// Now returns the number of events so far, which can be used as a moment for Cut.
func (d *Disk) Now() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.events)
}

// Err returns an error if the program made a call that can't be recorded; the recording is then
// invalid.
func (d *Disk) Err() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err
}

func (d *Disk) record(x layer.Event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	e := event{Event: x, file: -1, dir: -1, to: -1, entry: -1, other: -1}
	e.Data = slices.Clone(x.Data)
	switch x.Call {
	case "create":
		e.file = d.add(x.File, x.Mode.Perm()).id
	case "mkdir":
		e.file = d.add(x.File, x.Mode|fs.ModeDir).id
	case "symlink":
		n := d.add(x.File, fs.ModeSymlink)
		n.target, e.file = x.Target, n.id
	case "write", "truncate", "chmod", "fsync", "fsyncdir":
		e.file = d.known(x.Call, x.File)
	}
	if x.Name != "" {
		e.dir = d.known(x.Call, x.Dir)
	}
	if x.ToName != "" {
		e.to = d.known(x.Call, x.ToDir)
	}
	if d.err == nil {
		d.follow(&e)
		d.events = append(d.events, e)
	}
}

func (d *Disk) known(call string, ino uint64) int {
	id, ok := d.byIno[ino]
	if !ok && d.err == nil {
		d.err = fmt.Errorf("powercut: %s of inode %d, which is not on the disk", call, ino)
	}
	return id
}

// follow updates the current entries of folders, by which nodes are identified.
func (d *Disk) follow(e *event) {
	if e.dir < 0 {
		return
	}
	at := d.live[e.dir]
	look := func(names map[string]int, name string) int {
		id, ok := names[name]
		if !ok {
			d.err = fmt.Errorf("powercut: %s of %q, which is not there", e.Call, name)
		}
		return id
	}
	switch e.Call {
	case "create", "mkdir", "symlink":
		e.entry = e.file
	default:
		e.entry = look(at, e.Name)
	}
	if e.Call == "exchange" {
		e.other = look(d.live[e.to], e.ToName)
	}
	for _, id := range [...]int{e.dir, e.to} {
		if id >= 0 {
			e.apply(id, d.live[id])
		}
	}
}

// apply applies the event to names, the entries of folder id.
func (e *event) apply(id int, names map[string]int) {
	switch e.Call {
	case "create", "mkdir", "symlink":
		names[e.Name] = e.entry
	case "unlink":
		delete(names, e.Name)
	case "exchange":
		names[e.Name], names[e.ToName] = e.other, e.entry
	case "link":
		if id == e.to {
			names[e.ToName] = e.entry
		}
	case "rename":
		if id == e.dir {
			delete(names, e.Name)
		}
		if id == e.to {
			names[e.ToName] = e.entry
		}
	}
}

// String describes an event, for the output of failing tests.
func (e event) String() string {
	s := e.Call
	if e.Name != "" {
		s += " " + e.Name
	}
	if e.ToName != "" {
		s += " to " + e.ToName
	}
	switch e.Call {
	case "write":
		s += fmt.Sprintf(" %d bytes at %d of node %d", len(e.Data), e.Off, e.file)
	case "fsync", "fsyncdir", "truncate", "chmod":
		s += fmt.Sprintf(" node %d", e.file)
	}
	return s
}

// Story lists the events between two moments.
func (d *Disk) Story(from, to int) string {
	var b strings.Builder
	for i, e := range d.events[from:to] {
		fmt.Fprintf(&b, "%3d %s\n", from+i, e)
	}
	return b.String()
}
