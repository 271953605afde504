package rootfs

import "quarry/fault"

// TruePath returns the path of the root in the kernel's spelling, as in events.
func (r *Root) TruePath() (string, error) {
	path, err := r.sys.root().Path(".")
	return path, Wrap("open", ".", err)
}

// Touch makes an empty file in a folder of our own to cause an event. It doesn't sync. remove
// deletes the file.
func (r *Root) Touch(name string) (remove func(), err error) {
	if r.policy.Policy != nil {
		return nil, &fault.PathError{Op: "create", Path: name, Kind: fault.InvalidArgument, Err: errNotTrusted}
	}
	top := r.sys.root()
	f, err := top.Create(name, 0o600)
	if err != nil {
		return nil, Wrap("create", name, err)
	}
	f.Close()
	return func() { top.Remove(name) }, nil
}
