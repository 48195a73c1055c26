// Package page holds the parts that the web pages of sst share, and writes pages. A page is
// a single file that loads no other files.
package page

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html"
	"io"
	"io/fs"
	"strings"
)

//go:embed parts
var parts embed.FS

// scripts are the shared scripts, in the order in which they run.
var scripts = []string{"parts/text.js", "parts/format.js", "parts/bloom.js", "parts/dom.js", "parts/picker.js", "parts/probes.js"}

// A Page is a page without its body. Functions Script and Style return what its fields of
// these names hold.
type Page struct {
	Title  string
	Style  string // CSS
	Script string // JavaScript; empty for none
}

// Write writes the page. The body is HTML, in pieces that follow one another.
func (p Page) Write(w io.Writer, body ...string) error {
	head := strings.NewReplacer(
		"{{title}}", html.EscapeString(p.Title),
		"{{script-hash}}", source(p.Script), "{{style-hash}}", source(p.Style), "{{style}}", p.Style,
	).Replace(Read(parts, "parts/head.html"))
	pieces := append([]string{head}, body...)
	if p.Script != "" {
		pieces = append(pieces, "<script>", p.Script, "</script>\n")
	}
	for _, piece := range append(pieces, "</body>\n</html>\n") {
		if _, err := io.WriteString(w, piece); err != nil {
			return err
		}
	}
	return nil
}

// Script returns the shared scripts and the named files, in this order, as one function, so
// that their names are not global. The function may wait: the page is ready when window.ready is.
func Script(files fs.FS, names ...string) string {
	var b strings.Builder
	b.WriteString("window.ready = (async () => {\n\"use strict\";\n")
	for _, name := range scripts {
		b.WriteString(Read(parts, name))
	}
	for _, name := range names {
		b.WriteString(Read(files, name))
	}
	b.WriteString("})();\n")
	return b.String()
}

// Style returns the shared style sheet and the named files.
func Style(files fs.FS, names ...string) string {
	style := Read(parts, "parts/page.css")
	for _, name := range names {
		style += Read(files, name)
	}
	return style
}

// source returns what the content security policy says of an inline script or style: its
// hash, or that there is none.
func source(content string) string {
	if content == "" {
		return "'none'"
	}
	sum := sha256.Sum256([]byte(content))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// Read returns an embedded file. It panics if there is none.
func Read(files fs.FS, name string) string {
	content, err := fs.ReadFile(files, name)
	if err != nil {
		panic(err)
	}
	return string(content)
}
