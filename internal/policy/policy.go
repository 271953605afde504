// Package policy decides, by name and path only, which files of a workspace may be read
// or changed. It opens no files: rootfs calls it before opening one.
//
// The invariant: a name is recognized in every spelling under which some file system
// opens the same file.
package policy

import (
	"fmt"
	"slices"
	"strings"

	"quarry/internal/glob"
)

// Rules are the server owner's additions to the built-in policy. Tool calls can't change
// them.
type Rules struct {
	// Deny lists gitignore-style globs of files that are denied, with everything below
	// them. They ignore case and take precedence over Allow.
	Deny []string
	// Allow lists gitignore-style globs of files that are allowed although their names
	// are those of secrets. Protected folders can't be allowed.
	Allow []string
	// AllowSecrets allows all files with names of secrets.
	AllowSecrets bool
}

// Verdict is the policy's decision about an entry.
type Verdict uint8

const (
	Allowed Verdict = iota
	// Unlisted entries can be opened by name, but are not listed or searched: trashes,
	// and Quarry's temporary files.
	Unlisted
	// Secret means that the file's name is one of a file with credentials.
	Secret
	// Denied means that the owner's rules deny the entry.
	Denied
	// Protected means a protected folder or an entry in one.
	Protected
)

// Refused reports whether the entry may not be opened.
func (v Verdict) Refused() bool { return v >= Secret }

func (v Verdict) String() string {
	return [...]string{"allowed", "unlisted", "secret", "denied", "protected"}[v]
}

// Policy decides, by name and path only, which files may be used. It is immutable. A nil
// Policy allows everything.
type Policy struct {
	deny, denyFolded, allow []*glob.Glob
	allowSecrets            bool
}

// New compiles the owner's rules and adds the built-in ones.
func New(rules Rules) (*Policy, error) {
	p := &Policy{allowSecrets: rules.AllowSecrets}
	for _, s := range rules.Deny {
		g, err := compileRule("deny", s)
		if err != nil {
			return nil, err
		}
		f, err := compileRule("deny", strings.ToLower(s))
		if err != nil {
			return nil, err
		}
		p.deny, p.denyFolded = append(p.deny, g), append(p.denyFolded, f)
	}
	for _, s := range rules.Allow {
		g, err := compileRule("allow", s)
		if err != nil {
			return nil, err
		}
		p.allow = append(p.allow, g)
	}
	return p, nil
}

func compileRule(list, s string) (*glob.Glob, error) {
	trimmed := strings.TrimSuffix(s, "/") // a rule for a folder always includes its contents
	if strings.TrimSpace(trimmed) == "" {
		return nil, fmt.Errorf("%s rule %q is empty", list, s)
	}
	if strings.HasPrefix(trimmed, "!") {
		return nil, fmt.Errorf("%s rule %q: negation is not possible here, use the other list", list, s)
	}
	g, err := glob.Compile(trimmed, glob.Gitignore)
	if err != nil {
		return nil, fmt.Errorf("%s rule %q: %w", list, s, err)
	}
	return g, nil
}

// Name returns the verdict on a name, without the owner's globs. It does not allocate.
// Secret applies only to files; the caller must check the type.
func (p *Policy) Name(name string) Verdict {
	if p == nil {
		return Allowed
	}
	switch classify(name) {
	case protectedName:
		return Protected
	case hiddenFromLists:
		return Unlisted
	case secretName:
		if !p.allowSecrets {
			return Secret
		}
	}
	return Allowed
}

// Entry returns the verdict on an entry of the folder dir, which must itself be allowed.
// "" and "." are the root. Without owner's globs, Entry does not allocate.
func (p *Policy) Entry(dir, name string, isDir bool) Verdict {
	v := p.in(dir, name)
	if v == Protected || p == nil {
		return v
	}
	if v == Secret && isDir {
		v = Allowed
	}
	if len(p.deny) == 0 && (v != Secret || len(p.allow) == 0) {
		return v
	}
	full := name
	if dir != "" && dir != "." {
		full = dir + "/" + name
	}
	if p.denied(full) {
		return Denied
	}
	if v == Secret && p.allowed(full) {
		return Allowed
	}
	return v
}

