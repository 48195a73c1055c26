package setio

import (
	"errors"
	"fmt"
)

// Each step adds its outputs to the ledger and subtracts its inputs, so that the sums are 0 at the end, unless a
// worker has failed and the runner continued.
const (
	filesOfLines = "input files"
	sortedPieces = "pieces of sorted keys"
	cutPieces    = "pieces of tables"
)

// countFile adds an input file to the ledger.
func countFile(string) (string, int64) { return filesOfLines, 1 }

// balance checks that nothing is missing. If lines is set, at least one input file is required.
func balance(ledger func(*string, *int64) bool, lines bool) error {
	sums := map[string]int64{}
	var what string
	var n int64
	for ledger(&what, &n) {
		sums[what] += n
	}
	if _, found := sums[filesOfLines]; lines && !found {
		return errors.New("setio: no input files: check the pattern that lists them")
	}
	for _, what := range []string{filesOfLines, sortedPieces, cutPieces} {
		if n := sums[what]; n != 0 {
			return fmt.Errorf("setio: missing %s (%d): a worker failed and the runner continued; see its log, and "+
				"run the build again", what, n)
		}
	}
	return nil
}
