package fault

import (
	"io/fs"
	"strconv"
	"strings"
)

// PathError describes a problem with a path. Every refusal of the sandbox and of the file
// system is a PathError.
type PathError struct {
	Op   string // "open", "resolve", "replace", …
	Path string // as the user wrote it, or relative to the root; never an absolute path of ours
	Kind Code   // may be finer than CodeOf
	Name string // ProtectedPath: the protected name, such as ".git/" or "id_rsa"
	// Rule is the policy rule that closes a ProtectedPath: "secret", "denied" or
	// "protected".
	Rule    string
	Allow   string   // Rule "secret": the glob by which the owner allows the file
	Matches []string // AmbiguousPath: the matching entries
	Err     error    // the system's error, may be nil
}

func (e *PathError) Error() string {
	var b strings.Builder
	b.WriteString(e.Op)
	b.WriteByte(' ')
	b.WriteString(Printable(e.Path))
	b.WriteString(": ")
	b.WriteString(e.Kind.Words())
	if e.Name != "" {
		b.WriteString(": ")
		b.WriteString(Printable(e.Name))
	}
	for i, m := range e.Matches {
		b.WriteString([]string{": ", ", "}[min(i, 1)])
		b.WriteString(Printable(m))
	}
	if e.Err != nil && e.Err.Error() != e.Kind.Words() {
		b.WriteString(": ")
		b.WriteString(e.Err.Error())
	}
	return b.String()
}

// Code returns the reported code of the error.
func (e *PathError) Code() Code { return e.Kind.Code() }

// Hint tells how the owner can allow a file that looks like a secret.
func (e *PathError) Hint() string {
	if e.Allow == "" {
		return ""
	}
	return "it looks like a secret; the server's owner can allow it by a line of quarry.toml: mcp.allow = [" + strconv.Quote(e.Allow) + "]"
}

// Unwrap returns the system's error.
func (e *PathError) Unwrap() error { return e.Err }

// Is matches codes, fine and reported, and the corresponding errors of package fs.
func (e *PathError) Is(target error) bool {
	switch target {
	case fs.ErrNotExist:
		return e.Kind == NotFound
	case fs.ErrExist:
		return e.Kind == AlreadyExists
	case fs.ErrPermission:
		return e.Kind == Permission
	}
	code, ok := target.(Code)
	return ok && (code == e.Kind || code == e.Kind.Code())
}

// ErrNotText is returned for a binary file where text is needed.
var ErrNotText = New(NotText, "not a text file", "")

// BinaryError says that a file is not text, and its apparent type.
type BinaryError struct {
	Type string // "PNG image", or "binary data"
	Size int64
}

func (e *BinaryError) Error() string {
	return "not a text file (" + e.Type + ", " + formatSize(e.Size) + ")"
}

// Unwrap returns ErrNotText, which has the code.
func (e *BinaryError) Unwrap() error { return ErrNotText }

func formatSize(n int64) string {
	switch {
	case n == 1:
		return "1 byte"
	case n < 1<<10:
		return strconv.FormatInt(n, 10) + " bytes"
	}
	v, unit := float64(n)/1024, 0
	for v >= 1023.95 && unit < 3 {
		v, unit = v/1024, unit+1
	}
	return strconv.FormatFloat(v, 'f', 1, 64) + [...]string{" KB", " MB", " GB", " TB"}[unit]
}

// GlobError says where and why a glob can't be compiled.
type GlobError struct {
	Pattern string
	Offset  int    // in bytes, of the character that Reason is about
	Reason  string // lower case, without the pattern
}

func (e *GlobError) Error() string {
	return "glob " + strconv.Quote(Clip(e.Pattern, 200)) + ": " + e.Reason + " at offset " + strconv.Itoa(e.Offset)
}

// Unwrap returns the code.
func (e *GlobError) Unwrap() error { return InvalidPattern }
