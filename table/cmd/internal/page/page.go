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

// A Page is a page without its body. Functions Script and Style return what its fields of
// these names hold.
type Page struct {
	Title  string
	Style  string // CSS
	Script string // JavaScript; empty for none
}

// Write writes the page with this HTML for its body.
func (p Page) Write(w io.Writer, body string) error {
	script := ""
	if p.Script != "" {
		script = "<script>" + p.Script + "</script>\n"
	}
	_, err := strings.NewReplacer(
		"{{title}}", html.EscapeString(p.Title), "{{style}}", p.Style, "{{body}}", body, "{{script}}", script,
		"{{script-hash}}", source(p.Script), "{{style-hash}}", source(p.Style),
	).WriteString(w, Read(parts, "parts/page.html"))
	return err
}

// Script returns the shared scripts and those in the folder parts of files, main.js last, as one function,
// so that their names are not global. What main.js needs must not be used before, except by functions and
// classes. The function may wait: the page is ready when window.ready is.
func Script(files fs.FS) string {
	var b strings.Builder
	b.WriteString("window.ready = (async () => {\n\"use strict\";\n")
	for _, from := range []fs.FS{parts, files} {
		names, _ := fs.Glob(from, "parts/*.js") // the pattern is right
		for _, name := range names {
			if name != "parts/main.js" {
				b.WriteString(Read(from, name))
			}
		}
	}
	return b.String() + Read(files, "parts/main.js") + "})();\n"
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
