package quarry

import "context"

// ReadBytes returns the bytes of a file as they are, text or not. One over max
// bytes is refused; 0 is 1 GiB.
func (w *Workspace) ReadBytes(_ context.Context, path string, max int64) ([]byte, error) {
	if w.root == nil {
		return nil, ErrNotText
	}
	p, err := w.root.ResolveFold(path)
	if err != nil {
		return nil, err
	}
	data, _, err := w.root.ReadContent(p, max)
	return data, err
}
