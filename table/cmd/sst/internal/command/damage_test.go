package command

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/printable"
	"github.com/sievetable/sievetable/table/layout"
)

const goldens = "../../../../../testdata"

// sst runs the command, and returns its exit status and what it printed.
func sst(args ...string) (status int, stdout, stderr string) {
	var out, errs strings.Builder
	status = Run(args, strings.NewReader(""), &out, &errs)
	return status, out.String(), errs.String()
}

// sound is an undamaged table and its layout.
type sound struct {
	contents []byte
	layout   *layout.Layout
	blocks   [][]string // the lines that scan prints of each data block
}

func readSound(t *testing.T, path string) sound {
	t.Helper()
	s := sound{contents: readFile(t, path), layout: layoutOf(t, path)}
	_, all, _ := sst("scan", path)
	lines := strings.SplitAfter(all, "\n")
	for _, entry := range s.layout.Data {
		n := 0
		for n < len(lines)-1 {
			key, _, _ := strings.Cut(lines[n], "\t")
			k, err := printable.Unescape(key)
			if noError(t, err); bytes.Compare(k, entry.Separator) > 0 {
				break
			}
			n++
		}
		s.blocks = append(s.blocks, lines[:n])
		lines = lines[n:]
	}
	return s
}

// A damage is a way to damage a table.
type damage struct {
	name string
	do   func(s sound, c []byte) []byte
	lost []int // data blocks; from the end if negative

	unopened bool // the table cannot be opened
}

func flip(at func(s sound) uint64) func(s sound, c []byte) []byte {
	return func(s sound, c []byte) []byte {
		c[at(s)] ^= 0xff
		return c
	}
}

// zero overwrites the blocks from first to last, and their trailers, with zeros.
func zero(first, last int) func(s sound, c []byte) []byte {
	return func(s sound, c []byte) []byte {
		from, to := s.layout.Data[first], s.layout.Data[last]
		clear(c[from.Offset : to.Offset+to.Length+5])
		return c
	}
}

func cut(keep func(s sound) int) func(s sound, c []byte) []byte {
	return func(s sound, c []byte) []byte { return c[:keep(s)] }
}

// damages returns each class of damage once.
func damages() []damage {
	data := func(i int) func(s sound) uint64 { return func(s sound) uint64 { return s.layout.Data[i].Offset + 1 } }
	last := func(s sound) uint64 { return s.layout.Data[len(s.layout.Data)-1].Offset }
	filters := func(s sound) uint64 {
		d := s.layout.Data[len(s.layout.Data)-1]
		return d.Offset + d.Length + 5
	}
	return []damage{
		{name: "first data block", do: flip(data(0)), lost: []int{0}},
		{name: "a data block's checksum", do: flip(func(s sound) uint64 { return s.layout.Data[2].Offset - 1 }), lost: []int{1}},
		{name: "a data block's compression", do: flip(func(s sound) uint64 { return s.layout.Data[2].Offset - 5 }), lost: []int{1}},
		{name: "last data block", do: flip(last), lost: []int{-1}},
		{name: "some data blocks zeroed", do: zero(1, 3), lost: []int{1, 2, 3}},
		{name: "filter", do: flip(filters)},
		{name: "metaindex", do: flip(func(s sound) uint64 { return s.layout.Metaindex.Offset })},
		{name: "index", do: flip(func(s sound) uint64 { return s.layout.Index.Offset }), unopened: true},
		{name: "index and a data block", unopened: true, lost: []int{2}, do: func(s sound, c []byte) []byte {
			c[s.layout.Index.Offset+2] ^= 1
			return flip(data(2))(s, c)
		}},
		{name: "index and the last data block", unopened: true, lost: []int{-1}, do: func(s sound, c []byte) []byte {
			c[s.layout.Index.Offset+2] ^= 1
			return flip(last)(s, c)
		}},
		{name: "footer's magic number", do: flip(func(s sound) uint64 { return uint64(s.layout.Footer) + 47 }), unopened: true},
		{name: "footer's handles", do: flip(func(s sound) uint64 { return uint64(s.layout.Footer) }), unopened: true},
		{name: "cut by a byte", do: cut(func(s sound) int { return len(s.contents) - 1 }), unopened: true},
		{name: "cut behind the data", do: cut(func(s sound) int { return int(filters(s)) }), unopened: true},
		{name: "cut in the last data block", do: cut(func(s sound) int { return int(last(s)) + 20 }), unopened: true, lost: []int{-1}},
		{name: "start missing", unopened: true, lost: []int{0}, do: func(_ sound, c []byte) []byte { return c[10:] }},
		{name: "bytes behind the end", unopened: true, do: func(_ sound, c []byte) []byte { return append(c, "junk"...) }},
	}
}

