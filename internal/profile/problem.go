package profile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/explain"
	"quarry/internal/render"
	"quarry/match"
	"quarry/search"
	"quarry/tool"
)

func itoa(n int) string { return strconv.Itoa(n) }

// quoted formats a path for a message.
func quoted(path string) string { return render.Quote(path) }

// problem words an error of the library. Errors already worded by a tool are returned
// unchanged.
func (c *call) problem(ctx context.Context, err error) error {
	var worded *tool.Error
	if errors.As(err, &worded) {
		return err
	}
	if e := rootProblem(err); e != nil {
		return e
	}
	code := fault.CodeOf(err)
	e := &tool.Error{Code: code, Message: err.Error(), Hint: sentence(fault.HintOf(err))}
	var path *fault.PathError
	var pattern *match.Error
	var glob *fault.GlobError
	var binary *fault.BinaryError
	var partly *change.PartialError
	inner := errors.Unwrap(err)
	if _, ok := inner.(fault.Code); ok {
		inner = nil // err already includes the message
	}
	switch {
	case errors.As(err, &partly):
		e.Message = render.Sentence(partly.Error())
	case errors.As(err, &pattern):
		c.badPattern(ctx, e, pattern)
	case errors.As(err, &glob):
		e.Message = fmt.Sprintf("Invalid glob %q: %s at position %d", fault.Clip(glob.Pattern, maxShown), glob.Reason, characters(glob.Pattern, glob.Offset)+1)
	case errors.As(err, &binary):
		e.Message = "Cannot read a binary file as text: it is " + binary.Type + ", " + render.Size(binary.Size)
	case errors.As(err, &path):
		c.badPath(e, path, code)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return err // the tool package words such errors
	case inner != nil:
		e.Message = render.Sentence(inner.Error()) // without the prefix, such as "edit a.txt: "
	default:
		e.Message = render.Sentence(e.Message)
	}
	if e.Code == fault.NotFound && e.Hint == "" {
		e.Hint = c.missing(ctx, c.path(ctx, "path"))
	}
	return e
}

