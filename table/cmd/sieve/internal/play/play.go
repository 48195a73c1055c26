// Package play writes the playground: a web page that builds LevelDB's Bloom filter bit by
// bit.
package play

import (
	"embed"
	"io"

	"github.com/sievetable/sievetable/table/cmd/internal/page"
)

//go:embed parts
var files embed.FS

// scripts are the scripts of the page, in the order in which they run.
var scripts = []string{
	"parts/sieve.js", "parts/examples.js", "parts/predict.js", "parts/play.js", "parts/settings.js", "parts/bitmap.js",
	"parts/keys.js", "parts/ask.js", "parts/rates.js", "parts/speed.js", "parts/link.js", "parts/main.js",
}

// Write writes the page. It is always the same.
func Write(w io.Writer) error {
	p := page.Page{Title: "LevelDB’s Bloom filter, bit by bit", Script: page.Script(files, scripts...), Style: page.Style(files, "parts/play.css")}
	return p.Write(w, page.Read(files, "parts/play.html"))
}
