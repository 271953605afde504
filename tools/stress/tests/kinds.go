package main

import "regexp"

// kind is a group of reasons for skipping tests.
type kind struct {
	name  string
	texts *regexp.Regexp // matches the text given to Skip
}

// inside is the kind of tests that are started by another test in a separate process and otherwise
// skip. They are not counted as skipped, because the other test does run them.
var inside = kind{"runs in a process that another test starts", regexp.MustCompile(`^runs as a `)}

// kinds lists all kinds; the first one that matches counts. TestSkipsHaveAKind checks that the skip
// messages of all tests have a kind.
var kinds = []kind{
	inside,
	{"only in a longer run (without -short; make stress; make bench)", regexp.MustCompile(
		`without -short|STRESS=|PERF=1|QUARRY_(MILLION|BENCH)|make fuzzy|a measurement|too long to fill`)},
	{"without the race detector, which changes times and memory", regexp.MustCompile(`without -race`)},
	{"a suite, a corpus or a server that a variable names (docs/TESTING.md)", regexp.MustCompile(
		`set QUARRY_(SUITES|ISSUES|NOTES|OBSIDIAN|MARKDOWN|CODEX|GIT_REPOS|SMALL_DISK|CORPUS)|QUARRY_(CONFORMANCE|RANKING)|UCD_NPM|beside the checkout|no vectors in`)},
	{"a program that is not installed, or of another version (.ci/run installs them)", regexp.MustCompile(
		`installed|install |QUARRY_(NPM|CLIENTS)|set QUARRY_(RG|CHROMIUM)|needs (git|bash|unshare)\b|chromium|no Go sources|not GNU's|is of version|Go's tables|^node: |no program to run`)},
	{"root or a second user", regexp.MustCompile(
		`\broot\b|another user|permissions don't stop|someone's`)},
	{"a mount, a namespace or a second file system", regexp.MustCompile(
		`mount|namespace|second file system|/dev/shm|sandbox`)},
	{"what the file system lacks (TMPDIR can name another)", regexp.MustCompile(
		`file system|TMPDIR|no /proc|links? here|links:|symlinks|sparse files|short names|streams are|junctions|flags here|can't be (folded|moved)|can't truncate`)},
	{"what the operating system lacks", regexp.MustCompile(
		`Windows|windows|Wine|Linux|POSIX|Unix|emulator|this system|other systems|the system|such names|such modes|name here|backslashes|executable bit|this (build|trash)|here rootfs|^there |there"?\)?$|elsewhere|index here|index is not possible`)},
	{"a part of the machine (network, terminal, inotify, memory)", regexp.MustCompile(
		`IPv|port is taken|terminal|inotify|^mmap|^mprotect|can't start|configuration is at|^no .* here: `)},
	{"nothing to test: by chance, or in this checkout", regexp.MustCompile(
		`an automaton|no two changes|not in the repository|needs a git checkout|leave out every file|too few to tell`)},
}

// kindOf returns the kind of a reason, or nil.
func kindOf(why string) *kind {
	for i := range kinds {
		if kinds[i].texts.MatchString(why) {
			return &kinds[i]
		}
	}
	return nil
}
