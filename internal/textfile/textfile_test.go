package textfile

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"io"

	"quarry/internal/stress"
)

func TestDetect(t *testing.T) {
	late := strings.Repeat("a", SniffLen)
	for _, c := range []struct {
		name, data string
		want       Kind
	}{
		{"empty", "", Kind{}},
		{"ascii", "hello\n", Kind{}},
		{"utf-8", "héllo 世界 😀\n", Kind{}},
		{"utf-8 bom", bomUTF8 + "hé", Kind{Encoding: UTF8BOM}},
		{"only a utf-8 bom", bomUTF8, Kind{Encoding: UTF8BOM}},
		{"utf-16le", bomLE + "h\x00i\x00", Kind{Encoding: UTF16LE}},
		{"utf-16be", bomBE + "\x00h\x00i", Kind{Encoding: UTF16BE}},
		{"only a utf-16 bom", bomLE, Kind{Encoding: UTF16LE}},
		{"utf-16 with an odd byte", bomLE + "h\x00i", Kind{Encoding: UTF16LE}},
		{"utf-32 is not utf-16", bomUTF32 + "h\x00\x00\x00", Kind{Binary: true}},
		{"latin-1", "caf\xE9\n", Kind{Encoding: Windows1252}},
		{"cut character at the end of the file", "caf\xC3", Kind{Encoding: Windows1252}},
		{"overlong form", "\xC0\xAF", Kind{Encoding: Windows1252}},
		{"surrogate in utf-8", "\xED\xA0\x80", Kind{Encoding: Windows1252}},
		{"bom but not utf-8 behind it", bomUTF8 + "caf\xE9", Kind{Encoding: Windows1252}},
		{"NUL", "a\x00b", Kind{Binary: true}},
		{"NUL behind a utf-8 bom", bomUTF8 + "\x00", Kind{Binary: true}},
		{"NUL as last of 64 KiB", late[1:] + "\x00", Kind{Binary: true}},
		{"NUL just behind 64 KiB", late + "\x00", Kind{}},
		{"latin-1 late", late + "\xE9", Kind{Encoding: Windows1252}},
	} {
		if got := Detect([]byte(c.data)); got != c.want {
			t.Errorf("%s: Detect = %+v, want %+v", c.name, got, c.want)
		}
		var d Detector
		if _, err := io.Copy(&d, iotest.OneByteReader(strings.NewReader(c.data))); err != nil {
			t.Fatal(err)
		}
		if got := d.Kind(); got != c.want {
			t.Errorf("%s: Detector = %+v, want %+v", c.name, got, c.want)
		}
	}
}

// A block may end inside a character; that alone is no evidence against UTF-8.
func TestSniffForgivesACutCharacter(t *testing.T) {
	text := "aé世😀"
	for i := range len(text) + 1 {
		if got := Sniff([]byte(text[:i])); got != (Kind{}) {
			t.Errorf("Sniff(%q) = %+v", text[:i], got)
		}
	}
	for _, bad := range []string{"\xC3(", "\xE9 ", "\x80", "a\xFF"} {
		if got := Sniff([]byte(bad)); got.Encoding != Windows1252 {
			t.Errorf("Sniff(%q) = %+v, want windows-1252", bad, got)
		}
	}
}

func TestBinaryError(t *testing.T) {
	for _, c := range []struct{ data, want string }{
		{"\x89PNG\r\n\x1a\n\x00" + strings.Repeat("x", 12586), "not a text file (PNG image, 12.3 KB)"},
		{"\x00", "not a text file (binary data, 1 byte)"},
		{"PK\x03\x04\x14\x00word", "not a text file (zip archive, 10 bytes)"},
		{"PK\x03\x04\x14\x00..[Content_Types].xml", "not a text file (Office document, 27 bytes)"},
		{"h\x00e\x00l\x00l\x00o\x00", "not a text file (UTF-16 text without a byte order mark, 10 bytes)"},
		{"\xCA\xFE\xBA\xBE\x00\x00\x00\x37", "not a text file (Java class, 8 bytes)"},
		{"RIFF\x00\x00\x00\x00WEBP", "not a text file (WebP image, 12 bytes)"},
		{"\x00\x00\x00\x18ftypavif", "not a text file (AVIF image, 12 bytes)"},
		{strings.Repeat("\x00", 257) + "ustar", "not a text file (tar archive, 262 bytes)"},
		{strings.Repeat("\x00", 1<<20), "not a text file (binary data, 1.0 MB)"},
	} {
		_, err := New([]byte(c.data))
		var be *BinaryError
		if !errors.As(err, &be) || err.Error() != c.want {
			t.Errorf("New(%.20q) = %v, want %s", c.data, err, c.want)
		}
	}
}

