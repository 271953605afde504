// Package project opens a folder as the program quarry does, for Go programs that are used beside it.
// They share its undo log, index and settings:
//
//	ws, err := project.Open(".", os.Getenv)
//
// Searches use the index and see the same files as the program's, without those that look like
// secrets. "quarry log" and "quarry undo" show and undo the changes.
package project

import (
	"path/filepath"

	"quarry"
	"quarry/internal/config"
)

// Open opens the project that contains dir, with the options that Options returns.
func Open(dir string, env func(string) string) (*quarry.Workspace, error) {
	top, opts, err := Options(dir, env)
	if err != nil {
		return nil, err
	}
	return quarry.Open(top, opts)
}

// Options returns the project's top folder and the options for quarry.Open. A program that needs
// others changes them before it opens the folder.
//
// The top folder is the nearest one, at or above dir, that has .git, .obsidian, go.mod,
// package.json, pyproject.toml or Cargo.toml; without one it is dir.
//
// The options are those of an agent's workspace, with the ignore rules of git above the folder,
// and with the program's folders and limits as environment and quarry.toml set them: pass
// os.Getenv. Options creates the folders of the undo log and the index. The workspace builds the index if no other
// process has it open; a program that ends soon sets Index.Ask to leave that to others, such as
// quarry mcp.
func Options(dir string, env func(string) string) (top string, opts *quarry.Options, err error) {
	if top, err = filepath.Abs(dir); err == nil {
		top, err = filepath.EvalSymlinks(top)
	}
	if err != nil {
		return "", nil, err
	}
	top = config.FindRoot(top)
	opts = &quarry.Options{Closed: config.Own(env), TrashDir: config.TrashHome(env)}
	config.Follow(top, env, opts)
	file, err := config.Load(env)
	if err == nil {
		err = file.Limits(env, top, opts)
	}
	if err == nil {
		opts.StateDir, err = quarry.StateDir(top, env)
	}
	if err == nil {
		opts.Index, err = config.IndexPlace(top, env)
	}
	if err == nil {
		err = config.MakeIndexDir(opts.Index)
	}
	if err == nil {
		err = file.Bytes(env, top, "index.max-size", &opts.Index.MaxBytes)
	}
	if err != nil {
		return "", nil, err
	}
	return top, opts, nil
}
