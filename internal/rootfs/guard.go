package rootfs

import "quarry/internal/policy"

// guard applies the policy to Paths and turns refusals into errors.
type guard struct{ *policy.Policy }

// Entry checks an entry of a listing of dir, which has passed the check itself.
func (g guard) Entry(dir Path, name string, isDir bool) policy.Verdict {
	return g.Policy.Entry(dir.s, name, isDir)
}

// Path judges a whole path.
func (g guard) Path(p Path, isDir bool) policy.Verdict { return g.Policy.Path(p.s, isDir) }

// check turns a refusal of path into an error about shown.
func (g guard) check(op, shown string, path Path, isDir bool) error {
	v := g.Path(path, isDir)
	if !v.Refused() {
		return nil
	}
	return g.refusal(op, shown, path, v)
}

func (g guard) refusal(op, shown string, path Path, v policy.Verdict) error {
	e := &Error{Op: op, Path: shown, Kind: Protected, Rule: v.String(), Name: path.Base()}
	if v == policy.Protected {
		e.Name = policy.ProtectedFolder(path.s)
	}
	return e
}

// tempPrefix starts the name of every temporary file we make.
const tempPrefix = policy.TempPrefix