func TestDecode(t *testing.T) {
	for _, c := range []struct {
		name, raw, want string
		exact           bool
	}{
		{"utf-8 bom is not text", bomUTF8 + "é", "é", true},
		{"utf-16le", bomLE + "a\x00\xE9\x00\x3D\xD8\x00\xDE", "aé😀", true},
		{"utf-16be", bomBE + "\x00a\x00\xE9\xD8\x3D\xDE\x00", "aé😀", true},
		{"lone high surrogate", bomLE + "\x3D\xD8a\x00", "\uFFFDa", false},
		{"lone low surrogate", bomLE + "\x00\xDEa\x00", "\uFFFDa", false},
		{"two high surrogates", bomLE + "\x3D\xD8\x3D\xD8\x00\xDE", "\uFFFD😀", false},
		{"half a unit", bomLE + "a\x00b", "a\uFFFD", false},
		{"half of a low surrogate", bomLE + "\x3D\xD8\x00", "\uFFFD\uFFFD", false},
		{"a real U+FFFD", bomLE + "\xFD\xFF", "\uFFFD", true},
		{"windows-1252", "\x80\x93caf\xE9\x94", "€“café”", true},
		{"its undefined bytes", "\x81\x8D\x8F\x90\x9D", "\u0081\u008D\u008F\u0090\u009D", true},
	} {
		d, err := New([]byte(c.raw))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := string(d.Text()); got != c.want || d.Exact() != c.exact {
			t.Errorf("%s: text %q exact %v, want %q %v", c.name, got, d.Exact(), c.want, c.exact)
		}
	}
}

func TestEvery1252ByteIsOneCharacterAndBack(t *testing.T) {
	seen := map[rune]bool{}
	for b := range 256 {
		r := decode1252(byte(b))
		back, ok := encode1252(r)
		if !ok || back != byte(b) || seen[r] {
			t.Errorf("byte %02X: U+%04X, back %02X %v, seen %v", b, r, back, ok, seen[r])
		}
		seen[r] = true
	}
}

func TestEncodeRefuses(t *testing.T) {
	latin := "caf\xE9\r\nna\xEFve\r\n"
	for _, c := range []struct{ name, raw, text, want string }{
		{"not in windows-1252", latin, "ok\nno → way", "the file is windows-1252, which can't hold '→' (U+2192), at line 2, column 4 of the text"},
		{"combining form", latin, "cafe\u0301", "the file is windows-1252, which can't hold '\u0301' (U+0301), at line 1, column 5 of the text"},
		{"NUL", "abc", "a\x00", "a NUL character (at line 1, column 2 of the text) would turn a utf-8 text file into a binary file"},
		{"invalid", "abc", "é\xFFx", "the text is not valid UTF-8 at line 1, column 2 of the text"},
		{"invalid in utf-16", bomLE, "\n\xED\xA0\x80", "the text is not valid UTF-8 at line 2, column 1 of the text"},
	} {
		d, err := New([]byte(c.raw))
		if err != nil {
			t.Fatal(err)
		}
		b, err := d.Encoding().Append(nil, c.text)
		var ee *EncodeError
		if !errors.As(err, &ee) || err.Error() != c.want || len(b) != 0 {
			t.Errorf("%s: Append = %q, %v, want %s", c.name, b, err, c.want)
			continue
		}
		if r, _ := utf8.DecodeRuneInString(c.text[ee.Offset:]); r != ee.Rune {
			t.Errorf("%s: offset %d is at %q, not %q", c.name, ee.Offset, r, ee.Rune)
		}
	}
}

func TestEncodeTakesEncodingAndEnding(t *testing.T) {
	for _, c := range []struct {
		raw, text string
		eol       Ending
		want      string
	}{
		{"x", "a\r\nb\n", LF, "a\nb\n"},
		{"x", "a\r\nb\n", CRLF, "a\r\nb\r\n"},
		{"x", "a\rb", CRLF, "a\rb"},
		{bomLE, "é\n", CRLF, "\xE9\x00\r\x00\n\x00"},
		{bomBE, "😀\x00", LF, "\xD8\x3D\xDE\x00\x00\x00"},
		{"\xE9", "€\u0081", LF, "\x80\x81"},
	} {
		d, _ := New([]byte(c.raw))
		if got, err := d.Encoding().Append(nil, c.eol.Convert(c.text)); string(got) != c.want || err != nil {
			t.Errorf("Append(%q) in %s = %q, %v, want %q", c.text, d.Encoding(), got, err, c.want)
		}
	}
}

