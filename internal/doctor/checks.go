package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"quarry/fault"
	"quarry/internal/config"
	"quarry/internal/gitdir"
	"quarry/internal/ignore"
	"quarry/internal/render"
	"quarry/internal/rootfs/mounts"
	"quarry/internal/trash"
	"quarry/search"
)

func (x *exam) checkRoot(context.Context) error {
	if _, err := os.Stat(x.Root); errors.Is(err, fs.ErrNotExist) {
		x.gone = true
		x.find(Finding{
			ID: "root-gone", What: x.Root + " is not there any more.",
			Why: "It was moved or deleted, or its disk is not mounted. What Quarry keeps about it, as the undo log, stays.",
			Fix: "Put it back, or open the folder where it is now.",
		})
		return nil
	}
	home, _ := os.UserHomeDir()
	if real, err := filepath.EvalSymlinks(home); err == nil {
		home = real
	}
	if x.Root == filepath.Dir(x.Root) || x.Root == home {
		x.find(Finding{
			ID: "root-too-large", What: x.Root + " is the home folder or the top of the file system, not a project.",
			Why: "Searches read far more than you mean, and agents could reach everything; quarry mcp and quarry index refuse it without --force.",
			Fix: "Name a folder in it, as an argument or with --root. A folder with .git or one of the usual project files is found by itself.",
		})
	}
	if unwritable(x.Root) != nil {
		what, fix, run := repairFolder(x.Root, "serve it with --read-only")
		x.find(Finding{ID: "root-read-only", What: what + ".", Why: "Every change will be refused.", Fix: fix, Run: run})
	}
	if _, err := os.Stat("/proc/self"); runtime.GOOS == "linux" && err != nil {
		x.find(Finding{
			ID: "no-proc", Note: true, What: "/proc is not mounted here.",
			Why: "Folders can't be watched without it, so an index compares the tree before each answer. Answers stay right, and get slower.",
			Fix: "Mount it in the sandbox: for bubblewrap that is --proc /proc.",
		})
	}
	return nil
}

// checkTree walks all folders once.
func (x *exam) checkTree(ctx context.Context) error {
	p, err := x.places()
	if err != nil {
		return err
	}
	t, err := examineTree(ctx, p)
	if err != nil {
		return err
	}
	if kind := t.FileSystem.String(); kind == "network" || kind == "unknown" {
		x.find(Finding{
			ID: "root-file-system", Note: true, What: fmt.Sprintf("%s is on a file system whose events can't be trusted (%s).", x.Root, kind),
			Why: "Others may change files without this machine noticing, so an index compares all time stamps before each answer. Answers stay right, and get slower.",
			Fix: "For speed, work on a local copy.",
		})
	}
	if mounts.IsOverlay(x.Root) {
		x.find(Finding{
			ID: "root-overlay", Note: true, What: fmt.Sprintf("%s is on an overlay.", x.Root),
			Why: "A file that is written beneath the mount, in its upper or a lower folder, may not be seen: the kernel makes no event for it and leaves open what is read. Writes through the mount are seen as everywhere.",
			Fix: "Write through the mount, or mount it anew after such a write.",
		})
	}
	if n := t.UnreadableCount; n > 0 {
		f := Finding{
			ID: "unreadable", What: fmt.Sprintf("%s can't be read: %s.", fault.Count(n, "folder"), strings.Join(t.Unreadable[:min(n, 3)], ", ")),
			Why: "Files in them are not searched; searches say so and end with exit code 2.",
			Fix: "Make them readable, or exclude them with an ignore file.",
		}
		for _, name := range t.Unreadable[:min(len(t.Unreadable), 5)] {
			f.Run = append(f.Run, "chmod u+rx "+render.ShellQuote(filepath.Join(x.Root, filepath.FromSlash(name))))
		}
		x.find(f)
	}
	if n := t.TempsCount; n > 0 {
		x.find(Finding{
			ID: "temporary-files", What: fmt.Sprintf("%s of processes that are gone: %s.", fault.Count(n, "temporary file"), strings.Join(t.Temps[:min(n, 3)], ", ")),
			Why: "They take space, and one may hold the old content of a file whose change was cut short.",
			Fix: "Settle and remove them.",
			Run: []string{"quarry doctor --clean" + x.rootFlag()},
		})
	}
	return nil
}

