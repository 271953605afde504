package config

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"

	"quarry/internal/value"
)

// lineOf returns the line of a node.
func lineOf(p *unstable.Parser, n *unstable.Node) int {
	if n == nil || n.Raw.Length == 0 {
		return 1
	}
	return p.Shape(n.Raw).Start.Line
}

// syntaxProblem returns where the parser stopped and why.
func syntaxProblem(p *unstable.Parser, err error) (line int, problem string) {
	var pe *unstable.ParserError
	if !errors.As(err, &pe) {
		return 1, err.Error()
	}
	at := min(int(p.Range(pe.Highlight[:0]).Offset), len(p.Data()))
	return 1 + bytes.Count(p.Data()[:at], []byte("\n")), pe.Message
}

// keyParts returns the parts of a dotted key, and its first node.
func keyParts(it unstable.Iterator) (parts []string, first *unstable.Node) {
	for it.Next() {
		if first == nil {
			first = it.Node()
		}
		parts = append(parts, string(it.Node().Data))
	}
	return parts, first
}

// joinKey formats a dotted key.
func joinKey(parts []string) string {
	out := make([]string, len(parts))
	for i, p := range parts {
		out[i] = p
		if !value.BareKey(p) {
			out[i] = fmt.Sprintf("%q", p)
		}
	}
	return strings.Join(out, ".")
}
