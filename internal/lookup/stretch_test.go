package lookup

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry/search"
)

// names returns the definitions around lines, from reading all of a text and from reading
// the stretch around each line.
func names(path string, lines []string, which func(i int) bool) (whole, part map[int]string) {
	whole, part = map[int]string{}, map[int]string{}
	text := []byte(strings.Join(lines, "\n"))
	all := enclosing{path: path}
	all.set(text)
	all.read(context.Background(), 0, len(all.starts))
	for i := range lines {
		if !which(i) {
			continue
		}
		one := enclosing{path: path}
		one.set(text)
		line := &search.Line{Number: i + 1, Text: []byte(lines[i])}
		for into, e := range map[*map[int]string]*enclosing{&whole: &all, &part: &one} {
			if s := e.around(context.Background(), line); s != nil {
				(*into)[i+1] = s.Container + "." + s.Name
			}
		}
	}
	return whole, part
}

func TestStretch(t *testing.T) {
	const text = `#include <x.h>
/*
 * not code {
}
 */
struct list {
	int n;
};

#define LOOP(x) do { \\
} while (x); \\
int in_macro

static int first(void)
{
	if (1) {
		work();
	}
	return 0;
}

struct row rows[] = {
{
	1,
}, {
	2,
},
};

int second(int a)
{ /* { */
	return a;
}
int third(void) {
	return 3;
}

#define ONE 1
#define TWO(a) \\
	a + \\
	2

int declared(int a,
	int b);
/* a comment

int not_code(int a,
	int b);
*/
#endif
`
	lines := strings.Split(strings.ReplaceAll(text, "\\\\", "\\"), "\n")
	whole, part := names("a.c", lines, func(int) bool { return true })
	for i := range lines {
		if whole[i+1] != part[i+1] {
			t.Errorf("line %d, %s: in %q, by its stretch %q", i+1, lines[i], whole[i+1], part[i+1])
		}
	}
	if part[17] != ".first" || part[31] != ".second" || part[35] != ".third" || part[7] != ".list" || part[9] != "" {
		t.Errorf("names %v", part)
	}
}

// In a real tree, nearly all of a thousand lines get the same name.
func TestStretchOfTree(t *testing.T) {
	tree := os.Getenv("QUARRY_BENCH_TREE")
	if tree == "" {
		t.Skip("set QUARRY_BENCH_TREE to a large folder")
	}
	n, lines, differ := 0, 0, 0
	err := filepath.WalkDir(filepath.Join(tree, "drivers/net"), func(p string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(p) != ".c" && filepath.Ext(p) != ".h" {
			return err
		}
		if n++; n%60 != 0 {
			return nil
		}
		data, err := os.ReadFile(p)
		if err != nil || len(data) > 100<<10 {
			return err
		}
		whole, part := names(p, strings.Split(string(data), "\n"), func(i int) bool { return i%53 == 0 })
		for i := 0; i < strings.Count(string(data), "\n"); i += 53 {
			lines++
			if whole[i+1] != part[i+1] {
				differ++
			}
		}
		return nil
	})
	if err != nil || differ*100 > lines {
		t.Errorf("%d of %d lines differ, %v", differ, lines, err)
	}
	t.Logf("%d of %d lines differ", differ, lines)
}
