package index

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"unicode"

	"quarry/internal/policy"
	"quarry/internal/symbols"
)

// The layout of a segment; docs/FORMAT.md describes it.
const (
	segmentMagic  = "QRYSEG\x00\x01"
	footerMagic   = "QRYEND\x00\x01"
	formatVersion = 9

	// maxDocs limits the blocks of a segment, and thereby its documents.
	maxDocs = 1<<24 - 1
)

// Sections of a segment, in the order of the footer's table.
const (
	secPostings = iota
	secGrams
	secEntries
	secRestarts
	secPaths
	secStamps
	secFlags
	secBlocks
	secSums
	secTerms
	secTermHeads
	secTermSums
	secParts
	secDefs
	secDefHeads
	secDefFirsts
	secDefCode
	secDefSums
	secContainers
	secContainerRestarts
	secDefCounts
	secDefCountRestarts
	secFields
	secFieldHeads
	secFieldSums
	secFieldTerms
	secFieldTermHeads
	secFieldTermSums
	sections
)

const (
	sectionEntry = 24
	footerHead   = 48
	footerSize   = footerHead + sections*sectionEntry + 16
	postingsPad  = 8 // padding after the postings, so that reads of eight bytes stay in the section
	// sumBlock is the number of bytes that share a checksum in sections of postings. The
	// blocks that contain a list are checked whenever the list is read.
	sumBlock = 4096
)

// castagnoli makes the table when it is needed, which takes 0.15 ms.
func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// ErrDamaged is returned if a segment or manifest is not usable.
var ErrDamaged = errors.New("index file is damaged")

func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}

// alphabetVersion must change if texts get different grams, termVersion if they get different
// terms, symbols.Version if they get different definitions, and policy.Version if different
// names count as secrets.
const (
	alphabetVersion = 2
	termVersion     = 1
)

// fingerprint is a hash of everything that affects grams, terms and definitions. With different
// case tables, for example, an index would miss files without looking damaged.
func fingerprint() uint32 {
	return crc32.Checksum(fmt.Appendf(nil, "grams %d, terms %d, definitions %d, unicode %s, secrets %d", alphabetVersion, termVersion, symbols.Version, unicode.Version, policy.Version), castagnoli())
}

type section struct {
	off, size uint64
	sum       uint32
}

func (s section) in(data []byte) []byte { return data[s.off : s.off+s.size] }

// footer is the end of a segment. It lists the other sections.
type footer struct {
	docs, grams uint32
	text        uint64 // total size of the files read
	blocks      uint32
	terms       uint32
	names       uint32 // number of defined names
	containers  uint32
	fieldTerms  uint32
	extractor   uint32 // version of the extractor
	table       [sections]section
}

// append encodes the footer. Its checksum sum covers the whole segment, because the
// footer contains the checksums of all sections.
func (f *footer) append(dst []byte) (out []byte, sum uint32) {
	start := len(dst)
	dst = binary.LittleEndian.AppendUint32(dst, formatVersion)
	dst = binary.LittleEndian.AppendUint32(dst, fingerprint())
	dst = binary.LittleEndian.AppendUint32(dst, f.docs)
	dst = binary.LittleEndian.AppendUint32(dst, f.grams)
	dst = binary.LittleEndian.AppendUint64(dst, f.text)
	dst = binary.LittleEndian.AppendUint32(dst, f.blocks)
	dst = binary.LittleEndian.AppendUint32(dst, f.terms)
	dst = binary.LittleEndian.AppendUint32(dst, f.names)
	dst = binary.LittleEndian.AppendUint32(dst, f.containers)
	dst = binary.LittleEndian.AppendUint32(dst, f.fieldTerms)
	dst = binary.LittleEndian.AppendUint32(dst, f.extractor)
	for _, s := range f.table {
		dst = binary.LittleEndian.AppendUint64(dst, s.off)
		dst = binary.LittleEndian.AppendUint64(dst, s.size)
		dst = binary.LittleEndian.AppendUint32(dst, s.sum)
		dst = binary.LittleEndian.AppendUint32(dst, 0)
	}
	dst = binary.LittleEndian.AppendUint32(dst, 0)
	sum = crc32.Checksum(dst[start:], castagnoli())
	dst = binary.LittleEndian.AppendUint32(dst, sum)
	return append(dst, footerMagic...), sum
}

// parseFooter reads the footer of a segment and checks it against the segment's size.
func parseFooter(data []byte) (f footer, sum uint32, err error) {
	if len(data) < len(segmentMagic)+footerSize || string(data[:len(segmentMagic)]) != segmentMagic {
		return f, 0, damaged("no segment")
	}
	b := data[len(data)-footerSize:]
	if string(b[footerSize-8:]) != footerMagic {
		return f, 0, damaged("no footer")
	}
	sum = binary.LittleEndian.Uint32(b[footerSize-12:])
	if crc32.Checksum(b[:footerSize-12], castagnoli()) != sum {
		return f, 0, damaged("footer checksum")
	}
	if v := binary.LittleEndian.Uint32(b); v != formatVersion {
		return f, 0, damaged("version %d", v)
	}
	if binary.LittleEndian.Uint32(b[4:]) != fingerprint() {
		return f, 0, damaged("made with other character tables")
	}
	f.docs = binary.LittleEndian.Uint32(b[8:])
	f.grams = binary.LittleEndian.Uint32(b[12:])
	f.text = binary.LittleEndian.Uint64(b[16:])
	f.blocks = binary.LittleEndian.Uint32(b[24:])
	f.terms = binary.LittleEndian.Uint32(b[28:])
	f.names = binary.LittleEndian.Uint32(b[32:])
	f.containers = binary.LittleEndian.Uint32(b[36:])
	f.fieldTerms = binary.LittleEndian.Uint32(b[40:])
	f.extractor = binary.LittleEndian.Uint32(b[44:])
	limit := uint64(len(data) - footerSize)
	for i := range f.table {
		e := b[footerHead+i*sectionEntry:]
		s := section{binary.LittleEndian.Uint64(e), binary.LittleEndian.Uint64(e[8:]), binary.LittleEndian.Uint32(e[16:])}
		if s.off > limit || s.size > limit-s.off {
			return f, 0, damaged("section %d outside of the file", i)
		}
		f.table[i] = s
	}
	return f, sum, nil
}