// checkIgnore finds ignore rules that hide the whole workspace.
func (x *exam) checkIgnore(ctx context.Context) error {
	ws, err := x.Open()
	if err != nil {
		return err
	}
	defer ws.Close()
	shown, err := ws.Find(ctx, search.FindQuery{Limit: 1})
	if err != nil || len(shown.Entries) > 0 {
		return err
	}
	all, err := ws.Find(ctx, search.FindQuery{Scope: search.Scope{IncludeIgnored: true}, Limit: 1})
	if err != nil || len(all.Entries) == 0 {
		return err
	}
	top, _, isFolder := strings.Cut(all.Entries[0].Path, "/")
	f := Finding{
		ID: "all-ignored", What: "Ignore rules hide every file of " + x.Root + ".",
		Why: "Searches and agents find nothing unless they ask for ignored files (-u).",
		Fix: "Remove the rule.",
	}
	if file, line, ok := hiding(x.ruleFiles(), top, isFolder); ok {
		f.What += fmt.Sprintf(" The rule is line %d of %s.", line, file)
		if filepath.IsAbs(file) {
			f.Run = []string{fmt.Sprintf("quarry edit %s --delete %d", render.ShellQuote(file), line)}
		}
	}
	x.find(f)
	return nil
}

// ruleFiles returns the ignore files that apply at the root of the workspace.
func (x *exam) ruleFiles() []ruleFile {
	var list []ruleFile
	if data := config.GlobalExcludes(x.Getenv); len(data) > 0 {
		list = append(list, ruleFile{ignore.File{Data: data}, "your global git excludes (git config core.excludesFile)"})
	}
	for _, f := range config.RulesAbove(x.Root) {
		dir := x.Root
		for range strings.Count(f.Above, "/") + 1 {
			dir = filepath.Dir(dir)
		}
		name := filepath.Join(dir, f.Name)
		if f.Name == "info/exclude" {
			name = filepath.Join(dir, ".git", "info", "exclude")
		}
		list = append(list, ruleFile{ignore.File(f), name})
	}
	top, err := gitdir.View(x.Root)
	if err != nil {
		return list
	}
	defer top.Close()
	for _, name := range append([]string{".git/info/exclude"}, ignore.FileNames[:]...) {
		file := filepath.Join(x.Root, filepath.FromSlash(name))
		if data, err := gitdir.Read(top, name); err == nil {
			list = append(list, ruleFile{ignore.File{Name: strings.TrimPrefix(name, ".git/"), Data: data}, file})
		}
	}
	return list
}

func (x *exam) checkJournal(context.Context) error {
	p, err := x.places()
	if err != nil {
		return err
	}
	if !exists(p.Journal) {
		return nil // no change has been made yet
	}
	aside := []string{fmt.Sprintf("mv %s %s", render.ShellQuote(p.Journal), render.ShellQuote(p.Journal+".damaged-"+time.Now().Format("20060102-150405")))}
	j, err := examineJournal(p)
	if err != nil {
		x.find(Finding{
			ID: "journal", What: fmt.Sprintf("The undo log %s can't be read: %v.", p.Journal, err),
			Why: "No file can be changed until this is repaired.", Fix: "Move it aside; changes made so far can't be undone after that.", Run: aside,
		})
		return nil
	}
	for i, h := range j.Unfinished {
		if i == 20 {
			x.find(Finding{ID: "journal-unfinished", What: fmt.Sprintf("%s more left half-way.", fault.Count(len(j.Unfinished)-i, "change")), Why: "Their files are half-way between two states.", Fix: "See all of them.", Run: []string{"quarry log" + x.rootFlag()}})
			break
		}
		x.find(Finding{
			ID: "journal-unfinished", What: fmt.Sprintf("Change %s was left half-way: %v.", h.ID, h.What),
			Why: "Its files are half-way between two states. The next command that opens the workspace to change something rolls it back, or completes it if all of it is there.",
			Fix: "Bring the old files back now.", Run: []string{"quarry undo " + h.ID + x.rootFlag()},
		})
	}
	if j.Damaged > 0 {
		x.find(Finding{
			ID: "journal-damaged", What: fmt.Sprintf("%s of the undo log can't be read.", fault.Count(j.Damaged, "record")),
			Why: "Those changes can't be undone; the others can.", Fix: "To have a clean log again, move this one aside; earlier changes can't be undone after that.", Run: aside,
		})
	}
	if j.Lost > 0 {
		x.find(Finding{
			ID: "journal-lost", What: fmt.Sprintf("%s missing from the undo log: files in %s were cut short or deleted.", fault.Count(j.Lost, "change is", "changes are"), p.Journal),
			Why: "Those changes can't be undone; the others can.", Fix: "Put the files back from a backup, or move the log aside; earlier changes can't be undone after that.", Run: aside,
		})
	}
	if j.FileSystem.String() == "network" {
		x.find(Finding{
			ID: "journal-file-system", What: p.Journal + " is on a network file system.",
			Why: "Locks and crashes there don't behave as on a disk, and an undo log relies on both.",
			Fix: "Set XDG_STATE_HOME to a folder on a local disk.",
		})
	}
	limit := p.KeepBytes
	limit = cmp.Or(limit, 256<<20)
	// Some excess is normal, because only whole segments are dropped.
	if j.Bytes > limit+limit/4+8<<20 {
		x.find(Finding{
			ID: "journal-size", Note: true, What: fmt.Sprintf("The undo log has %s, more than the %s it may keep.", render.Size(j.Bytes), render.Size(limit)),
			Why: "The next change drops the oldest entries.",
		})
	}
	return nil
}

