package vault

import "strings"

// attachmentFolder returns the folder for a note's attachments. follows reports whether
// it depends on the note's folder.
func (s *Settings) attachmentFolder(note string) (folder string, follows bool) {
	p := s.AttachmentFolderPath
	switch {
	case p == "./" || p == ".":
		return dir(note), true
	case strings.HasPrefix(p, "./"):
		return join(dir(note), strings.Trim(p[2:], "/")), true
	}
	return strings.Trim(p, "/"), false
}

// Attachments returns the moves of the attachments that move with a note. These are files
// that the note links to, that aren't notes, that are in the note's attachment folder, and
// that no other file links to. The graph must contain every file that may link to them.
// Attachments stay if the settings keep all of them in one folder, or if the new path is
// taken.
func (g *Graph) Attachments(s *Settings, m Move) []Move {
	from, follows := s.attachmentFolder(m.From)
	to, _ := s.attachmentFolder(m.To)
	if !follows || from == to || !isNote(m.From) {
		return nil
	}
	var out []Move
	for _, r := range g.Outgoing(m.From) {
		if r.Target == "" || HasLinks(r.Target) || dir(r.Target) != from {
			continue
		}
		next := Move{r.Target, join(to, base(r.Target))}
		known := false
		for _, o := range out {
			known = known || o == next
		}
		links := g.Backlinks(r.Target)
		if known || len(links) != 1 || links[0] != m.From || g.index.Has(next.To) {
			continue
		}
		out = append(out, next)
	}
	return out
}

// AttachmentNames returns the files that a note links to and that might move with it.
func (s *Settings) AttachmentNames(note string, links []Link) []string {
	if _, follows := s.attachmentFolder(note); !follows {
		return nil
	}
	var out []string
	for _, l := range links {
		if !l.External && l.Path != "" && !HasLinks(l.Path) {
			out = append(out, base(l.Path))
		}
	}
	return out
}
