//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

const columns, rows = 80, 40

// onTerminal runs a command with a pseudo-terminal as its stdin, stdout and
// stderr, and returns its output.
func onTerminal(cmd *exec.Cmd) ([]byte, error) {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	defer master.Close()
	fd := int(master.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		return nil, fmt.Errorf("unlock the terminal: %w", err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		return nil, fmt.Errorf("number of the terminal: %w", err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: columns}); err != nil {
		return nil, fmt.Errorf("size of the terminal: %w", err)
	}
	slave, err := os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	err = cmd.Start()
	slave.Close()
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	// Closing the last descriptor of the terminal makes reading fail with EIO.
	if _, err := io.Copy(&out, master); err != nil && !errors.Is(err, unix.EIO) {
		return nil, errors.Join(err, cmd.Process.Kill(), cmd.Wait())
	}
	return out.Bytes(), cmd.Wait()
}

// A line consists of runs of one style.
type (
	line []span
	span struct {
		text  string
		style style
	}
	style struct {
		bold  bool
		color int // 0 is the default, else 30 to 37 or 90 to 97
	}
)

// prompt returns the lines of a typed command; a long command has several.
func prompt(args []string) []line {
	words := []string{"quarry"}
	for _, a := range args {
		if strings.ContainsAny(a, " '\"$*") {
			a = "'" + a + "'"
		}
		words = append(words, a)
	}
	text := strings.Join(words, " ")
	return []line{{{"$ ", style{color: 90}}, {text, style{bold: true}}}}
}

// parse interprets a program's terminal output: text, line feeds and colours.
func parse(out []byte) ([]line, error) {
	var lines []line
	var current line
	var now style
	column := 0
	put := func(text string) {
		if n := len(current); n > 0 && current[n-1].style == now {
			current[n-1].text += text
			return
		}
		current = append(current, span{text, now})
	}
	text := string(out)
	for text != "" {
		switch {
		case strings.HasPrefix(text, "\r\n"):
			lines, current, column, text = append(lines, current), nil, 0, text[2:]
			continue
		case strings.HasPrefix(text, "\r\x1b[K"):
			// Progress, which is only shown on a slow machine, redraws its line.
			current, column, text = nil, 0, text[len("\r\x1b[K"):]
			continue
		case strings.HasPrefix(text, "\x1b["):
			end := strings.IndexByte(text, 'm')
			if end < 0 {
				return nil, fmt.Errorf("escape sequence %.10q", text)
			}
			var err error
			if now, err = now.with(text[2:end]); err != nil {
				return nil, err
			}
			text = text[end+1:]
			continue
		case text[0] == '\t':
			next := (column/8 + 1) * 8
			put(strings.Repeat(" ", next-column))
			column, text = next, text[1:]
			continue
		case text[0] < ' ' || text[0] >= 0x7f:
			return nil, fmt.Errorf("character %.4q", text)
		}
		if column == columns { // the terminal wraps
			lines, current, column = append(lines, current), nil, 0
		}
		put(text[:1])
		column, text = column+1, text[1:]
	}
	return append(lines, current), nil
}

// with returns the style after an escape sequence with the given codes.
func (s style) with(codes string) (style, error) {
	for _, c := range strings.Split(codes, ";") {
		n, err := strconv.Atoi(c)
		switch {
		case c == "" || err == nil && n == 0:
			s = style{}
		case err == nil && n == 1:
			s.bold = true
		case err == nil && (n >= 30 && n <= 37 || n >= 90 && n <= 97):
			s.color = n
		default:
			return s, fmt.Errorf("colour code %q", c)
		}
	}
	return s, nil
}
