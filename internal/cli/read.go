package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"quarry"
	"quarry/change"
	"quarry/internal/cli/command"
	"quarry/internal/cli/env"
	"quarry/internal/config"
	"quarry/internal/render"
	"quarry/search"
)

type readFlags struct {
	changer
	plain   bool
	real    []string // absolute paths, set if there is no workspace to be relative to
	several bool     // print each file's name above its content
	shown   int      // files shown so far
	given   string
}

func newRead(s env.Streams) *cobra.Command {
	f := &readFlags{changer: changer{s: s}}
	cmd := command.New("read PATH[:A-B]...", "Show text files, or lines of them",
		`Show text files with line numbers, or lines A to B of them. UTF-8, UTF-16 and
Windows-1252 are read; a binary file is refused. The last line tells how many
lines there are and the file's version, which --expected-version of the changing
commands takes. Several files have their names before them; one that can't be
read is reported, and the others are shown.`,
		`  quarry read main.go
  quarry read main.go:10-20
  quarry read main.go:10- --plain
  quarry read main.go:10-20 main.go:80-95 util.go`,
		command.Args(1, command.Any), func(cmd *cobra.Command, args []string) error { return readEach(cmd, f, args) })
	cmd.Flags().BoolVarP(&f.plain, "plain", "p", false, "only the text")
	f.commonFlags(cmd.Flags())
	return cmd
}

// splitRange splits an argument into a path and a line range. If a file has the whole argument as
// its name, there is no range.
func splitRange(arg string) (path string, opts search.ReadOptions, err error) {
	at := strings.LastIndexByte(arg, ':')
	if _, statErr := os.Lstat(arg); at < 0 || statErr == nil || at == len(arg)-1 || arg[at+1] < '0' || arg[at+1] > '9' {
		return arg, opts, nil
	}
	opts.Start, opts.End, err = lineRange(arg[at+1:])
	return arg[:at], opts, err
}

// readEach prints files one after another. If one can't be read, it continues, and the exit code is
// 2.
func readEach(cmd *cobra.Command, f *readFlags, args []string) error {
	if len(args) == 1 {
		return runRead(cmd, f, args[0])
	}
	f.several = true
	var failed error
	for _, arg := range args {
		f.real = nil
		err := runRead(cmd, f, arg)
		if err == nil {
			continue
		}
		if failed = env.ErrReported; !errors.Is(err, env.ErrReported) {
			fmt.Fprintf(f.s.Err, "quarry: %s\n", f.s.Safe(err.Error()))
		}
	}
	return failed
}

func runRead(cmd *cobra.Command, f *readFlags, arg string) error {
	given, opts, err := splitRange(arg)
	if err != nil {
		return err
	}
	f.given = given
	ws := &workspaces{open: map[string]*quarry.Workspace{}}
	defer ws.close()
	var failed error
	targets, err := ws.find(f.root, []string{given}, func(err error) { failed = err })
	err = cmp.Or(err, failed)
	if err != nil {
		return f.run(render.Reading, given, err)
	}
	if targets[0].stdin {
		return errors.New("read shows files: - is standard input, which cat shows")
	}
	f.dir = targets[0].root
	if t := &targets[0]; t.outside != "" && (f.root != "" || config.IsRoot(t.outside)) {
		return f.run(render.Reading, given, outsideError(given, t.outside, t.ws.Dir()))
	} else if t.outside != "" {
		f.real = []string{filepath.Join(t.ws.Dir(), filepath.FromSlash(t.path))}
	}
	opts.MaxBytes = maxShown
	text, err := targets[0].ws.Read(cmd.Context(), targets[0].path, &opts)
	if err == nil {
		err = f.show(text, &opts)
	}
	return f.run(render.Reading, given, err)
}

// maxShown is the maximum number of bytes of a file shown at once. It keeps memory use independent
// of the file size.
const maxShown = 8 << 20

// jsonLines is the output of quarry read --json.
type jsonLines struct {
	Path     string   `json:"path"`
	First    int      `json:"first_line"`
	Lines    []string `json:"lines"`
	Total    int      `json:"total_lines"`
	Version  string   `json:"version"`
	Encoding string   `json:"encoding"`
	Ending   string   `json:"line_ending"`
	Cut      bool     `json:"cut,omitempty"` // the output ends before the requested range does
	Real     []string `json:"full_paths,omitempty"`
}

// cutNote tells a person where to continue reading after an incomplete text.
func cutNote(t *search.Text) string {
	if t.CutLine {
		return fmt.Sprintf("line %d is longer than %d MB: only its beginning is shown", t.First, maxShown>>20)
	}
	return fmt.Sprintf("%d MB are shown; it goes on at line %d", maxShown>>20, t.First+len(t.Lines))
}

func (f *readFlags) show(t *search.Text, opts *search.ReadOptions) error {
	if f.json {
		lines := t.Lines
		if lines == nil {
			lines = []string{}
		}
		return f.s.Encode(jsonLines{t.Path, t.First, lines, t.Total, t.Version, t.Encoding, t.Ending, t.Cut, f.real})
	}
	if opts.Start > t.Total && opts.Start > 1 {
		return &change.LineError{Line: opts.Start, Count: t.Total}
	}
	var b strings.Builder
	if f.several && !f.plain {
		if f.shown > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "## %s\n", render.Path(f.given))
	}
	f.shown++
	for i, line := range t.Lines {
		if !f.plain {
			fmt.Fprintf(&b, "%d: ", t.First+i)
		}
		b.WriteString(line)
		if b.WriteByte('\n'); b.Len() >= 64<<10 {
			if err := f.s.Print(b.String()); err != nil {
				return err
			}
			b.Reset()
		}
	}
	if t.Cut {
		fmt.Fprintf(f.s.Err, "quarry: %s\n", cutNote(t))
	}
	if !f.plain {
		last := t.First + len(t.Lines) - 1
		fmt.Fprintf(&b, "\n[Showing lines %d-%d of %d total, version %s]\n", min(t.First, last), last, t.Total, t.Version)
		for _, path := range f.real {
			fmt.Fprintf(&b, "[Full path: %s]\n", path)
		}
	}
	return f.s.Print(b.String())
}
