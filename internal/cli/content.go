package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"quarry/internal/cli/env"
	"quarry/internal/cli/printing"
	"quarry/internal/content"
	"quarry/internal/glob"
)

// contents returns a function that decodes files according to -z, -E, --pre and --null-data; nil if
// none is given. The programs it starts are stopped when ctx is done.
func (f *searchFlags) contents(ctx context.Context) (func(path string, r io.Reader) (io.ReadCloser, error), error) {
	o := content.Options{Zip: f.zip, Command: f.pre}
	if f.encoding != "none" {
		o.Encoding = f.encoding
	}
	if f.pre == "" && !f.zip && !f.nulData && (o.Encoding == "" || o.Encoding == "auto") {
		return nil, nil
	}
	if f.pre != "" && len(f.preGlobs) > 0 {
		filter, err := glob.CompileFilter(glob.Gitignore, f.preGlobs...)
		if err != nil {
			return nil, err
		}
		o.Wanted = func(path string) bool { return filter.Match(strings.TrimLeft(filepath.ToSlash(path), "./")) }
	}
	maker, err := content.New(o)
	if err != nil {
		return nil, err
	}
	return func(path string, r io.Reader) (io.ReadCloser, error) {
		text, err := maker.Text(ctx, path, r)
		if err == nil && f.nulData {
			text = &swapped{text}
		}
		return text, err
	}, nil
}

// swapped reads a text with NUL and line feed exchanged, so that a record that ends with NUL
// becomes a line. The printer exchanges them back.
type swapped struct{ io.ReadCloser }

func (s *swapped) Read(b []byte) (int, error) {
	n, err := s.ReadCloser.Read(b)
	printing.SwapNUL(b[:n])
	return n, err
}

// ignoreRules returns the rules in the files of --ignore-file. They are relative to the current
// folder; here is its path below the root.
func (f *searchFlags) ignoreRules(complain func(error)) []string {
	if f.noIgnoreFiles {
		return nil
	}
	var rules []string
	for _, name := range f.ignoreFiles {
		data, err := os.ReadFile(name)
		if err != nil {
			complain(env.PathError(name, err))
			continue
		}
		for line := range bytes.Lines(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))) {
			if rule := strings.TrimRight(string(line), "\r\n"); rule != "" && rule[0] != '#' {
				rules = append(rules, rule)
			}
		}
	}
	return rules
}

// rebased makes rules relative to the root instead of the folder here. Only rules with a slash
// change, because only these match paths.
func rebased(rules []string, here string) []string {
	if here == "" || here == "." {
		return rules
	}
	moved := slices.Clone(rules)
	for i, rule := range moved {
		not := ""
		if strings.HasPrefix(rule, "!") {
			not, rule = "!", rule[1:]
		}
		if strings.Contains(strings.TrimSuffix(rule, "/"), "/") {
			rule = "/" + here + "/" + strings.TrimPrefix(rule, "/")
		}
		moved[i] = not + rule
	}
	return moved
}

// hostName returns the value of {host} in links.
func (f *searchFlags) hostName() (string, error) {
	if f.hostname == "" {
		name, _ := os.Hostname()
		return name, nil
	}
	out, err := exec.Command(f.hostname).Output()
	if err != nil {
		return "", fmt.Errorf("--hostname-bin %s: %w", f.hostname, err)
	}
	return strings.TrimSpace(string(out)), nil
}
