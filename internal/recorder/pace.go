package recorder

import "time"

// A file that a program rewrites constantly would fill the log. After maxVersions
// versions within perVersion, the next version is recorded perVersion after the last one,
// or when something asks for the log. The versions in between are only counted.
const (
	maxVersions = 10
	perVersion  = 10 * time.Minute
)

// pace counts the recently recorded versions of a file.
type pace struct {
	first, last time.Time
	versions    int
	waited      bool // a version has waited since the last one was recorded
}

// paces has the files that were recorded recently, and those that wait.
type paces struct {
	of   map[string]*pace
	held map[string]bool
	now  func() time.Time // for tests
}

// recorded counts a recorded version of a file.
func (ps *paces) recorded(path string) {
	now := ps.now()
	p := ps.of[path]
	if p == nil || now.Sub(p.last) >= perVersion && !p.waited || p.versions < maxVersions && now.Sub(p.first) >= perVersion {
		if len(ps.of) >= maxFiles {
			clear(ps.of) // forget all counts: more versions are recorded for a while
		}
		p = &pace{first: now}
		ps.of[path] = p
	}
	p.versions++
	p.last, p.waited = now, false
}

// hold removes the files that must wait, and returns their number and the others.
func (ps *paces) hold(files []string) (rest []string, waiting int) {
	now := ps.now()
	for _, path := range files {
		if p := ps.of[path]; p != nil && p.versions >= maxVersions && now.Sub(p.last) < perVersion {
			ps.held[path], p.waited = true, true
			waiting++
			continue
		}
		rest = append(rest, path)
	}
	return rest, waiting
}

// due removes and returns the waiting files that may now be recorded, or all if all is
// set.
func (ps *paces) due(all bool) (files []string) {
	now := ps.now()
	for path := range ps.held {
		if p := ps.of[path]; all || p == nil || now.Sub(p.last) >= perVersion {
			files = append(files, path)
			delete(ps.held, path)
		}
	}
	return files
}
