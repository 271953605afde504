package profile

import (
	"context"
	"strings"

	"quarry/internal/render"
)

// Path arguments, as models write them: with a slash in front, white space
// around them, or as the base64 that an answer gave.

// path is a path argument. White space around it is dropped if no such path
// exists. Where a leading slash is the top of the workspace, the workspace's own
// absolute path is taken off first.
func (c *call) path(ctx context.Context, name string) string { return c.clean(ctx, c.String(name)) }

// clean is a path as a caller wrote it.
func (c *call) clean(ctx context.Context, given string) string {
	p := render.ParseName(given)
	if p != given {
		return p // an exact name
	}
	if bare := strings.TrimSpace(p); bare != p && bare != "" {
		if _, err := c.ws.Stat(ctx, p); err != nil {
			p = bare
		}
	}
	if !c.d.slashIsTop || p == "" {
		return p
	}
	if rel, inside := c.ws.Inside(p); inside {
		p = rel
	}
	if p = strings.TrimLeft(p, `/\`); p == "" {
		return "."
	}
	return p
}

// givenPath is a path argument that must not be blank.
func (c *call) givenPath(ctx context.Context, name string) (string, error) {
	p := c.path(ctx, name)
	if strings.TrimSpace(p) == "" {
		return "", invalid("%s is required and must be a non-empty string.", name)
	}
	return p, nil
}

// newPath is the path of something that may not exist yet. A slash in front of a
// single name is the top of the workspace; with several names it may be an
// absolute path, which only the sandbox can tell.
func (c *call) newPath(ctx context.Context, name string) (string, error) {
	p, err := c.givenPath(ctx, name)
	if rest, ok := strings.CutPrefix(p, "/"); ok && !strings.ContainsAny(rest, `/\`) {
		if _, inside := c.ws.Inside(p); !inside && rest != "" {
			p = rest
		}
	}
	return p, err
}

// into is a destination: one that ends in a slash is a folder, and what is moved
// keeps its name in it.
func into(destination, source string) string {
	if folder := strings.TrimRight(destination, `/\`); folder != destination {
		if folder == "" || folder == "." {
			return baseName(source)
		}
		return folder + "/" + baseName(source)
	}
	return destination
}
