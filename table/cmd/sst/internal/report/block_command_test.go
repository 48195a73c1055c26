package report

import (
	"bytes"
	"flag"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/page/pagetest"
	"github.com/sievetable/sievetable/table/cmd/internal/printable"
)

// chooseBlocks chooses each data block by its number, and returns the commands that the page shows.
const chooseBlocks = `(n) => Array.from({ length: n }, (_, i) => {
	const box = document.getElementById("block");
	box.value = i + 1;
	box.dispatchEvent(new Event("change"));
	return document.querySelector("#map-info code").textContent;
})`

// boundsOf returns the values of --from and --to in an sst scan command, as a shell parses it. "" means no bound.
func boundsOf(t *testing.T, command string) (r keyRange) {
	t.Helper()
	words := shellWords(t, command)
	if diff := cmp.Diff([]string{"scan", "t.ldb"}, words[:2]); diff != "" {
		t.Fatalf("command %.200s (-want +got):\n%s", command, diff)
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
		t.Fatalf("command %.200s: %v", command, err)
	}
	return r
}

// longPairs returns n pairs with keys of that many bytes.
func longPairs(n, size int) (pairs []workload.Pair) {
	for i := range n {
		pairs = append(pairs, workload.Pair{Key: append(bytes.Repeat([]byte{'k'}, size), byte('0'+i))})
	}
	return pairs
}

// If separators are too long for a command, the page says so and still works.
func TestNoCommandOfLongKeys(t *testing.T) {
	t.Parallel()
	page := openPage(t, table.WriterOptions{BlockSize: 1}, longPairs(3, 200_000), Options{}, 390)
	checkText(t, page, "#map-info p", "Its entries are not in this page. Its separators are too long for a command.")
}

// An invalid block number is refused. A chosen block is shown wherever the pointer is.
func TestNumberOfBlock(t *testing.T) {
	t.Parallel()
	f := openTable(t, writeTable(t, "t.ldb", table.WriterOptions{}, plainPairs(3000)))
	page := pagetest.Open(t, writeSmall(t, f, 300), 1200)
	type state struct{ Box, Says, Wrong, Title string }
	got := pagetest.Call[[]state](page, `(numbers) => {
		const box = document.getElementById("block"), map = document.getElementById("map");
		map.dispatchEvent(new PointerEvent("pointermove", { clientX: map.getBoundingClientRect().x + 5, clientY: map.getBoundingClientRect().y + 5 }));
		return numbers.map((number) => {
			box.value = number;
			box.dispatchEvent(new Event("change"));
			return { Box: box.value, Says: document.getElementById("block-count").textContent, Wrong: box.getAttribute("aria-invalid") ?? "",
				Title: document.querySelector("#map-info h3").textContent };
		});
	}`, []string{"3", "0", "2.5", "1000", "2"})
	n := len(pagetest.Call[[]string](page, `() => Array.from({ length: Number(document.getElementById("block").max) }, () => "")`, nil))
	all, of := fmt.Sprintf("of %d in the page", n), fmt.Sprint(" of ", len(f.Layout.Data))
	wrong := all + fmt.Sprintf(". Enter a number from 1 to %d.", n)
	want := []state{
		{"3", all, "", "data block 3" + of}, {"0", wrong, "true", "data block 3" + of}, {"2.5", wrong, "true", "data block 3" + of},
		{"1000", wrong, "true", "data block 3" + of}, {"2", all, "", "data block 2" + of},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The command for a data block whose entries are not in the page prints the block's keys and no others. For
// internal keys it prints all versions, including versions in other blocks, and possibly versions of the last key
// of the block before.
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
		{"long keys", table.WriterOptions{BlockSize: 1}, longPairs(3, 50_000)},
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
						t.Fatalf("block %d, %.200s: prints %.200q, which the block does not have", i+1, command, key)
					}
				}
				for _, key := range blocks[i] {
					if !r.has(key) {
						t.Fatalf("block %d, %.200s: does not print %.200q", i+1, command, key)
					}
				}
			}
		})
	}
}
