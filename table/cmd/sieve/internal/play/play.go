// Package play writes the playground, a web page that builds LevelDB's Bloom filter bit by bit.
package play

import (
	"embed"
	"io"

	"github.com/sievetable/sievetable/table/cmd/internal/page"
)

//go:embed parts
var files embed.FS

// Write writes the page. It is always the same.
func Write(w io.Writer) error {
	p := page.Page{Title: "LevelDB’s Bloom filter, bit by bit", Script: page.Script(files), Style: page.Style(files, "parts/play.css")}
	return p.Write(w, page.Read(files, "parts/play.html"))
}
