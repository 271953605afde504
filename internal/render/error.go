package render

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"quarry/change"
	"quarry/fault"
)

// Action is the action that failed. It affects the wording of the error.
type Action string

const (
	Reading  Action = "read"
	Editing  Action = "edit"
	Writing  Action = "write"
	MakeDir  Action = "mkdir"
	Moving   Action = "move"
	Deleting Action = "delete"
	Noting   Action = "note"
	Asking   Action = "info"
	Undoing  Action = "undo"
)

// Error words an error for the tools. The result has no leading "Error: ", and no hint;
// for that, use fault.HintOf.
func Error(action Action, path string, err error) string {
	var missing *change.NotFoundError
	var line *change.LineError
	var move *change.MoveError
	var file *fault.PathError
	var binary *fault.BinaryError
	var partly *change.PartialError
	switch {
	case errors.As(err, &partly): // its text includes that of its cause
		return Sentence(partly.Error())
	case errors.As(err, &missing):
		return fmt.Sprintf("Text '%s' not found in %s", strings.ToValidUTF8(missing.Old, "\ufffd"), Plain(path))
	case errors.As(err, &line):
		return line.Error()
	case errors.As(err, &move):
		return movePath(move)
	case errors.As(err, &binary) && path != "":
		return Quote(path) + " is " + binary.Error()
	case errors.As(err, &file):
		return pathError(action, path, file)
	}
	return Sentence(err.Error())
}

func movePath(e *change.MoveError) string {
	switch code := fault.CodeOf(e); {
	case code == fault.NotFound && e.Source:
		return "Source not found: " + Quote(e.Path)
	case code == fault.AlreadyExists:
		return "Destination already exists: " + Quote(e.Path)
	}
	var file *fault.PathError
	if errors.As(e.Err, &file) {
		return pathError(Moving, e.Path, file)
	}
	return Sentence(e.Error())
}

func pathError(action Action, path string, e *fault.PathError) string {
	path = cmp.Or(path, e.Path) // for example, an undo has no path
	switch fault.CodeOf(e) {
	case fault.NotFound:
		switch action {
		case Deleting:
			return "File or folder not found: " + Quote(path)
		case Asking:
			return "Path not found: " + Quote(path)
		}
		return "File not found: " + Quote(path)
	case fault.ProtectedPath:
		return denied(e)
	case fault.AlreadyExists:
		if action == Noting {
			return fmt.Sprintf("A note already exists at %s. Use modify_note to update it.", Quote(e.Path))
		}
		return "Already exists: " + Quote(e.Path)
	case fault.OutsideRoot:
		return "Access denied: " + Quote(path) + " is outside the workspace"
	case fault.Conflict:
		return fmt.Sprintf("%s was changed by someone else; nothing was changed: %s", Quote(e.Path), cause(e))
	}
	return Sentence(e.Error())
}

func cause(e *fault.PathError) string {
	if e.Err == nil {
		return "its content differs from the version that was read"
	}
	return e.Err.Error()
}

// denied words a refusal by the policy.
func denied(e *fault.PathError) string {
	if strings.HasSuffix(e.Name, "/") {
		return fmt.Sprintf("Access denied: Cannot access files in '%s' directory (protected system folder)", e.Name)
	}
	return fmt.Sprintf("Access denied: '%s' may not be accessed (%s)", Plain(e.Name), e.Rule)
}

// Sentence capitalizes a message, unless it begins with a name.
func Sentence(s string) string {
	word, _, _ := strings.Cut(s, " ")
	for _, r := range word {
		if r < 'a' || r > 'z' {
			return s
		}
	}
	if word == "" {
		return s
	}
	return string(s[0]-'a'+'A') + s[1:]
}
