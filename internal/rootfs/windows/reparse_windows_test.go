package windows

import "testing"

// mountPoint makes the REPARSE_DATA_BUFFER of a junction: like a symlink's, without its flags.
func mountPoint(target string) []byte {
	b := ReparseOf(target)
	b = append(b[:16], append(b[20:], 0, 0)...)
	b[0], b[1], b[2], b[3] = 0x03, 0, 0, 0xA0
	n := len(b) - 8
	b[4], b[5] = byte(n), byte(n>>8)
	return b
}

func TestParseReparse(t *testing.T) {
	for _, target := range []string{`..\x`, `C:\ws\in`, `\\server\share\x`} {
		if got, err := parseReparse(ReparseOf(target)); err != nil || got != target {
			t.Errorf("symlink to %s reads %q, %v", target, got, err)
		}
	}
	if got, err := parseReparse(mountPoint(`C:\ws\in`)); err != nil || got != `C:\ws\in` {
		t.Errorf("junction reads %q, %v", got, err)
	}
	for n := range ReparseOf(`C:\ws`) {
		parseReparse(ReparseOf(`C:\ws`)[:n]) // must not panic
	}
}