// checkTrash checks whether the system's trash can accept files.
func (x *exam) checkTrash(context.Context) error {
	dir := config.TrashHome(x.Getenv)
	if dir == "" {
		return nil
	}
	bin := filepath.Join(dir, "Trash")
	if file, err := x.Config(); err == nil {
		if set, err := file.Get(x.Getenv, x.Root, "change.trash"); err == nil && set.Source != config.FromDefault && set.Text != "system" {
			return nil // deleted files go to another trash
		}
	}
	parts := []string{bin, filepath.Join(bin, "files"), filepath.Join(bin, "info")}
	if runtime.GOOS == "darwin" {
		parts = []string{filepath.Join(dir, ".Trash")}
		if trash.SystemClosed(dir) {
			x.find(Finding{
				ID: "trash-closed", Note: true, What: "macOS keeps " + parts[0] + " closed to this program.",
				Why: "Deleted files go to the folder .trash of the workspace instead.",
				Fix: "For the system's trash, give your terminal or editor Full Disk Access (System Settings, Privacy & Security).",
			})
			return nil
		}
	}
	for _, part := range parts {
		info, err := os.Lstat(part)
		if missing(err) {
			if above := config.ExistingDir(part); unwritable(above) != nil {
				x.noTrash(part, above)
				return nil
			}
			continue
		}
		if err != nil || !info.IsDir() {
			x.trashFinding(part+" is not a folder", "Repair it, or "+trashHere+".", "mv "+render.ShellQuote(part)+" "+render.ShellQuote(part+".old"))
			return nil
		}
		if unwritable(part) != nil {
			x.noTrash(part, part)
			return nil
		}
	}
	return nil
}

const trashHere = "set change.trash to \"local\" in quarry.toml"

func (x *exam) noTrash(part, dir string) {
	what, fix, run := repairFolder(dir, trashHere)
	if part != dir {
		what = part + " can't be made: " + what
	}
	x.trashFinding(what, fix, run...)
}

func (x *exam) trashFinding(what, fix string, run ...string) {
	x.find(Finding{
		ID: "trash", What: "The system's trash can't be used: " + what + ".",
		Why: "Deleting a file fails. (quarry undo could bring it back all the same.)", Fix: fix, Run: run,
	})
}

func (x *exam) checkIndex(ctx context.Context) error {
	p, err := x.places()
	if err != nil {
		return err
	}
	at := p.Index
	if err := x.checkStored(at.Dir); err != nil {
		return err
	}
	// Socket paths are limited to 104 to 108 bytes. Windows uses a pipe instead.
	if len(at.Socket) > 103 && runtime.GOOS != "windows" {
		x.find(Finding{
			ID: "socket-path", What: fmt.Sprintf("%s is too long for the path of a socket.", at.Socket),
			Why: "Other processes can't ask the index owner, so quarry search reads the files although quarry serve runs.",
			Fix: "Point XDG_RUNTIME_DIR at a short folder of yours, also where your shell sets variables.",
			Run: []string{`export XDG_RUNTIME_DIR=/tmp/run-$(id -u); mkdir -p -m 700 "$XDG_RUNTIME_DIR"`},
		})
	}
	x.trySocket(at.Socket)
	s, err := examineIndex(ctx, p)
	if err != nil {
		x.find(Finding{
			ID: "index", What: fmt.Sprintf("The index %s can't be opened: %v.", at.Dir, err),
			Why: "Searches read the files instead.", Fix: "Delete it.", Run: []string{"rm -rf " + render.ShellQuote(at.Dir)},
		})
		return nil
	}
	if len(s.Damage) > 0 {
		x.find(Finding{
			ID: "index-damaged", What: fmt.Sprintf("The index has parts that can't be used: %s.", strings.Join(s.Damage, "; ")),
			Why: "What they covered is read from the files, so answers are right, and slower.", Fix: "Make them anew.", Run: []string{"quarry index build" + x.rootFlag()},
		})
	}
	if s.Silent {
		x.find(Finding{
			ID: "index-silent", What: "A process holds the index and doesn't answer.",
			Why: "Searches read the files, and no other process can take the index over.",
			Fix: "End that process: it may be suspended (^Z) or of another version.",
			Run: []string{"fuser -k " + render.ShellQuote(filepath.Join(at.Dir, "owner.lock")), "rm -f " + render.ShellQuote(at.Socket)},
		})
	} else if !s.Answers && exists(at.Socket) {
		x.find(Finding{
			ID: "socket-stale", What: "An index owner has ended and left its socket: " + at.Socket + ".",
			Why: "Every search tries it first.", Fix: "Remove it, or start quarry serve again.", Run: []string{"rm " + render.ShellQuote(at.Socket)},
		})
	}
	x.checkOwner(s.Owner, at.Socket)
	return nil
}

