// Package report draws the results of BenchmarkLookups.
package report

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/sievetable/sievetable/bench/peers/internal/marked"
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
	if err := marked.Write(filepath.Join(dir, "RESULTS.md"), r.page()); err != nil {
		return err
	}
	return marked.Write(filepath.Join(root, "README.md"), r.readme())
}
