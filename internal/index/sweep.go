package index

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"quarry/fault"
	"quarry/internal/rootfs"
	"quarry/internal/walk"
)

// Sweep compares the index with the files in a folder by their stamps, and marks all
// differences. It is needed after events were lost, for file systems without events, and
// for changes made while no process was watching. The zero Path is the whole tree.
func (ix *Index) Sweep(ctx context.Context, dir rootfs.Path) error {
	ix.freshening.Lock()
	defer ix.freshening.Unlock()
	return ix.sweep(ctx, []string{plain(dir)})
}

// sweep compares the index with folders. ix.freshening must be held.
func (ix *Index) sweep(ctx context.Context, dirs []string) error {
	dirs = outermost(dirs)
	if len(dirs) > maxGlobs {
		dirs = []string{""}
	}
	var globs []string
	if dirs[0] != "" {
		for _, d := range dirs {
			globs = append(globs, "/"+escape(d)+"/**")
		}
	}
	opts, err := ix.walkOptions(globs)
	if err != nil {
		return err
	}
	opts.MaxIgnored = ix.ignoredLimit(dirs[0] == "")
	s := &sweeping{ix: ix, dirs: dirs, ignored: map[string]bool{}}
	if err := s.begin(); err != nil {
		return err
	}
	defer s.end()
	if err := s.run(ctx, opts); err != nil {
		return err
	}
	ix.mu.Lock()
	defer ix.mu.Unlock()
	ix.sweeps++
	if dirs[0] == "" {
		ix.swept, ix.sweptAt = !s.cut, time.Now()
	}
	return nil
}

// outermost drops folders that are inside others, and sorts the rest in the order of their files.
func outermost(dirs []string) []string {
	slices.SortFunc(dirs, func(a, b string) int { return strings.Compare(below(a), below(b)) })
	kept := dirs[:0]
	for _, d := range dirs {
		if len(kept) == 0 || !strings.HasPrefix(below(d), below(kept[len(kept)-1])) {
			kept = append(kept, d)
		}
	}
	return kept
}

func below(dir string) string {
	if dir == "" {
		return ""
	}
	return dir + "/"
}

// place identifies a document.
type place struct {
	in *held
	id int
	at string
}

// sweeping merges two sorted sequences: the files listed by a walk, and the documents of
// all segments.
type sweeping struct {
	ix   *Index
	dirs []string
	snap *snapshot
	docs *merge // documents not yet compared

	added   []found         // files new to the index
	stale   []found         // files that have changed
	ignored map[string]bool // listed files that the rules exclude
	dead    []place         // documents that are no longer listed, or have a newer version in a later segment
	dotted  map[string]bool // listed dot files, which are judged later; the value is whether the document has the flag Hidden
	compare bool
	linkMu  sync.Mutex
	linked  inodes      // guarded by linkMu
	skipped []walk.Skip // entries that the walk could not read
	cut     bool        // there are more than the walk lists
}

func (s *sweeping) begin() error {
	ix := s.ix
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if ix.closed {
		return rootfs.ErrClosed
	}
	// Include dirty documents, so the masks contain only dead ones.
	s.snap = &snapshot{ix: ix}
	for _, h := range ix.segs {
		h.seg.retain()
		s.snap.views = append(s.snap.views, &view{seg: h.seg, held: h, mask: append(bitset(nil), h.dead...)})
	}
	s.snap.refs.Store(1)
	s.compare = len(ix.segs) > 0
	s.docs = s.snap.documents(s.dirs)
	s.dotted, s.linked = map[string]bool{}, inodes{}
	return nil
}

func (s *sweeping) end() { s.snap.release() }

func (s *sweeping) run(ctx context.Context, opts walk.Options) error {
	work := func(v *walk.Visit, e *rootfs.Entry) (listing, bool) {
		if !s.compare {
			return listing{ignored: e.Ignored}, true
		}
		info, err := v.Dir.Stat(e.Name)
		if err != nil || info.Type != rootfs.TypeFile {
			// The file can't be examined now, so mark it to be checked later.
			return listing{ignored: e.Ignored}, rootfs.KindOf(err) != fault.NotFound
		}
		if info.Nlink > 1 {
			s.linkMu.Lock()
			s.linked[info.Ino] = true
			s.linkMu.Unlock()
		}
		return listing{stampOf(&info), e.Ignored}, true
	}
	report, err := walk.Each(ctx, s.ix.root, &opts, work, s.file)
	if err != nil {
		return err
	}
	s.skipped = report.Skipped
	s.cut = len(report.Skipped) < report.Count(walk.Unreadable)+report.Count(walk.Vanished)
	for s.docs.next() {
		s.dead = append(s.dead, s.docs.place())
	}
	if err := s.docs.err; err != nil {
		s.ix.dropDamaged(s.snap)
		return err
	}
	var shown map[string]bool
	if len(s.dotted) > 0 {
		if shown, err = s.ix.shown(ctx, opts); err != nil {
			return err
		}
	}
	s.finish(shown, report.Marked, opts.MaxIgnored)
	return nil
}

