//go:build linux

package main

import (
	"bytes"
	"encoding/xml"
	"fmt"
)

// palette is made for the dark background of the window. The picture includes the background, so it
// looks the same on light and dark pages. Each colour has a contrast of at least 4.5 to the
// background.
var palette = map[int]string{
	0: "#d6dae0", 30: "#8b949e", 31: "#ff7b72", 32: "#56d364", 33: "#e3b341", 34: "#79c0ff", 35: "#d2a8ff", 36: "#56d4dd", 37: "#d6dae0",
	90: "#8b949e", 91: "#ffa198", 92: "#7ee787", 93: "#f2cc60", 94: "#a5d6ff", 95: "#e2c5ff", 96: "#b3f0ff", 97: "#ffffff",
}

const ground, frame, dots = "#161b22", "#30363d", "#6e7681"

// Sizes in pixels, for a picture at full size.
const (
	cell, row     = 8.4, 20 // of a character
	margin, title = 18, 38
	fontSize      = 14
)

// draw returns a picture of a screen. Each run of text has a fixed column and width, so the layout
// is the same with any fixed-width font.
func draw(screen []line) []byte {
	const width = columns*cell + 2*margin
	height := title + len(screen)*row + margin
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%d" viewBox="0 0 %.0f %d" role="img" aria-label="Quarry in a terminal">`+"\n", width, height, width, height)
	fmt.Fprintf(&b, `<rect x="0.5" y="0.5" width="%.0f" height="%d" rx="8" fill="%s" stroke="%s"/>`+"\n", width-1, height-1, ground, frame)
	for i := range 3 {
		fmt.Fprintf(&b, `<circle cx="%d" cy="19" r="5.5" fill="%s"/>`+"\n", margin+6+i*18, dots)
	}
	fmt.Fprintf(&b, `<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="%d" xml:space="preserve">`+"\n", fontSize)
	for i, l := range screen {
		column := 0
		for _, r := range l {
			weight := ""
			if r.style.bold {
				weight = ` font-weight="bold"`
			}
			n := len(r.text)
			fmt.Fprintf(&b, `<text x="%.1f" y="%d" fill="%s"%s textLength="%.1f" lengthAdjust="spacingAndGlyphs">`,
				margin+float64(column)*cell, title+i*row+15, palette[r.style.color], weight, float64(n)*cell)
			xml.EscapeText(&b, []byte(r.text))
			b.WriteString("</text>\n")
			column += n
		}
	}
	b.WriteString("</g>\n</svg>\n")
	return b.Bytes()
}
