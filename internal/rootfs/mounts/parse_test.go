package mounts

import (
	"fmt"
	"testing"

	"quarry/internal/rootfs"
)

func TestParseMounts(t *testing.T) {
	const text = `22 1 8:1 / / rw - ext4 /dev/sda1 rw
30 22 0:26 / /work rw,nosuid shared:5 - tmpfs tmpfs rw
31 30 0:27 / /work/a rw - tmpfs tmpfs rw
32 31 8:1 /home/x\040y /work/a/b\040c rw master:1 - ext4 /dev/sda1 rw
33 22 0:28 / /workshop rw - tmpfs tmpfs rw
34 30 0:29 / /work/gone//deleted rw - tmpfs tmpfs rw
`
	got := ""
	for _, m := range parse(text, "/work") {
		got += fmt.Sprintf("%s %s %q %d\n", m.At, m.Device, m.Source, m.id)
	}
	want := "a 0:27 \"/\" 31\na/b c 8:1 \"/home/x y\" 32\ngone 0:29 \"/\" 34\n"
	if got != want {
		t.Errorf("below /work:\n%swant\n%s", got, want)
	}
	if n := len(parse(text, "/")); n != 5 {
		t.Errorf("below /: %d mounts, want 5", n)
	}
}

func TestMovedMounts(t *testing.T) {
	a, _ := rootfs.Path{}.Child("a")
	b, _ := rootfs.Path{}.Child("b")
	one, two := Mount{At: a, Device: "0:1", id: 1}, Mount{At: b, Device: "0:2", id: 2}
	again := one
	again.id = 7 // mounted again
	for _, c := range []struct {
		before, after []Mount
		want          string
	}{
		{nil, nil, "[]"},
		{[]Mount{one}, []Mount{one}, "[]"},
		{nil, []Mount{one}, "[a]"},
		{[]Mount{one, two}, []Mount{two}, "[a]"},
		{[]Mount{one, two}, []Mount{two, again}, "[a]"},
	} {
		if got := fmt.Sprint(moved(c.before, c.after)); got != c.want {
			t.Errorf("moved(%v, %v) = %s, want %s", c.before, c.after, got, c.want)
		}
	}
	if sum([]Mount{one}) != sum([]Mount{again}) {
		t.Error("the kernel's number counts in the sum")
	}
	if sum([]Mount{one}) == sum([]Mount{two}) || sum(nil) != 0 {
		t.Error("sums don't tell mounts apart")
	}
}

func TestUnescape(t *testing.T) {
	for in, want := range map[string]string{
		"/plain": "/plain", `/a\040b`: "/a b", `/a\134\012`: "/a\\\n", `/end\04`: `/end\04`, `/odd\9x1`: `/odd\9x1`, "": "",
	} {
		if got := unescape(in); got != want {
			t.Errorf("unescape(%q) = %q, want %q", in, got, want)
		}
	}
}
