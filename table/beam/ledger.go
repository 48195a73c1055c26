package setio

import "fmt"

// What steps produce and others consume. A step adds to the ledger what it has emitted, and subtracts what
// it was given. So the sums are 0 at the end, unless a worker has failed and the runner went on.
const (
	filesOfLines = "files of lines"
	sortedPieces = "pieces of sorted keys"
	cutPieces    = "pieces of tables"
)

// countFile adds a file to the ledger, before it is sent to the worker that reads it.
func countFile(string) (string, int64) { return filesOfLines, 1 }

// balance checks that nothing is missing. If lines is set, there must be files.
func balance(ledger func(*string, *int64) bool, lines bool) error {
	sums := map[string]int64{}
	var what string
	var n int64
	for ledger(&what, &n) {
		sums[what] += n
	}
	if _, found := sums[filesOfLines]; lines && !found {
		return fmt.Errorf("setio: no files of lines: want at least one")
	}
	for _, what := range []string{filesOfLines, sortedPieces, cutPieces} {
		if n := sums[what]; n != 0 {
			return fmt.Errorf("setio: %d %s are missing: a worker has failed and the runner went on; see its log, "+
				"and build again", n, what)
		}
	}
	return nil
}
