package rootfs

import (
	"os"
	"path/filepath"
	"strings"
)

// DenyPlaces returns deny rules for the absolute paths that are beneath root. The paths need
// not exist.
func DenyPlaces(root string, places []string) []string {
	top := RealPath(root)
	var rules []string
	for _, place := range places {
		if place == "" {
			continue
		}
		rel, err := filepath.Rel(top, RealPath(place))
		if err != nil || !filepath.IsLocal(rel) || rel == "." {
			continue
		}
		var rule strings.Builder
		rule.WriteByte('/')
		for _, r := range filepath.ToSlash(rel) {
			if strings.ContainsRune(`*?[]{}!#\\ `, r) {
				rule.WriteByte('\\')
			}
			rule.WriteRune(r)
		}
		rules = append(rules, rule.String())
	}
	return rules
}

// RealPath resolves the symlinks in the existing part of an absolute path. It replaces a dangling link by its
// target.
func RealPath(p string) string {
	abs, err := filepath.Abs(p)
	if err != nil {
		return p
	}
	rest, links := "", 0
	for dir := abs; ; {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(real, rest)
		}
		if to, err := os.Readlink(dir); err == nil && links < maxLinks {
			if !filepath.IsAbs(to) {
				to = filepath.Join(filepath.Dir(dir), to)
			}
			dir, links = to, links+1
			continue
		}
		up := filepath.Dir(dir)
		if up == dir {
			return abs
		}
		rest, dir = filepath.Join(filepath.Base(dir), rest), up
	}
}
