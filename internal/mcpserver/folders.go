package mcpserver

import (
	"context"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type foldersKey struct{}

// foldersTime is how long a change waits for the client to list its working folders.
const foldersTime = 500 * time.Millisecond

// ClientFolders returns the client's working folders, or nil if the client does not list
// them.
func ClientFolders(ctx context.Context) []string {
	if ask, ok := ctx.Value(foldersKey{}).(func() []string); ok {
		return ask()
	}
	return nil
}

// withFolders lets a call request the client's folders. From protocol 2026-07-28 on a
// server can request something only in an answer, so calls then run without the folders.
func withFolders(ctx context.Context, session *mcp.ServerSession) context.Context {
	p := session.InitializeParams()
	//lint:ignore SA1019 clients of older protocols declare roots, and only these are asked
	if p == nil || p.ProtocolVersion >= firstStateless || p.Capabilities == nil || p.Capabilities.RootsV2 == nil {
		return ctx
	}
	return context.WithValue(ctx, foldersKey{}, func() (dirs []string) {
		ctx, cancel := context.WithTimeout(ctx, foldersTime)
		defer cancel()
		//lint:ignore SA1019 as above
		res, err := session.ListRoots(ctx, nil)
		if err != nil {
			return nil
		}
		for _, r := range res.Roots {
			if dir, ok := filePath(r.URI); ok {
				if len(dir) > 2 && dir[2] == ':' { // /C:/work
					dir = dir[1:]
				}
				dirs = append(dirs, filepath.FromSlash(dir))
			}
		}
		return dirs
	})
}

// filePath returns the path in a file URI, with slashes. On Windows, a host in the URI is
// a network share. Some programs make invalid URIs by joining file:// and a path, such as
// file://C:\work\a.txt; these are accepted.
func filePath(uri string) (string, bool) {
	if runtime.GOOS == "windows" {
		uri = strings.ReplaceAll(uri, `\`, "/")
	}
	u, err := url.Parse(uri)
	switch {
	case err != nil || u.Scheme != "file":
		return "", false
	case u.Host == "" || u.Host == "localhost":
		return u.Path, true
	case runtime.GOOS != "windows":
		return "", false
	case len(u.Host) == 2 && u.Host[1] == ':':
		return "/" + u.Host + u.Path, true
	}
	return "//" + u.Host + u.Path, true
}
