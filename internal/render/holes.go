package render

import (
	"strings"

	"quarry/search"
)

// Holes returns, by name, the captured texts of the structural matches that begin in line i
// of a file. Text that limits removed from the lines is missing.
func Holes(lines []search.Line, i int) (all []map[string]string) {
	if len(lines[i].Holes) == 0 {
		return nil
	}
	end := 0
	for _, holes := range lines[i].Holes {
		for _, h := range holes {
			end = max(end, h.End)
		}
	}
	var text strings.Builder
	for k := i; k < len(lines) && text.Len() < end; k++ {
		text.Write(lines[k].Text)
		text.WriteString(lines[k].Ending)
	}
	for _, holes := range lines[i].Holes {
		texts := map[string]string{}
		for _, h := range holes {
			from := min(max(h.Start, 0), text.Len())
			texts[h.Name] = strings.ToValidUTF8(text.String()[from:max(from, min(h.End, text.Len()))], "\uFFFD")
		}
		all = append(all, texts)
	}
	return all
}
