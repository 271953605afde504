package repos

import (
	"sort"
	"strings"

	"quarry/internal/remote"
)

// Part is repositories that are asked about together, or a checkout.
type Part struct {
	Repos    []*remote.Repo
	Checkout string
	// Inside are parts whose names are below a name of this one, so that in
	// path order their files come between its own. They are checkouts, or are
	// inside of this one.
	Inside []Part
}

// Files is how many the servers have of it.
func (p *Part) Files() (n int) {
	for _, repo := range p.Repos {
		n += repo.Files
	}
	return n
}

// After reports whether all files of the part come after a path.
func (p *Part) After(path string) bool { return path < p.name()+"/" }

func (p *Part) name() string {
	if p.Checkout != "" {
		return p.Checkout
	}
	return p.Repos[0].Name
}

const (
	// Repositories are asked about in parts of so many files, the first one
	// small, so that an answer with few files does not ask for all.
	firstFiles = 4 << 10
	mostFiles  = 200 << 10
)

// Parts divides what lies below a place, in path order.
func (q *Question) Parts(at *Place) []Part { return q.list.parts(at) }

func (l *Listing) parts(at *Place) []Part {
	var list []Part
	if at.Checkout != "" {
		list = append(list, Part{Checkout: at.Checkout})
	} else if at.Repo != nil {
		list = append(list, Part{Repos: []*remote.Repo{at.Repo}})
	}
	below := func(name string) bool { return at.Path == "" || strings.HasPrefix(name, at.Path+"/") }
	for i := range l.Repos {
		if p := &l.Repos[i]; below(p.Name) && !l.isCheckout(p.Name) {
			list = append(list, Part{Repos: []*remote.Repo{p}})
		}
	}
	for _, name := range l.checkouts {
		if below(name) {
			list = append(list, Part{Checkout: name})
		}
	}
	sort.SliceStable(list, func(i, j int) bool { return comparePaths(list[i].name(), list[j].name()) < 0 })
	return joinParts(nestParts(list))
}

// nestParts puts parts below the name of another inside of it. Served
// repositories that nest are one part, since their files are mixed.
func nestParts(list []Part) []Part {
	var out []Part
	for len(list) > 0 {
		p := list[0]
		n := 1
		for n < len(list) && strings.HasPrefix(list[n].name(), p.name()+"/") {
			n++
		}
		inside := nestParts(list[1:n])
		list = list[n:]
		if p.Checkout != "" {
			p.Inside = inside // each alone: files of the checkout lie between them
			out = append(out, p)
			continue
		}
		for _, in := range inside {
			if in.Checkout != "" {
				p.Inside = append(p.Inside, in)
			} else {
				p.Repos, p.Inside = append(p.Repos, in.Repos...), append(p.Inside, in.Inside...)
			}
		}
		out = append(out, p)
	}
	return out
}

// joinParts puts neighbours together until they have enough files.
func joinParts(list []Part) []Part {
	var out []Part
	files, room := 0, firstFiles
	for _, p := range list {
		last := len(out) - 1
		if last >= 0 && p.Checkout == "" && out[last].Checkout == "" {
			if files+p.Files() <= room {
				out[last].Repos, out[last].Inside = append(out[last].Repos, p.Repos...), append(out[last].Inside, p.Inside...)
				files += p.Files()
				continue
			}
			room = min(8*room, mostFiles)
		}
		files = p.Files() // none of a checkout
		out = append(out, p)
	}
	return out
}
