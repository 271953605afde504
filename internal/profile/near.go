package profile

import (
	"context"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"quarry"
)

// missing says, for a path that isn't there, what may be meant: the same path
// in another letter case, without what was copied along with it, or a file of
// that name elsewhere. It spares a model the call that would find out.
func (c *call) missing(ctx context.Context, given string) string {
	if !c.union() || strings.TrimSpace(given) == "" {
		return c.lookAround()
	}
	if info, err := c.ws.Stat(ctx, given); err == nil { // for reading any case will do
		return "There is " + quoted(info.Path) + ": to change something, write its path exactly."
	}
	if bare := bareName(given); bare != given {
		if info, err := c.ws.Stat(ctx, bare); err == nil {
			return "There is " + quoted(info.Path) + "; give the path alone."
		}
	}
	if plain, err := url.PathUnescape(bareName(given)); err == nil && plain != bareName(given) {
		if info, err := c.ws.Stat(ctx, plain); err == nil {
			return "There is " + quoted(info.Path) + ": write the path without percent-encoding."
		}
	}
	if s := c.sameName(ctx, baseName(bareName(given))); s != "" {
		return s
	}
	return c.lookAround()
}

// place is what search results write behind a path: :12, :12:5, :12-20, #L12.
var place = regexp.MustCompile(`(:\d+([:-]\d+)?|#L\d+(-L?\d+)?):?$`)

// bareName is a path without what results and addresses add to it.
func bareName(given string) string {
	p := strings.Trim(strings.TrimSpace(given), "`\"'")
	p = strings.TrimPrefix(p, "file://")
	return place.ReplaceAllString(p, "")
}

// sameName names the files that are called so, in any letter case.
func (c *call) sameName(ctx context.Context, name string) string {
	if name == "." || name == ".." || name == "/" || strings.ContainsAny(name, "*?") {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, c.o.WiderTime)
	defer cancel()
	q := quarry.FindQuery{Scope: quarry.Scope{Globs: []string{"**/" + name}, Dialect: quarry.Vault}, Limit: zeroNames}
	r, err := c.ws.Find(ctx, q)
	if err != nil || r.Total == 0 {
		return ""
	}
	var found []string
	for _, e := range r.Entries {
		found = append(found, e.Path)
	}
	switch list := strings.Join(names(found), ", "); {
	case r.Total == 1:
		return "There is " + list + "."
	case r.Total <= len(found):
		return "Files of that name: " + list + "."
	default:
		return fmt.Sprintf("%d files have that name, the first: %s.", r.Total, list)
	}
}
