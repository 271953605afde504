package textfile

import (
	"bytes"
	"strings"

	"quarry/fault"
)

// BinaryError reports that a file is not text, and its apparent type.
type BinaryError = fault.BinaryError

type magic struct {
	at   int
	sign string
	name string
}

// magics are tried in order; the first match names the type.
var magics = []magic{
	{0, "\x89PNG\r\n\x1a\n", "PNG image"},
	{0, "\xFF\xD8\xFF", "JPEG image"},
	{0, "GIF8", "GIF image"},
	{0, "BM", "BMP image"},
	{0, "II*\x00", "TIFF image"},
	{0, "MM\x00*", "TIFF image"},
	{0, "\x00\x00\x01\x00", "icon"},
	{0, "8BPS", "Photoshop image"},
	{0, "%PDF-", "PDF document"},
	{0, "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", "old Office document"},
	{0, "\x1F\x8B", "gzip archive"},
	{0, "BZh", "bzip2 archive"},
	{0, "\xFD7zXZ\x00", "xz archive"},
	{0, "\x28\xB5\x2F\xFD", "zstd archive"},
	{0, "7z\xBC\xAF\x27\x1C", "7-Zip archive"},
	{0, "Rar!\x1A\x07", "RAR archive"},
	{257, "ustar", "tar archive"},
	{0, "!<arch>\n", "static library"},
	{0, "\x7FELF", "ELF program or library"},
	{0, "\xCF\xFA\xED\xFE", "Mach-O program or library"},
	{0, "\xCE\xFA\xED\xFE", "Mach-O program or library"},
	{0, "MZ", "Windows program or library"},
	{0, "\x00asm", "WebAssembly module"},
	{0, "SQLite format 3\x00", "SQLite database"},
	{0, "ID3", "MP3 audio"},
	{0, "fLaC", "FLAC audio"},
	{0, "OggS", "Ogg media"},
	{0, "\x1A\x45\xDF\xA3", "Matroska or WebM video"},
	{0, "wOFF", "WOFF font"},
	{0, "wOF2", "WOFF2 font"},
	{0, "OTTO", "OpenType font"},
	{0, "\x00\x01\x00\x00\x00", "TrueType font"},
	{0, "DIRC", "git index"},
	{0, "PACK", "git pack"},
	{0, "\x93NUMPY", "NumPy array"},
	{0, "\x89HDF\r\n\x1a\n", "HDF5 data"},
	{0, "PAR1", "Parquet data"},
	{0, "bplist00", "property list"},
	{0, bomUTF32, "UTF-32 text"},
	{0, "\x00\x00\xFE\xFF", "UTF-32 text"},
}

// BinaryType returns the type of a binary file by its first 512 bytes, or "binary data" if it is unknown.
func BinaryType(head []byte) string {
	head = head[:min(len(head), 512)]
	for _, m := range magics {
		if len(head) >= m.at && bytes.HasPrefix(head[m.at:], []byte(m.sign)) {
			return m.name
		}
	}
	switch s := string(head); {
	case strings.HasPrefix(s, "PK\x03\x04"), strings.HasPrefix(s, "PK\x05\x06"):
		return zipType(s)
	case len(s) >= 12 && s[:4] == "RIFF":
		return riffType(s[8:12])
	case len(s) >= 12 && s[4:8] == "ftyp":
		return ftypType(s[8:12])
	case strings.HasPrefix(s, "\xCA\xFE\xBA\xBE"):
		// Both formats begin like this. A Java class has a major version of at least 45
		// here, a fat Mach-O a small number of parts.
		if len(s) >= 8 && s[7] >= 45 {
			return "Java class"
		}
		return "Mach-O program or library"
	case utf16Without(head):
		return "UTF-16 text without a byte order mark"
	}
	return "binary data"
}

// zipType examines the name of the first entry: formats based on zip identify themselves
// there.
func zipType(s string) string {
	for _, t := range [...]struct{ sign, name string }{
		{"mimetypeapplication/epub", "EPUB book"},
		{"mimetypeapplication/vnd.oasis", "OpenDocument file"},
		{"[Content_Types].xml", "Office document"},
		{"META-INF/", "Java archive"},
	} {
		if strings.Contains(s, t.sign) {
			return t.name
		}
	}
	return "zip archive"
}

func riffType(form string) string {
	switch form {
	case "WEBP":
		return "WebP image"
	case "WAVE":
		return "WAV audio"
	case "AVI ":
		return "AVI video"
	}
	return "RIFF media"
}

func ftypType(brand string) string {
	switch {
	case brand == "avif" || brand == "avis":
		return "AVIF image"
	case strings.HasPrefix(brand, "hei") || brand == "mif1":
		return "HEIC image"
	case strings.HasPrefix(brand, "M4A"):
		return "M4A audio"
	case strings.HasPrefix(brand, "qt"):
		return "QuickTime video"
	}
	return "MP4 video"
}

// utf16Without recognizes UTF-16 without a byte order mark if it is mostly ASCII: every other byte is NUL.
// Such a file counts as binary, but the error can name the missing mark.
func utf16Without(head []byte) bool {
	if len(head) < 8 {
		return false
	}
	var zero, text [2]int
	for i, b := range head[:len(head)&^1] {
		switch {
		case b == 0:
			zero[i&1]++
		case b >= 0x20 && b < 0x7F || b == '\n' || b == '\r' || b == '\t':
			text[i&1]++
		}
	}
	half := len(head) / 2
	return zero[0]*10 >= half*9 && text[1]*10 >= half*9 || zero[1]*10 >= half*9 && text[0]*10 >= half*9
}