// file compares a listed file with the documents up to its path.
func (s *sweeping) file(path string, l listing) error {
	if l.ignored {
		s.ignored[path] = true
	}
	for {
		if !s.docs.peek() {
			if s.docs.err != nil {
				s.ix.dropDamaged(s.snap)
				return s.docs.err
			}
			break
		}
		d := &s.docs.doc
		c := strings.Compare(string(d.path), path)
		if c > 0 {
			break
		}
		s.docs.skip()
		if c == 0 {
			if d.Stamp != l.stamp || d.Flags&racyFlag != 0 || d.Flags&Ignored != 0 != l.ignored {
				s.stale = append(s.stale, found{path, l.ignored})
			}
			if !l.ignored && isDotted(path) {
				s.dotted[path] = d.Flags&Hidden != 0
			}
			return nil
		}
		s.dead = append(s.dead, s.docs.place())
	}
	s.added = append(s.added, found{path, l.ignored})
	if !l.ignored && isDotted(path) {
		s.dotted[path] = false
	}
	return nil
}

// finish marks the differences that were found.
func (s *sweeping) finish(shown map[string]bool, marked, limit int) {
	ix := s.ix
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if few := marked <= limit; !few || ix.tooMany {
		s.flood()
		ix.few = few && limit > 0
	} else if limit > 0 {
		defer s.keepIgnored()
	}
	s.rejudge(shown)
	for _, f := range s.added {
		as := s.as(f.path, f.ignored, shown)
		if c := ix.dirty[f.path]; c == nil || !c.member || c.as != as {
			ix.markListed(f.path, as)
		}
	}
	for _, f := range s.stale {
		ix.markListed(f.path, s.as(f.path, f.ignored, shown))
	}
	for path, was := range s.dotted {
		// Whether a dirty file is shown was determined when it was marked; its old document
		// doesn't count.
		if c := ix.dirty[path]; c != nil && c.member {
			was = c.as&Hidden != 0
		}
		if as := s.as(path, false, shown); as&Hidden != 0 != was {
			ix.markListed(path, as)
		}
	}
	for _, p := range s.dead {
		p.in.kill(p.id)
		ix.forgetSnapshot()
		if c := ix.dirty[p.at]; c != nil && c.in == p.in && c.id == p.id {
			c.in, c.member = nil, false
			ix.suspect(p.at, c) // the file may have been created again
		}
	}
	ix.markLinked(s.linked)
	s.doubt()
	s.remember()
}

// remember records the folders that could not be read. They are swept each time, since
// there may be no event when they become readable. ix.mu must be held.
func (s *sweeping) remember() {
	ix := s.ix
	for path := range ix.unreadable {
		if s.covers(path) {
			delete(ix.unreadable, path)
			ix.forgetSnapshot()
		}
	}
	for _, skip := range s.skipped {
		if skip.Reason == walk.Unreadable {
			ix.unreadable[skip.Path] = skip
			ix.forgetSnapshot()
		}
	}
}

func (s *sweeping) covers(path string) bool { return liesIn(path, s.dirs) }

// liesIn reports whether a path is one of some folders, or inside one.
func liesIn(path string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(d string) bool { return d == path || strings.HasPrefix(path, below(d)) })
}

// doubt marks files to be checked again that belonged to the index but are in no segment
// yet, and were not listed this time. ix.mu must be held.
func (s *sweeping) doubt() {
	listed := map[string]bool{}
	for _, f := range s.added {
		listed[f.path] = true
	}
	for path, c := range s.ix.dirty {
		if c.member && c.in == nil && !listed[path] && s.covers(path) {
			c.member = false
			s.ix.suspect(path, c)
			s.ix.forgetSnapshot()
		}
	}
}

// dropDamaged drops those segments of a snapshot that can't be read.
func (ix *Index) dropDamaged(s *snapshot) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	for _, v := range s.views {
		if err := v.damage.Load(); err != nil {
			ix.damage(v.held, *err)
		}
	}
}
