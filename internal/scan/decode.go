package scan

import (
	"io"
	"slices"

	"quarry/internal/textfile"
	"quarry/search"
)

// decoding holds the results of a search that Result.Decode needs.
type decoding struct {
	settled bool  // the whole text is UTF-8, or was decoded from UTF-16
	mark    int64 // length of the byte order mark before the text
	lossy   []int // indexes of lines whose text is already decoded, ascending
}

func (d *decoding) isLossy(line int) bool {
	_, found := slices.BinarySearch(d.lossy, line)
	return found
}

// Decode converts the lines of a file in Windows-1252 to lines of its decoded text: texts,
// offsets, spans and cuts. Request.Decode must have been set. src is the file; it is read
// again unless the search found that all of it is UTF-8.
//
// A file without a UTF-16 mark is in Windows-1252 if any byte, even the last one, is not
// valid UTF-8. So no line can be decoded before the whole file has been read.
func (r *Result) Decode(src io.ReaderAt) error {
	if len(r.Lines) == 0 || r.settled {
		return nil
	}
	var places []int64
	r.eachPlace(func(at int64) int64 {
		places = append(places, at)
		return at - r.mark // nothing before it was decoded
	})
	slices.Sort(places)
	places = slices.Compact(places)
	decoded, err := decodedPlaces(src, places)
	if err != nil || decoded == nil {
		return err
	}
	r.eachPlace(func(at int64) int64 {
		i, _ := slices.BinarySearch(places, at)
		return decoded[i]
	})
	for i := range r.Lines {
		if l := &r.Lines[i]; !r.isLossy(i) {
			l.Text = textfile.Decode1252(l.Text)
		}
	}
	return nil
}

// eachPlace applies to to every file offset in the result.
func (r *Result) eachPlace(to func(int64) int64) {
	for i := range r.Lines {
		l := &r.Lines[i]
		start := l.Offset + r.mark
		l.Offset = to(start)
		if r.isLossy(i) {
			continue
		}
		text := start + int64(l.CutBefore)
		end := text + int64(len(l.Text))
		l.CutBefore = int(to(text) - to(start))
		l.CutAfter = int(to(end+int64(l.CutAfter)) - to(end))
		move := func(s *search.Span, from int64) {
			s.Start, s.End = int(to(from+int64(s.Start))-to(from)), int(to(from+int64(s.End))-to(from))
		}
		for j := range l.Spans {
			move(&l.Spans[j], text)
		}
		for j := range l.Whole {
			move(&l.Whole[j], start)
		}
		for _, holes := range l.Holes {
			for j := range holes {
				move(&holes[j].Span, start)
			}
		}
	}
}

// decodedPlaces converts ascending offsets in a file to offsets in its text decoded from
// Windows-1252. It returns nil if the file is UTF-8.
func decodedPlaces(src io.ReaderAt, places []int64) ([]int64, error) {
	var kind textfile.Detector
	decoded := make([]int64, 0, len(places))
	buf := make([]byte, blockSize)
	for at, more := int64(0), int64(0); ; {
		n, err := src.ReadAt(buf, at)
		if err != nil && err != io.EOF {
			return nil, err
		}
		kind.Write(buf[:n])
		rest, end := buf[:n], at+int64(n)
		for len(decoded) < len(places) && (places[len(decoded)] <= end || err == io.EOF) {
			to := min(int(places[len(decoded)]-at), len(rest))
			more += int64(textfile.Decoded1252(rest[:to]) - to)
			rest, at = rest[to:], at+int64(to)
			decoded = append(decoded, places[len(decoded)]+more)
		}
		more += int64(textfile.Decoded1252(rest) - len(rest))
		at = end
		switch {
		case kind.Invalid() && len(decoded) == len(places):
			return decoded, nil
		case err == io.EOF && !kind.Invalid() && kind.Kind().Encoding != textfile.Windows1252:
			return nil, nil
		case err == io.EOF:
			return decoded, nil
		}
	}
}