// checkDocument checks that the raw bytes of all characters, in order, are the file, and
// that encoding the text gives the file again exactly if Exact is true.
func checkDocument(t *testing.T, raw []byte) {
	t.Helper()
	d, err := New(bytes.Clone(raw))
	if err != nil {
		if !Detect(raw).Binary {
			t.Fatalf("New: %v", err)
		}
		return
	}
	if !utf8.Valid(d.Text()) {
		t.Fatalf("text is not UTF-8: %q", d.Text())
	}
	joined := append([]byte{}, raw[:len(d.Encoding().BOM())]...)
	text := d.Text()
	for at := 0; at < len(text); {
		_, n := utf8.DecodeRune(text[at:])
		from, to := d.RawOffset(at), d.RawOffset(at+n)
		if from >= to {
			t.Fatalf("character at %d has raw span [%d,%d)", at, from, to)
		}
		joined = append(joined, raw[from:to]...)
		at += n
	}
	if !bytes.Equal(joined, raw) {
		t.Fatalf("characters give %q, file is %q", joined, raw)
	}
	again, err := d.Encoding().Append([]byte(d.Encoding().BOM()), string(text))
	if hasNUL := bytes.IndexByte(text, 0) >= 0; d.Exact() && !(hasNUL && d.Encoding() < UTF16LE || hasNUL && d.Encoding() == Windows1252) {
		if err != nil || !bytes.Equal(again, raw) {
			t.Fatalf("encoded again %q, %v, file is %q", again, err, raw)
		}
	} else if bytes.Equal(again, raw) {
		t.Fatalf("%q is said not to be exact but is", raw)
	}
	var stream []byte
	rest := raw[len(d.Encoding().BOM()):]
	for size := 1; ; size++ {
		n := min(size, len(rest))
		var used int
		stream, used = d.Encoding().AppendDecoded(stream, rest[:n], n == len(rest))
		if rest = rest[used:]; n == len(rest)+used {
			break
		}
	}
	if !bytes.Equal(stream, text) {
		t.Fatalf("decoded in blocks %q, at once %q", stream, text)
	}
}

func seeds() [][]byte {
	return [][]byte{
		nil, []byte("a\nb\r\nc"), []byte(bomUTF8 + "é\r\n"), []byte(bomLE + "a\x00\n\x00\x3D\xD8\x00\xDE"),
		[]byte(bomBE + "\xD8\x3D\x00a\xDE\x00\x00"), []byte("caf\xE9 \x81\x8D\x8F\x90\x9D\n"), []byte("\r\r\n\n\r"),
		[]byte(bomUTF32), []byte(bomUTF8 + "\xFF"),
	}
}

func FuzzRoundTrip(f *testing.F) {
	for _, s := range seeds() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		checkDocument(t, raw)
		var d Detector
		for i, p := 1, raw; len(p) > 0; i++ {
			n := min(i, len(p))
			d.Write(p[:n])
			p = p[n:]
		}
		if got, want := d.Kind(), Detect(raw); got != want {
			t.Fatalf("Detector = %+v, Detect = %+v", got, want)
		}
	})
}

// Random files with special cases at the marks: surrogate pairs across blocks, half
// units, undefined bytes.
func TestRoundTripRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range stress.N(3000) {
		var raw []byte
		n := rng.IntN(40)
		if rng.IntN(60) == 0 {
			n = markEvery - 3 + rng.IntN(6)
		}
		switch rng.IntN(4) {
		case 0: // units with many surrogates
			raw = []byte([]string{bomLE, bomBE}[rng.IntN(2)])
			for range n {
				raw = append(raw, byte(rng.IntN(256)), byte(0xD7+rng.IntN(10)))
			}
			raw = raw[:len(raw)-rng.IntN(2)]
		case 1:
			for range n {
				raw = append(raw, byte(1+rng.IntN(255)))
			}
		case 2:
			for range n {
				raw = utf8.AppendRune(raw, rune(1+rng.IntN(0x20000)))
			}
		default:
			raw = []byte([]string{bomLE, bomBE, bomUTF8}[rng.IntN(3)])
			for range n {
				raw = append(raw, byte(rng.IntN(256)))
			}
		}
		checkDocument(t, raw)
	}
}

func BenchmarkDetect(b *testing.B) {
	data := bytes.Repeat([]byte("The quick brown fox jumps over the lazy dog.\n"), 200000)
	b.Run("detect", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			Detect(data)
		}
	})
	b.Run("peer=utf8.Valid", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			utf8.Valid(data)
		}
	})
}

func BenchmarkDecodeUTF16(b *testing.B) {
	raw, _ := UTF16LE.Append([]byte(bomLE), strings.Repeat("The quick brown fox jumps over the lazy dog.\n", 200000))
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		New(raw)
	}
}
