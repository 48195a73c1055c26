package report

import (
	"bytes"
	"flag"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/internal/printable"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/page/pagetest"
)

// chooseBlocks chooses one data block after the other by its number, and returns the commands that the page shows.
const chooseBlocks = `(n) => Array.from({ length: n }, (_, i) => {
	const box = document.getElementById("block");
	box.value = i + 1;
	box.dispatchEvent(new Event("change"));
	return document.querySelector("#map-info code").textContent;
})`

// boundsOf returns the flags --from and --to of a command of sst scan, as a shell takes it apart. "" is no bound.
func boundsOf(t *testing.T, command string) (r keyRange) {
	t.Helper()
	got, err := exec.Command("sh", "-c", `sst() { printf '%s\n' "$@"; }`+"\n"+command).Output()
	if err != nil {
		t.Fatalf("%s: %v", command, err)
	}
	words := strings.Split(strings.TrimSuffix(string(got), "\n"), "\n")
	if diff := cmp.Diff([]string{"scan", "t.ldb"}, words[:2]); diff != "" {
		t.Fatalf("command %s (-want +got):\n%s", command, diff)
	}
	flags := flag.NewFlagSet("scan", flag.ContinueOnError)
	for name, bound := range map[string]*string{"from": &r.From, "to": &r.To} {
		flags.Func(name, "", func(text string) error {
			key, err := printable.Unescape(text)
			*bound = string(key)
			return err
		})
	}
	if err := flags.Parse(words[2:]); err != nil || flags.NArg() > 0 {
		t.Fatalf("command %s: %v", command, err)
	}
	return r
}

// The command for a data block whose entries the page does not hold prints its keys, and no others. Of
// internal keys it may print the last one of the block before, as both can have versions of it.
func TestCommandOfBlock(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		o     table.WriterOptions
		pairs []workload.Pair
	}{
		{"plain", table.WriterOptions{BlockSize: 400}, bytePairs(900)},
		{"a key in a block", table.WriterOptions{BlockSize: 1}, bytePairs(200)},
		{"internal", internalOptions(table.WriterOptions{BlockSize: 400}), workload.Versions(workload.Writes(4, 300, 10))},
		{"a version in a block", internalOptions(table.WriterOptions{BlockSize: 1}), workload.Versions(workload.Writes(4, 100, 10))},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := openTable(t, writeTable(t, "t.ldb", tt.o, tt.pairs))
			blocks := keysOf(t, f)
			page := pagetest.Open(t, writePage(t, f, Options{}), 1200)
			for i, command := range pagetest.Call[[]string](page, chooseBlocks, len(blocks)) {
				r, own := boundsOf(t, command), blocks[i]
				if f.Internal && i > 0 {
					own = append(slices.Clip(own), blocks[i-1][len(blocks[i-1])-1])
				}
				has := func(key []byte) bool {
					return slices.ContainsFunc(own, func(k []byte) bool { return bytes.Equal(k, key) })
				}
				for _, key := range slices.Concat(blocks...) {
					if got := r.has(key); got && !has(key) {
						t.Fatalf("block %d, %s: prints %q, which the block does not have", i+1, command, key)
					}
				}
				for _, key := range blocks[i] {
					if !r.has(key) {
						t.Fatalf("block %d, %s: does not print %q", i+1, command, key)
					}
				}
			}
		})
	}
}
