package lookup

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/symbols"
	"quarry/search"
)

// The description of a macro in a large header equals the one from reading the whole header,
// whatever is around it.
func TestDescribeMacro(t *testing.T) {
	var b strings.Builder
	for i := range 4500 {
		switch i % 9 {
		case 0:
			fmt.Fprintf(&b, "/*\n * about REG_%d\n */\n", i)
		case 1:
			b.WriteString("// one\n// two\n")
		case 2:
			b.WriteString("int x; /* not about it */\n")
		case 3:
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, []string{"#define REG_%d 0x%04x\n", "#  define\tREG_%d(a) \\\n\t(a + \\\n\t%d)\n", "#define REG_%d %d /* it is */\n"}[i%3], i, i)
	}
	b.WriteString("#define TWICE 1\n#define TWICE 2\n/* #define LOST 1 */\n")
	data := []byte(b.String())
	if len(data) < largeText {
		t.Fatalf("%d bytes are not large", len(data))
	}
	lines := newLines(data)
	n := 0
	for _, s := range symbols.Of("a.h", data) {
		if s.Kind != symbols.Macro {
			continue
		}
		want := symbolOf(&s, "a.h", data, lines.count())
		want.Text = lines.text(want.StartLine, want.EndLine)
		got := search.Symbol{Path: "a.h", Name: s.Name, Kind: "macro", Line: 1}
		if ok := describeMacro("a.h", data, &got, true); ok != (s.Name != "TWICE") {
			t.Fatalf("%s: found: %v", s.Name, ok)
		} else if !ok {
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s:\n%s", s.Name, diff)
		}
		n++
	}
	if n != 4500 {
		t.Errorf("%d macros were compared", n)
	}
}
