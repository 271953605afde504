package recorder_test

import (
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"quarry/change"
)

// mangle damages 40 files in eight ways.
const mangle = `
i=0
for f in $(find . -name '*.txt' -not -path './.git/*' | sort | head -40); do
	case $((i % 8)) in
	0) sed -i 's/line/LINE/' "$f" ;;
	1) : > "$f" ;;
	2) rm "$f" ;;
	3) mv "$f" "$f.bak" ;;
	4) printf 'garbage\377\000' > "$f" ;;
	5) chmod 600 "$f"; echo more >> "$f" ;;
	6) rm "$f"; ln -s nowhere "$f" ;;
	7) rm "$f"; mkdir "$f"; echo inner > "$f/inner.txt" ;;
	esac
	i=$((i + 1))
done
rm -rf d4
`

// After a script has damaged 40 files, going back to the last change before it restores
// all of them. It keeps earlier changes and, if an author is given, other authors' later
// ones.
func TestFortyDamagedFiles(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil || runtime.GOOS == "windows" {
		t.Skip("needs bash")
	}
	p := newPlace(t)
	for i := range 50 {
		p.put(fmt.Sprintf("d%d/f%02d.txt", i%5, i), strings.Repeat(fmt.Sprintf("line of %d\n", i), 1+i))
	}
	ws := p.open()
	p.put("d0/f00.txt", "line of a person\n")
	before := p.log(ws)[0].ID
	want := p.tree()
	cmd := exec.Command("bash", "-c", mangle)
	cmd.Dir = p.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	damaged := differ(want, p.tree())
	list := p.log(ws)
	if len(damaged) < 40 || len(list) != 2 || !list[0].Outside {
		t.Fatalf("%d paths differ\n%s", len(damaged), p.summaries(ws))
	}
	if _, err := ws.Write(t.Context(), "d1/ours.txt", []byte("ours\n"), nil); err != nil {
		t.Fatal(err)
	}
	_, err = ws.Undo(t.Context(), "", &change.Options{To: &change.Back{After: before, By: change.AnotherProgram}})
	must(t, err)
	now := p.tree()
	if now["d1/ours.txt"] == "" {
		t.Error("our own change is gone")
	}
	delete(now, "d1/ours.txt")
	if left := differ(want, now); len(left) > 0 {
		t.Errorf("not as they were: %v", left)
	}
}
