package profile

import (
	"context"
	"time"

	"quarry/internal/render"
	"quarry/search"
)

// infoAnswer is the answer of get_file_info.
type infoAnswer struct {
	foundPath
	Folder   bool      `json:"folder"`
	Size     int64     `json:"size"`
	Created  time.Time `json:"created,omitzero"`
	Modified time.Time `json:"modified"`
}

const infoSchema = `{"type":"object","properties":{"path":{"type":"string"},"folder":{"type":"boolean"},"size":{"type":"integer"},"created":{"type":"string"},"modified":{"type":"string"}},"required":["path","folder","size","modified"]}`

var getFileInfo = act(infoSchema, readOnly,
	func(ctx context.Context, c *call) (string, error) { return c.givenFile(ctx, "path") },
	func(ctx context.Context, c *call, path string) (*search.Info, error) { return c.ws.Stat(ctx, path) },
	func(_ context.Context, c *call, _ string, info *search.Info) (*answer, error) {
		if info.Folder {
			info.Size = 0
		}
		data := &infoAnswer{pathOf(info.Path), info.Folder, info.Size, utc(info.Created), info.ModTime.UTC()}
		return &answer{text: render.Info(nil, info, c.o.Zone), data: data}, nil
	})

func utc(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return t.UTC()
}
