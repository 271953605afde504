package rename

import (
	"go/types"
	"slices"
	"strings"
)

// libraryMethods lists methods that packages of Go's library call if a type has them, with
// their parameters and results; * is any. The list is needed because the library's
// interfaces are not read.
var libraryMethods = []struct{ packages, form, names string }{
	{"sort container/heap", "() int", "Len"}, {"sort container/heap", "(int, int) bool", "Less"}, {"sort container/heap", "(int, int)", "Swap"},
	{"container/heap", "(any)", "Push"}, {"container/heap", "() any", "Pop"},
	{"", "() string", "Error"}, {"fmt", "() string", "String GoString"}, {"fmt", "*", "Format Scan"},
	{"errors", "() error", "Unwrap"}, {"errors", "() []error", "Unwrap"}, {"errors", "(error) bool", "Is"}, {"errors", "(any) bool", "As"},
	{"io bufio", "() error", "Close"}, {"io bufio fmt", "([]byte) (int, error)", "Read Write"}, {"io", "([]byte, int64) (int, error)", "ReadAt WriteAt"},
	{"io", "(int64, int) (int64, error)", "Seek"}, {"io", "(string) (int, error)", "WriteString"}, {"io", "*", "ReadFrom WriteTo"},
	{"io", "() (byte, error)", "ReadByte"}, {"io", "(byte) error", "WriteByte"}, {"io", "() (rune, int, error)", "ReadRune"},
	{"net/http", "*", "ServeHTTP RoundTrip WriteHeader Hijack Header"}, {"net/http", "()", "Flush"}, {"net net/http", "() bool", "Timeout Temporary"},
	{"encoding encoding/json", "*", "MarshalJSON UnmarshalJSON MarshalText UnmarshalText MarshalBinary UnmarshalBinary"},
	{"encoding/xml", "*", "MarshalXML UnmarshalXML MarshalXMLAttr UnmarshalXMLAttr"}, {"encoding/gob", "*", "GobEncode GobDecode"},
	{"flag", "(string) error", "Set"}, {"flag", "() any", "Get"}, {"flag", "() bool", "IsBoolFlag"},
	{"sync", "()", "Lock Unlock"}, {"hash", "([]byte) []byte", "Sum"}, {"hash", "()", "Reset"}, {"hash", "() int", "Size BlockSize"},
	{"log/slog", "*", "LogValue Handle Enabled WithAttrs WithGroup"}, {"database/sql", "*", "Value Scan"},
	{"io/fs", "*", "Open Stat ReadDir ReadFile Glob Sub Name Mode ModTime IsDir Sys Type Info"}, {"context", "*", "Deadline Done Err Value"},
}

// mayBeCalled reports whether an imported package of the library may call fn through an
// interface.
func mayBeCalled(fn *types.Func) bool {
	sig := fn.Signature()
	if sig.Recv() == nil {
		return false
	}
	unnamed := func(t *types.Tuple) *types.Tuple {
		var vars []*types.Var
		for v := range t.Variables() {
			vars = append(vars, types.NewVar(v.Pos(), v.Pkg(), "", v.Type()))
		}
		return types.NewTuple(vars...)
	}
	form := strings.TrimPrefix(types.TypeString(types.NewSignatureType(nil, nil, nil, unnamed(sig.Params()), unnamed(sig.Results()), sig.Variadic()), nil), "func")
	for _, a := range libraryMethods {
		if !slices.Contains(strings.Fields(a.names), fn.Name()) || a.form != "*" && a.form != form {
			continue
		}
		if a.packages == "" || fn.Pkg() != nil && slices.ContainsFunc(fn.Pkg().Imports(), func(p *types.Package) bool { return slices.Contains(strings.Fields(a.packages), p.Path()) }) {
			return true
		}
	}
	return false
}
