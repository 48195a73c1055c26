// Package report draws what BenchmarkLookups printed.
package report

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
)

// Draw draws the charts of lookups.txt, and updates its figures in README.md and RESULTS.md. root is the root of the
// repository.
func Draw(root string) error {
	dir := filepath.Join(root, "bench", "peers")
	text, err := os.ReadFile(filepath.Join(dir, "lookups.txt"))
	if err != nil {
		return fmt.Errorf("%w: run this in the root of the repository", err)
	}
	r, err := parse(string(text))
	if err != nil {
		return fmt.Errorf("lookups.txt: %w", err)
	}
	for _, f := range []struct {
		name  string
		draw  func(width float64) ([]byte, error)
		width float64
	}{{chartFile, r.chart, wide}, {narrowFile, r.chart, narrow}, {savedFile, r.savedChart, savedWide}, {narrowSavedFile, r.savedChart, narrow}} {
		svg, err := f.draw(f.width)
		if err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		if err := os.WriteFile(filepath.Join(dir, f.name), svg, 0o666); err != nil {
			return err
		}
	}
	if err := replace(filepath.Join(dir, "RESULTS.md"), r.page()); err != nil {
		return err
	}
	return replace(filepath.Join(root, "README.md"), r.readme())
}

// measured is the part of a page that Draw writes.
var measured = regexp.MustCompile(`(?s)(<!-- measured: [^\n]*-->\n).*?(<!-- end of measurements -->\n)`)

// replace writes that part of a page.
func replace(file, part string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	marks := measured.FindAllSubmatch(text, -1)
	if len(marks) != 1 {
		return fmt.Errorf("%s: %d parts between the comments \"measured\" and \"end of measurements\", want one", file, len(marks))
	}
	part = string(marks[0][1]) + part + string(marks[0][2])
	return os.WriteFile(file, measured.ReplaceAllLiteral(text, []byte(part)), 0o666)
}
