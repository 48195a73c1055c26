package command

import (
	"bytes"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/sievetable/sievetable/table/cmd/internal/cli"
)

// If sst convert runs several times at once on one table in place, no exceptions are lost: the table is the same as
// after one run at a time.
func TestConvertAtOnce(t *testing.T) {
	t.Parallel()
	const n = 6
	inTurn, atOnce := filepath.Join(t.TempDir(), "t.ldb"), filepath.Join(t.TempDir(), "t.ldb")
	for _, out := range []string{inTurn, atOnce} {
		mustSST(t, "build", "--table-filter", "fuse:4", "-o", out, tempFile(t, "in.txt", numberedLines(1000, "key%04d")))
	}
	args := func(i int, out string) []string {
		return []string{"convert", out, "--never", tempFile(t, "never", numberedLines(60, fmt.Sprint("never", i, "-%d"))), "-o", out}
	}
	for i := range n {
		mustSST(t, args(i, inTurn)...)
	}
	var running sync.WaitGroup
	for i := range n {
		convert := args(i, atOnce)
		running.Go(func() { checkSST(t, cli.ExitOK, "", convert...) })
	}
	running.Wait()
	if got, want := readFile(t, atOnce), readFile(t, inTurn); !bytes.Equal(got, want) {
		t.Errorf("%d bytes; in turn, it has %d", len(got), len(want))
	}
}