// trySocket makes a socket next to the index's socket, because some sandboxes forbid
// sockets.
func (x *exam) trySocket(socket string) {
	dir := config.ExistingDir(filepath.Dir(socket))
	probe := filepath.Join(dir, fmt.Sprintf("q%d.sock", os.Getpid()))
	if len(probe) > 103 || unwritable(dir) != nil || runtime.GOOS == "windows" {
		return // the missing folder is already reported
	}
	l, err := net.Listen("unix", probe)
	if err == nil {
		err = l.Close() // this also removes the socket
	}
	if err != nil {
		x.find(Finding{
			ID: "socket", What: fmt.Sprintf("No socket can be made in %s: %v.", dir, err),
			Why: "Other processes can't ask the index owner, so quarry search reads the files although quarry serve runs.",
			Fix: "Set XDG_RUNTIME_DIR to a folder of yours, or allow Unix sockets in the sandbox you are in.",
		})
	}
}

// checkLimits compares Linux's limits on watches with what the workspace needs.
func (x *exam) checkLimits(ctx context.Context) error {
	limit := func(name string) (int, bool) {
		data, err := os.ReadFile(filepath.Join(x.Proc, "sys", "fs", "inotify", name))
		if err != nil {
			return 0, false // not on Linux
		}
		n, err := strconv.Atoi(strings.TrimSpace(string(data)))
		return n, err == nil
	}
	watches, ok := limit("max_user_watches")
	if !ok {
		return nil
	}
	ws, err := x.Open()
	if err != nil {
		return err
	}
	defer ws.Close()
	folders, err := ws.Find(ctx, search.FindQuery{Kind: search.OnlyFolders, Scope: search.Scope{IncludeHidden: true}})
	if err != nil {
		return err
	}
	if need := len(folders.Entries) + 1; need > watches {
		x.find(limitFinding("max_user_watches", watches, max(524288, 2*need),
			fmt.Sprintf("The workspace has %d folders, and the system lets you watch %d.", need, watches),
			"Parts of the tree can't be watched: an index compares them before each answer, which is slower."))
	}
	if queue, ok := limit("max_queued_events"); ok && queue < 4096 {
		x.find(limitFinding("max_queued_events", queue, 16384, fmt.Sprintf("The system keeps only %d unread events.", queue),
			"A git checkout makes more; each time they overflow, an index compares the whole tree."))
	}
	if most, ok := limit("max_user_instances"); ok && inotifyInstances(x.Proc) >= most-1 {
		x.find(limitFinding("max_user_instances", most, max(512, 2*most), fmt.Sprintf("All %d watchers the system allows you are in use.", most),
			"quarry serve and quarry mcp can't watch the workspace, and compare it before each answer."))
	}
	return nil
}

func limitFinding(name string, now, want int, what, why string) Finding {
	return Finding{
		ID: "inotify-" + strings.ReplaceAll(strings.TrimPrefix(name, "max_"), "_", "-"), What: what, Why: why,
		Fix: fmt.Sprintf("Raise fs.inotify.%s from %d; a line in /etc/sysctl.d keeps it.", name, now),
		Run: []string{fmt.Sprintf("sudo sysctl -w fs.inotify.%s=%d", name, want)},
	}
}

// inotifyInstances counts the inotify instances of this user's processes.
func inotifyInstances(proc string) int {
	files, err := filepath.Glob(filepath.Join(proc, "[0-9]*", "fd", "*"))
	if err != nil {
		return 0
	}
	n := 0
	for _, f := range files {
		if to, err := os.Readlink(f); err == nil && to == "anon_inode:inotify" {
			n++
		}
	}
	return n
}
