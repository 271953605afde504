package names

import "testing"

func TestWithoutPrefix(t *testing.T) {
	for _, c := range []struct{ given, want string }{
		{`C:\ws`, `C:\ws`}, {`\\?\C:\ws`, `C:\ws`}, {`\\?\UNC\server\share\ws`, `\\server\share\ws`}, {`\\server\share`, `\\server\share`},
		{`\\?\C:\ws.`, `\\?\C:\ws.`}, {`\\?\C:\a \ws`, `\\?\C:\a \ws`}, {`\\?\Volume{1}\ws`, `\\?\Volume{1}\ws`}, {`\\?\C:`, `\\?\C:`}, {`\\.\C:\ws`, `\\.\C:\ws`},
	} {
		if got := WithoutPrefix(c.given); got != c.want {
			t.Errorf("%s becomes %s, want %s", c.given, got, c.want)
		}
	}
}