// Path returns the strictest verdict on any component of a path. "" and "." are the root,
// which is allowed. isDir is set if the last component is, or will be, a folder.
func (p *Policy) Path(path string, isDir bool) Verdict {
	if p == nil || path == "." {
		return Allowed
	}
	worst := Allowed
	for start := 0; start < len(path); {
		end := strings.IndexByte(path[start:], '/')
		last := end < 0
		if last {
			end = len(path)
		} else {
			end += start
		}
		v := p.in(path[:max(start-1, 0)], path[start:end])
		if v == Secret && (!last || isDir || p.allowed(path)) {
			v = Allowed
		}
		if len(p.deny) > 0 && v < Denied && p.denied(path[:end]) {
			v = Denied
		}
		worst = max(worst, v)
		start = end + 1
	}
	return worst
}

// in returns the verdict on a name in a folder. In a trash, it includes the entry's
// original name.
func (p *Policy) in(dir, name string) Verdict {
	v := p.Name(name)
	if p == nil || v >= Secret {
		return v
	}
	if InTrash(dir) {
		v = max(v, p.Name(untrashed(name)))
	}
	if v == Allowed && !p.allowSecrets && isSecretIn(dir, name) {
		v = Secret
	}
	return v
}

// ClosesTrash reports whether a path given by a caller must be refused because it is in a
// trash and the owner denies something. An item in a trash has lost its path, so no glob
// can tell whether it came from a denied folder.
func (p *Policy) ClosesTrash(path string) bool {
	if p == nil || len(p.deny) == 0 {
		return false
	}
	first, _, _ := strings.Cut(path, "/")
	return p.Name(first) == Unlisted || InTrash(path)
}

// ByPlace reports whether a verdict may depend on an entry's folder. This is the case
// only with owner's globs.
func (p *Policy) ByPlace() bool { return p != nil && len(p.deny)+len(p.allow) > 0 }

func (p *Policy) denied(path string) bool {
	if len(p.deny) == 0 {
		return false
	}
	folded := strings.ToLower(path)
	for i := range p.deny {
		if p.deny[i].Match(path) || p.denyFolded[i].Match(folded) {
			return true
		}
	}
	return false
}

func (p *Policy) allowed(path string) bool {
	return slices.ContainsFunc(p.allow, func(g *glob.Glob) bool { return g.Match(path) })
}

// ProtectedFolder returns the first protected folder in a path, with a slash, for
// messages. It returns "" if there is none.
func ProtectedFolder(path string) string {
	for name := range strings.SplitSeq(path, "/") {
		if classify(name) == protectedName {
			return protectedFolder(name)
		}
	}
	return ""
}

// IsSecret reports whether a path is one of a file that contains credentials.
func IsSecret(path string) bool { return classAt(path) == secretName }

// IsSuspect reports whether a path is one of a file that may contain credentials.
func IsSuspect(path string) bool { return classAt(path) == suspectName }

// classAt returns the class of a file with the given path.
func classAt(path string) class {
	slash := strings.LastIndexByte(path, '/')
	dir, name := path[:max(slash, 0)], path[slash+1:]
	c := classify(name)
	if InTrash(dir) {
		c = max(c, classify(untrashed(name)))
	}
	if c == plainName && isSecretIn(dir, name) {
		return secretName
	}
	return c
}

// ByContent reports whether the verdict on a file depends on its content: it is a secret
// if HoldsCredential returns true.
func (p *Policy) ByContent(path string) bool {
	return p != nil && !p.allowSecrets && IsSuspect(path) && !p.allowed(path)
}

// AllowRule returns the rule that allows exactly one secret file.
func AllowRule(path string) string {
	return "/" + strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "]", `\]`, "{", `\{`, "}", `\}`).Replace(path)
}

// ByFolder reports whether files in a folder may be secrets because of the folder's name.
func ByFolder(dir string) bool {
	for _, s := range secretInFolder {
		if isSecretIn(dir, s[1]) {
			return true
		}
	}
	return false
}
