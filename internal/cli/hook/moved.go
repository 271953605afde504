package hook

import (
	"os"
	"path/filepath"
	"strconv"
	"time"

	"quarry/internal/config"
	"quarry/internal/gitdir"
	"quarry/internal/rootfs"
	"quarry/internal/rootfs/outside"
)

// A client that moves to another worktree does not tell its servers, but from then on runs its
// hooks there. So the hook before a call of Quarry's tools records its checkout in a file. The file
// is named after the client's process, which is the parent of both the hook and the server.

func placeFile(getenv config.Env, pid int) (string, error) {
	dir, err := config.RuntimeDir(getenv)
	return filepath.Join(dir, "at-"+strconv.Itoa(pid)), err
}

// tellPlace records the checkout in which the client of this hook works. The client is the hook's
// parent or, if it ran the hook through a shell, its grandparent, so both get a file.
func tellPlace(getenv config.Env, root string) {
	for _, pid := range []int{os.Getppid(), parentOf(os.Getppid())} {
		if file, err := placeFile(getenv, pid); err == nil && pid > 1 && os.MkdirAll(filepath.Dir(file), 0o700) == nil {
			if next := file + "." + strconv.Itoa(os.Getpid()); os.WriteFile(next, []byte(root), 0o600) == nil {
				os.Rename(next, file)
			}
		}
	}
}

// MovedTo returns the checkout in which the client of this server works if it is another checkout
// of root's repository; otherwise "". since is when the server started: an older file is from an
// ended process with the same id.
func MovedTo(getenv config.Env, root string, since time.Time) string {
	file, err := placeFile(getenv, os.Getppid())
	if err != nil {
		return ""
	}
	data, info, err := outside.Read(file, 64<<10)
	if err != nil || !outside.Ours(info) || info.ModTime().Before(since) || string(data) == root || !sameRepository(root, string(data)) {
		return ""
	}
	return string(data)
}

// sameRepository reports whether two folders are checkouts of one repository.
func sameRepository(a, b string) bool {
	one, two := repository(a), repository(b)
	return one != "" && one == two
}

func repository(dir string) string {
	top, ours := gitdir.Above(dir)
	if !ours {
		return ""
	}
	defer top.Close()
	git, err := gitdir.Open(top)
	if err != nil {
		return ""
	}
	defer git.Close()
	return rootfs.RealPath(git.Common.RealDir())
}
