package recorder

import "time"

// A file that some program rewrites all the time would fill the log. After maxVersions
// versions within perVersion, the next is recorded perVersion after the last, or when
// something asks for the log; those in between are counted.
const (
	maxVersions = 10
	perVersion  = 10 * time.Minute
)

// pace is how often a file was recorded lately.
type pace struct {
	first, last time.Time
	versions    int
	waited      bool // since the last
}

// paces are the files that were recorded lately, and those that wait.
type paces struct {
	of   map[string]*pace
	held map[string]bool
	now  func() time.Time // for tests
}

// recorded notes that a version of a file was recorded.
func (ps *paces) recorded(path string) {
	now := ps.now()
	p := ps.of[path]
	if p == nil || now.Sub(p.last) >= perVersion && !p.waited || p.versions < maxVersions && now.Sub(p.first) >= perVersion {
		if len(ps.of) >= maxFiles {
			clear(ps.of) // it starts over: more versions are kept for a while
		}
		p = &pace{first: now}
		ps.of[path] = p
	}
	p.versions++
	p.last, p.waited = now, false
}

// hold takes out of the files those that have to wait, and returns how many.
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

// due returns and forgets the waiting files whose time has come, or all of them.
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
