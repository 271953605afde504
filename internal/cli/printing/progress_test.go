package printing

import (
	"testing"
	"time"
)

func TestProgressLine(t *testing.T) {
	half := amount{done: 39150, total: 78301, unit: "files", bytes: 600 << 20}
	for _, c := range []struct {
		name  string
		a     amount
		width int
		want  string
	}{
		{"80 columns", half, 80, "indexing  [########.........]   49%  39150 of 78301 files  300.0 MB/s  2 s left"},
		{"200 columns", half, 200, "indexing  [###################.....................]   49%  39150 of 78301 files  300.0 MB/s  2 s left"},
		{"narrow", half, 40, "indexing   49%  39150 of 78301 files"},
		{"very narrow", half, 8, "indexin"},
		{"the total is unknown", amount{done: 7, unit: "files", bytes: 4 << 10}, 80, "indexing  7 files  2.0 KB/s  2 s"},
		{"nothing is known", amount{}, 80, "indexing  2 s"},
		{"more than there was", amount{done: 12, total: 10, unit: "files"}, 60, "indexing  [###############]  100%  12 of 10 files  0 s left"},
	} {
		got := progressLine("indexing", c.a, 2*time.Second, c.width)
		if got != c.want {
			t.Errorf("%s:\n got %q\nwant %q", c.name, got, c.want)
		}
	}
	for width := range 220 {
		if got := progressLine("indexing", half, 3*time.Hour, width); len(got) >= max(width, 1) {
			t.Errorf("width %d: %d columns", width, len(got))
		}
	}
}

func TestTimeText(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "0 s", 45 * time.Second: "45 s", 200 * time.Second: "3 min 20 s", 7500 * time.Second: "2 h 5 min"} {
		if got := timeText(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}