// For each class of damage, every command exits with its status and a message, and salvage keeps every pair outside
// the damaged blocks.
func TestDamagedFiles(t *testing.T) {
	long.NoRace(t)
	for _, file := range []string{"goleveldb/block-1024.ldb", "leveldb/snappy-block-256.ldb"} {
		s := readSound(t, filepath.Join(goldens, file))
		for _, d := range damages() {
			t.Run(file+"/"+d.name, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "t.ldb")
				writeFile(t, path, d.do(s, bytes.Clone(s.contents)))
				checkCommands(t, d, path)
				checkSalvage(t, s, d, path)
			})
		}
	}
}

// checkCommands runs each command on a damaged table and checks its result.
func checkCommands(t *testing.T, d damage, path string) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out")
	damagedData := d.unopened || len(d.lost) > 0
	for _, c := range []struct {
		damaged bool
		args    []string
	}{
		{true, []string{"verify", path}},
		{true, []string{"stats", path}},
		{true, []string{"stats", "--json", path}},
		{damagedData, []string{"stats", "--try", path}},
		{true, []string{"convert", path, "-o", out}},
		{true, []string{"report", path, "-o", out + ".html"}},
		{damagedData, []string{"scan", path}},
		{damagedData, []string{"scan", "--reverse", path}},
		{damagedData, []string{"diff", path, path}},
	} {
		status, stdout, stderr := sst(c.args...)
		want := map[bool]int{false: 0, true: cli.ExitDamaged}[c.damaged]
		if c.args[0] == "stats" || c.args[0] == "report" || c.args[0] == "convert" {
			if status == 0 && !damagedData {
				want = 0 // a damaged filter is ignored
			}
		}
		if status != want || strings.Contains(stdout+stderr, "goroutine") || (status != 0) != (stderr != "") {
			t.Errorf("sst %s: status %d, want %d; stderr:\n%s", c.args[0], status, want, stderr)
		}
		if status == cli.ExitDamaged && !strings.Contains(stdout+stderr, "t.ldb") {
			t.Errorf("sst %s does not name the file: %s%s", c.args[0], stdout, stderr)
		}
	}
	if _, err := os.Stat(out); damagedData && err == nil {
		t.Error("convert wrote a table of a damaged one")
	}
}

func checkSalvage(t *testing.T, s sound, d damage, path string) {
	t.Helper()
	rescued := filepath.Join(t.TempDir(), "rescued.ldb")
	status, stdout, stderr := sst("repair", path, "-o", rescued)
	want := map[bool]int{false: 0, true: cli.ExitDamaged}[d.unopened || len(d.lost) > 0]
	if status != want {
		t.Errorf("sst repair: status %d, want %d:\n%s%s", status, want, stdout, stderr)
	}
	var pairs []string
	for i, lines := range s.blocks {
		if !slices.Contains(d.lost, i) && !slices.Contains(d.lost, i-len(s.blocks)) {
			pairs = append(pairs, lines...)
		}
	}
	_, got, _ := sst("scan", rescued)
	if diff := cmp.Diff(strings.Join(pairs, ""), got); diff != "" {
		t.Errorf("salvaged pairs (-want +got):\n%s\n%s", fmt.Sprint(len(pairs), " wanted"), diff)
	}
	mustSST(t, "verify", rescued)
}
