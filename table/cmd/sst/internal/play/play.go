// Package play writes the playground: a web page that builds LevelDB's Bloom filter bit by
// bit.
package play

import (
	"embed"
	"io"

	"github.com/sievetable/sievetable/table/cmd/sst/internal/page"
)

//go:embed page
var files embed.FS

// scripts are the scripts of the page, in the order in which they run.
var scripts = []string{
	"page/sieve.js", "page/examples.js", "page/predict.js", "page/play.js", "page/settings.js", "page/bitmap.js",
	"page/keys.js", "page/ask.js", "page/rates.js", "page/link.js", "page/main.js",
}

// Write writes the page. It is always the same.
func Write(w io.Writer) error {
	p := page.Page{Title: "LevelDB’s Bloom filter, bit by bit", Script: page.Script(files, scripts...), Style: page.Style(files, "page/play.css")}
	return p.Write(w, page.Read(files, "page/play.html"))
}