// rootProblem words the errors that exist only with several roots; it returns nil for
// other errors.
func rootProblem(err error) error {
	var name *fault.RootError
	var between *change.AcrossError
	var several *change.SameIDError
	switch {
	case errors.As(err, &name):
		list := strings.Join(name.Names, ", ")
		if strings.Trim(name.Path, `./\`) == "" && !name.Outside {
			return &tool.Error{Code: fault.InvalidArgument, Message: "The path has to name a root: " + list, Hint: "Write " + name.Names[0] + "/…"}
		}
		if name.Outside || strings.HasPrefix(name.Path, "/") && len(name.Near) == 0 {
			return &tool.Error{Code: fault.OutsideRoot, Message: "Access denied: " + quoted(name.Path) + " is outside the roots " + list, Hint: "Write " + name.Names[0] + "/…"}
		}
		e := &tool.Error{Code: fault.NotFound, Message: quoted(name.Path) + " does not begin with the name of a root. The roots: " + list}
		e.Hint = "Write " + name.Names[0] + "/… for a path in " + name.Names[0] + "."
		if len(name.Near) > 0 {
			e.Hint = "Maybe " + strings.Join(names(name.Near), " or ") + " is meant."
		}
		return e
	case errors.As(err, &between):
		return &tool.Error{
			Code: fault.InvalidArgument, Message: quoted(between.From) + " and " + quoted(between.To) + " are in different roots; a change stays in one",
			Hint: "Make one call for each root. To move a file, write it in the other root and then delete it here.",
		}
	case errors.As(err, &several):
		return &tool.Error{Code: fault.InvalidArgument, Message: "Several roots have a change of this id", Hint: "Give one of " + strings.Join(several.IDs, ", ") + "."}
	}
	return nil
}

// sentence turns a hint of the library into a sentence.
func sentence(s string) string {
	if s = strings.TrimRight(s, "\n"); s == "" || strings.Contains(s, "\n") {
		return s
	}
	if s = render.Sentence(s); !strings.HasSuffix(s, ".") {
		s += "."
	}
	return s
}

// lookAround says how to find a path with the available tools.
func (e *env) lookAround() string {
	switch {
	case e.has("search_by_path"):
		return "Find the path with search_by_path or list_files."
	case e.has("list_files"):
		return "Find the path with list_files."
	}
	return ""
}

// hint returns advice to use a tool, if the tool is available.
func (e *env) hint(tool, text string) string {
	if e.has(tool) {
		return text
	}
	return ""
}

func (e *env) has(name string) bool { return slices.Contains(e.names, name) }

// maxShown limits the characters of a path in an error. Real paths are shorter.
const maxShown = 1000

func (c *call) badPath(e *tool.Error, path *fault.PathError, code fault.Code) {
	name := quoted(fault.Clip(path.Path, maxShown))
	switch code {
	case fault.ProtectedPath:
		e.Message = render.Error(render.Reading, path.Path, path)
		if !c.d.explains {
			e.Hint = ""
		}
	case fault.OutsideRoot:
		e.Message = "Access denied: " + name + " is outside the workspace"
		e.Hint = cmp.Or(e.Hint, "Write the path relative to the top of the workspace.")
		if strings.HasPrefix(path.Path, "/") {
			e.Hint = "Write the path relative to the top of the workspace, without the slash in front."
		}
	case fault.AmbiguousPath:
		e.Message = "Several paths match " + name + ": " + strings.Join(names(path.Matches), ", ")
		e.Hint = "Write the path exactly as it is."
	case fault.NotFound:
		e.Message = "Path not found: " + name
	case fault.AlreadyExists:
		e.Message = "Already exists: " + name
	case fault.Conflict:
		e.Message = name + " was changed meanwhile"
		var version *change.VersionError
		if errors.As(path, &version) {
			e.Message = name + " is not the expected version: " + version.Error()
		}
	case fault.ReadOnly:
		e.Message = "The workspace is open for reading only"
		e.Hint = ""
	default:
		if saysItself(path, code) {
			e.Message = render.Sentence(path.Err.Error())
			break
		}
		e.Message = name + ": " + pathReason(path, code)
	}
}

// saysItself reports whether the words of an error make sense without its path.
func saysItself(path *fault.PathError, code fault.Code) bool {
	return path.Err != nil && path.Kind == fault.InvalidArgument && code != fault.IOError
}

// pathReason returns the reason of a path error, without the path.
func pathReason(path *fault.PathError, code fault.Code) string {
	words := path.Kind.Words()
	if code == fault.IOError && path.Err != nil && path.Err.Error() != words {
		return words + ": " + path.Err.Error()
	}
	return words
}

func names(paths []string) []string {
	out := make([]string, len(paths))
	for i, p := range paths {
		out[i] = render.Path(p)
	}
	return out
}

// characters counts the characters before a byte offset.
func characters(s string, offset int) int {
	return utf8.RuneCountInString(s[:min(max(offset, 0), len(s))])
}

// badPattern words the error for an invalid regular expression.
func (c *call) badPattern(ctx context.Context, e *tool.Error, p *match.Error) {
	pattern, what := p.Pattern, "regex pattern"
	if c.tool.Name == "file_search" {
		what = "query"
	} else if c.tool.Name == "replace_in_files" && c.String("text") != "" {
		what = "text"
	}
	e.Message = fmt.Sprintf("Invalid %s \"%s\": %s", what, fault.Clip(render.Name(pattern), 200), p.Reason)
	e.Hint = p.Hint
	if pattern == "" { // the error is in one of several patterns or their combination
		e.Message = "Invalid patterns: " + p.Reason
		return
	}
	if c.d.position {
		e.Message += fmt.Sprintf(" (at position %d)", characters(pattern, p.Offset)+1)
	}
	switch {
	case p.Multiline: // no tool has a parameter for multiline mode
		e.Hint = "Lines are searched one by one: search for a part that lies on one line."
		if line := explain.LongestLine(pattern); line != "" && !strings.ContainsAny(line, `\[](){}*+?|^$`) {
			e.Hint = "Lines are searched one by one: search for one line of it, as " + quoted(fault.Clip(line, 80)) + "."
		}
		if c.tool.Name == "replace_in_files" {
			e.Hint = "A line feed at the end of the pattern takes the line's ending with it: to delete lines, match one whole line and \\n. To match across lines add multiline: true."
		}
	case p.ECMAScript && c.tool.Name != "search_files" && !c.d.pcre:
		e.Hint = "Write it without look-around and backreferences: this tool has no other syntax."
	case p.ECMAScript && c.d.lookAround != nil:
		e.Hint = c.d.lookAround(e.Hint)
	case looksLikeGlob(pattern):
		e.Hint = "This looks like a glob. Use file_pattern to choose the files that are searched"
		if c.has("search_by_path") {
			e.Hint += ", or search_by_path to find files by name"
		}
		e.Hint += "."
	case c.d.explains && c.tool.Name == "search_files":
		if p.Glob { // not sure, because *skb = NULL also looks like a glob
			e.Hint = ""
		}
		plain := "To find it as plain text: " + c.other("file_search", "query", pattern) + "."
		if c.takes("literal") {
			plain = "To find it as plain text: literal: true."
		}
		l := &explain.Look{Files: c.ws, Scan: !c.indexed(ctx)}
		q := search.Query{Pattern: pattern, Scope: search.Scope{Paths: []string{c.path(ctx, "path")}}}
		if found := c.said(l.Plain(ctx, q), &q, ""); len(found) > 0 {
			plain = render.Sentence(found[0]) + "."
		}
		e.Hint = strings.TrimSpace(e.Hint + " " + plain)
	}
}

// globs matches the usual globs for file names: *.ts, **/x, src/*.go.
var globs = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(\*\.\w|\*\*/|!?[\w.*-]+(/[\w.*-]+)+$)`)
})

// looksLikeGlob reports whether a pattern names files rather than text.
func looksLikeGlob(s string) bool {
	return strings.Contains(s, "*") && globs().MatchString(s) && !strings.ContainsAny(s, ` =;\()|^$+`)
}

func invalid(format string, args ...any) error {
	return tool.Errorf(fault.InvalidArgument, format, args...)
}

// reasonOf returns the reason of a pattern error, without the pattern.
func reasonOf(err error) string {
	var glob *fault.GlobError
	if errors.As(err, &glob) {
		return glob.Reason
	}
	return err.Error()
}
