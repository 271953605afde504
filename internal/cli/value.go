package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"quarry/change"
	"quarry/internal/cli/command"
	"quarry/internal/cli/env"
	"quarry/internal/cli/printing"
	"quarry/internal/render"
	"quarry/internal/textfile"
	"quarry/internal/value"
)

type valueFlags struct {
	changer
	delete, append, text bool
	rename               string
}

func newValue(s env.Streams) *cobra.Command {
	f := &valueFlags{changer: changer{s: s}}
	cmd := command.New("value FILE PATH [NEW]", "Show or change a value of a configuration file",
		`Show or change one value of a JSON, YAML, TOML or ini file, or of the front
matter of a note. Only the bytes of that value change: comments, order, quotes,
indentation and line endings stay. If that is not possible, the change is refused
with the reason. quarry undo undoes it.

A path is keys with dots between them. [2] is an item, counted from 0, [-1] the
last one, [name=x] the item with that field; [+] adds an item at the end. A key
with dots is quoted: paths."/a.b".get. In a file of several YAML documents the
path begins with the document: [0], or [kind=Service]. A text is shown as it is,
all else as JSON.

NEW is read as JSON, and as text if it is not JSON: true, 12, '["a"]', hello. Keys
on the way to the value that are missing are made.`,
		`  quarry value package.json dependencies.react
  quarry value package.json version 1.2.3
  quarry value .github/workflows/ci.yml 'jobs.build.steps[2].run' 'make test'
  quarry value compose.yml 'services.web.ports' --append '"8080:80"'
  quarry value Cargo.toml dependencies.serde --delete
  quarry value settings.json servers.old --rename new`,
		command.Args(2, command.Any), func(cmd *cobra.Command, args []string) error { return runValue(cmd, f, args) })
	fl := cmd.Flags()
	fl.BoolVar(&f.delete, "delete", false, "delete the value, with its key")
	fl.BoolVar(&f.append, "append", false, "add NEW to the end of the list at PATH")
	fl.StringVar(&f.rename, "rename", "", "give its key another `name`")
	fl.BoolVar(&f.text, "text", false, "NEW is text, even if it looks like JSON")
	f.flags(fl, true)
	return cmd
}

func runValue(cmd *cobra.Command, f *valueFlags, args []string) error {
	e, err := f.valueEdit(args)
	if err != nil {
		return err
	}
	path, err := f.openFor(args[0])
	if err != nil {
		return err
	}
	if e == nil {
		return f.run(render.Reading, path, f.show(cmd, path, args[1]))
	}
	o := f.options()
	c, err := f.ws.Edit(cmd.Context(), path, []change.Edit{*e}, &o)
	if err == nil {
		err = f.report(c, render.Edited(c), "")
	}
	return f.run(render.Editing, path, err)
}

// valueEdit returns the requested edit, or nil if the value is only shown.
func (f *valueFlags) valueEdit(args []string) (*change.Edit, error) {
	e := &change.Edit{Verb: change.SetValue, At: args[1]}
	kinds := 0
	for _, given := range []bool{len(args) == 3, f.delete, f.rename != ""} {
		if given {
			kinds++
		}
	}
	switch {
	case len(args) > 3:
		return nil, fmt.Errorf("expected a file, a path and one new value, not %d arguments: quote a text with blanks", len(args))
	case kinds > 1:
		return nil, errors.New("give one of NEW, --delete and --rename")
	case f.append && len(args) < 3:
		return nil, errors.New("--append needs NEW, the item to add")
	case f.delete:
		e.Verb = change.DeleteValue
	case f.rename != "":
		e.Verb, e.New = change.RenameKey, f.rename
	case len(args) == 2:
		return nil, nil
	default:
		if !utf8.ValidString(args[2]) {
			return nil, errors.New("the new value is not valid UTF-8")
		}
		if e.New = args[2]; f.text || !json.Valid([]byte(e.New)) {
			data, err := json.Marshal(args[2])
			if err != nil {
				return nil, err
			}
			e.New = string(data)
		}
	}
	if f.append {
		if e.At == "." {
			e.At = ""
		}
		e.At += "[+]"
	}
	return e, nil
}

func (f *valueFlags) show(cmd *cobra.Command, path, at string) error {
	p, err := value.ParsePath(at)
	if err != nil {
		return err
	}
	data, err := f.ws.ReadBytes(cmd.Context(), path, value.MaxSize)
	if err != nil {
		return err
	}
	doc, err := textfile.New(data)
	if err != nil {
		return err
	}
	d, err := value.Parse(value.FormatOf(path), doc.Text())
	if err != nil {
		return err
	}
	n, err := d.Find(p)
	if err != nil {
		return err
	}
	if !f.json && (n.Kind == value.Text || n.Kind == value.Date) {
		return f.s.Print(n.Text + "\n")
	}
	_, err = fmt.Fprintln(printing.JSONWriter(f.s.Out, f.s.OutTerminal()), n.JSON("", "  "))
	return err
}
