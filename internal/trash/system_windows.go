package trash

import (
	"errors"
	"iter"
	"path/filepath"

	"golang.org/x/sys/windows"

	"quarry/fault"
	"quarry/internal/rootfs"
	"quarry/internal/rootfs/mounts"
)

const systemSupported = true

// SystemClosed returns false. Only macOS denies programs access to its trash.
func SystemClosed(string) bool { return false }

const binName = "$Recycle.Bin"

// desktopINI makes Explorer show the folder as the recycle bin.
const desktopINI = "[.ShellClassInfo]\r\nCLSID={645FF040-5081-101B-9F08-00AA002F954E}\r\nLocalizedResourceName=@%SystemRoot%\\system32\\shell32.dll,-8964\r\n"

// systemDestinations yields the user's folder in the recycle bin of p's volume.
func (b *Bin) systemDestinations(p rootfs.Path) iter.Seq2[*can, error] {
	return func(yield func(*can, error) bool) {
		yield(b.recycleBin(filepath.Join(b.ws.RealDir(), filepath.FromSlash(p.Dir().String())), true))
	}
}

func (b *Bin) systemExisting(yield func(*can, error) bool) {
	yield(b.recycleBin(b.ws.RealDir(), false))
}

var errShare = errors.New("a network share has no recycle bin")

// recycleBin opens the user's own folder in the recycle bin of the volume that contains
// dir. Explorer creates it at the first deletion there.
func (b *Bin) recycleBin(dir string, create bool) (*can, error) {
	if b.ws.FSKind() == rootfs.FSNetwork {
		return nil, errShare
	}
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return nil, err
	}
	top, open := b.opts.DataDir, b.openDir
	if top == "" {
		if top, err = mounts.Top(dir); err != nil {
			return nil, err
		}
	} else if create {
		open = b.makeDir
	}
	root, err := open(top)
	if isNotExist(err) {
		return nil, fault.NotFound
	}
	if err != nil {
		return nil, err
	}
	bin, err := root.Known(binName)
	var own rootfs.Path
	if err == nil {
		own, err = bin.Child(user.User.Sid.String())
	}
	if err == nil && create {
		err = makeRecycleBin(root, bin, own)
	}
	if err == nil {
		err = mustBeDir(root, own)
	}
	if err != nil {
		root.Close()
		return nil, err
	}
	shown := filepath.ToSlash(filepath.Join(root.RealDir(), binName, own.Base()))
	return &can{root: root, files: own, info: own, recycled: true, shown: shown}, nil
}

func makeRecycleBin(root *rootfs.Root, bin, own rootfs.Path) error {
	err := root.Mkdir(bin)
	if err == nil {
		err = root.MarkSystem(bin)
	}
	if err != nil && !errors.Is(err, fault.AlreadyExists) {
		return err
	}
	err = root.MkdirPrivate(own)
	if errors.Is(err, fault.AlreadyExists) {
		return nil
	}
	if err == nil {
		err = root.MarkSystem(own)
	}
	if err != nil {
		return err
	}
	ini, err := own.Child("desktop.ini")
	if err == nil {
		_, _, err = root.Create(ini, []byte(desktopINI), nil)
	}
	if err == nil {
		err = root.MarkSystem(ini)
	}
	return err
}
