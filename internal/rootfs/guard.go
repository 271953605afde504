package rootfs

import (
	"io"

	"quarry/fault"
	"quarry/internal/policy"
)

// guard applies the policy to Paths and converts refusals to errors.
type guard struct{ *policy.Policy }

// Entry checks an entry of the listing of dir, which the policy allows.
func (g guard) Entry(dir Path, name string, isDir bool) policy.Verdict {
	return g.Policy.Entry(dir.s, name, isDir)
}

// Path checks a whole path.
func (g guard) Path(p Path, isDir bool) policy.Verdict { return g.Policy.Path(p.s, isDir) }

// check returns an error about shown if the policy refuses path.
func (g guard) check(op, shown string, path Path, isDir bool) error {
	v := g.Path(path, isDir)
	if !v.Refused() {
		return nil
	}
	return g.refusal(op, shown, path, v)
}

func (g guard) refusal(op, shown string, path Path, v policy.Verdict) error {
	e := &fault.PathError{Op: op, Path: shown, Kind: fault.ProtectedPath, Rule: v.String(), Name: path.Base()}
	switch v {
	case policy.Protected:
		e.Name = policy.ProtectedFolder(path.s)
	case policy.Secret:
		e.Allow = policy.AllowRule(path.s)
	}
	return e
}

// admit refuses and closes a file whose content makes it a secret.
func (g guard) admit(f *File, path Path, err error) (*File, error) {
	if err != nil || !g.ByContent(path.s) {
		return f, err
	}
	closed := f.Info().Size > policy.MaxJudged
	if !closed {
		text := make([]byte, f.Info().Size)
		n, err := f.ReadAt(text, 0)
		if err != nil && err != io.EOF {
			f.Close()
			return nil, err
		}
		closed = policy.IsSecretText(text[:n])
	}
	if !closed {
		return f, nil
	}
	f.Close()
	return nil, g.refusal("open", path.String(), path, policy.Secret)
}

// tempPrefix is the prefix of all our temporary files.
const tempPrefix = policy.TempPrefix
