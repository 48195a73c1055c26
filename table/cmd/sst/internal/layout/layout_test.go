package layout

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/errtest"
	"github.com/sievetable/sievetable/internal/filtertest"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/golden"
	"github.com/sievetable/sievetable/internal/rawtable"
	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/internal/wal"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/filetest"
	"github.com/sievetable/sievetable/table/cmd/internal/filterfile"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/salvage"
)

var noError = errtest.NoError

const goldens = "../../../../../testdata"

// rowsOf returns the rows of a table.
func rowsOf(t *testing.T, contents []byte) []Row {
	t.Helper()
	f, err := dbfile.OpenDamaged(filetest.Write(t, "1.ldb", contents), dbfile.Options{})
	if err != nil {
		return nil // not a table
	}
	defer f.Close()
	l, err := Of(f, dbfile.Auto)
	noError(t, err)
	var rows []Row
	for r, err := range l.Rows() {
		noError(t, err)
		rows = append(rows, r)
	}
	return rows
}

// checkTiles checks that rows cover every byte of a file once, or report that they do not.
func checkTiles(t *testing.T, rows []Row, size int) {
	t.Helper()
	end := uint64(0)
	for _, r := range rows {
		if r.Offset != end && r.Check != damaged {
			t.Errorf("%s at %d, want it at %d", r.Kind, r.Offset, end)
		}
		end = max(end, r.Offset+r.Bytes)
		if r.Kind != gap && r.Kind != footer {
			end += format.TrailerLen
		}
		if (r.Check == damaged) != (r.Damage != "") || r.Check == "" && r.Kind != gap {
			t.Errorf("%s at %d: check is %q, damage %q", r.Kind, r.Offset, r.Check, r.Damage)
		}
	}
	if end != uint64(size) {
		t.Errorf("rows end at %d, want %d", end, size)
	}
}

// Every byte of a table is in one row, however damaged the table is, and the damage is reported.
func TestTableHasEveryByte(t *testing.T) {
	t.Parallel()
	for i, contents := range golden.Small(t, goldens, 2<<10) {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			for _, r := range rowsOf(t, contents) {
				if r.Damage != "" || r.Kind == gap {
					t.Errorf("a sound table has %+v", r)
				}
			}
			for at := i % 7; at < len(contents); at += 7 {
				changed := bytes.Clone(contents)
				changed[at] ^= 0x55
				for name, bytes := range map[string][]byte{"changed": changed, "cut": contents[:at]} {
					rows := rowsOf(t, bytes)
					if rows == nil {
						continue
					}
					checkTiles(t, rows, len(bytes))
					damage := 0
					for _, r := range rows {
						if r.Damage != "" {
							damage++
						}
					}
					if damage == 0 {
						t.Errorf("%s at %d: nothing is damaged", name, at)
					}
				}
			}
		})
	}
}

// A meta block has one kind, whichever of its names is read first, and whether it is listed in a metaindex or found
// by its checksum.
func TestKindsOfMetaBlocks(t *testing.T) {
	t.Parallel()
	prefix := filter.PrefixOfLength(1)
	contents := tabletest.Build(t, &table.WriterOptions{
		FilterPolicy: filter.NewBloom(10), TableFilterPolicy: filter.NewTableBloom(1), FilterPrefix: prefix, DataDigest: true,
		Never: filterfile.Never([][]byte{[]byte("a0"), []byte("a1"), []byte("a2"), []byte("a3")}),
	}, tabletest.Numbered(500))
	withoutFooter := append(bytes.Clone(contents[:len(contents)-format.FooterLen]), make([]byte, format.FooterLen)...)
	for name, contents := range map[string][]byte{"listed": contents, "found": withoutFooter} {
		got := map[string]string{}
		for _, r := range rowsOf(t, contents) {
			for _, name := range r.Names {
				got[name] = r.Kind
			}
		}
		want := map[string]string{
			"filter.leveldb.BuiltinBloomFilter": filterBlocks, "filter.leveldb.BuiltinBloomFilter2": filterBlocks,
			"fullfilter.rocksdb.BuiltinBloomFilter": filterWhole, format.PropertiesName: properties,
			format.PrefixName: properties, format.NeverName: exceptions, format.DigestName: digest,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: kinds (-want +got):\n%s", name, diff)
		}
	}
}

// A table with many blocks takes little memory, since rows are made one at a time.
func TestManyBlocks(t *testing.T) { // not parallel, since it counts allocations
	const n = 50_000
	contents := tabletest.Build(t, &table.WriterOptions{BlockSize: 1, Compression: table.NoCompression}, tabletest.Numbered(n))
	f, err := dbfile.OpenDamaged(filetest.Write(t, "1.ldb", contents), dbfile.Options{})
	noError(t, err)
	defer f.Close() // it was only read
	var l *Table
	allocated := filtertest.AllocatedBy(func() { l, err = Of(f, dbfile.Auto) })
	noError(t, err)
	if allocated > n {
		t.Errorf("%d bytes for %d blocks", allocated, n)
	}
	rows := 0
	for range l.Rows() {
		rows++
	}
	if want := n + len("mif"); rows != want { // metaindex, index and footer
		t.Errorf("%d rows, want %d", rows, want)
	}
}

// Keys may be in any order, not only in bytewise order.
func TestTableOfAnyOrder(t *testing.T) {
	t.Parallel()
	var f rawtable.File
	first := f.Block(rawtable.Entries("z", "", "y", ""))
	index := rawtable.Entries("y", first, "x", f.Block(rawtable.Entries("x", "", "a", "")))
	metaindex := f.Block(rawtable.Entries())
	var got []string
	for _, r := range rowsOf(t, f.Footer(metaindex, f.Block(index))) {
		got = append(got, fmt.Sprint(r.Kind, " ", r.Check, " ", r.Damage))
	}
	want := []string{"data ok ", "data ok ", "metaindex ok ", "index ok ", "footer ok "}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

// A hostile file without an index does not result in a row for every six bytes.
func TestFewRowsOfManyBlocks(t *testing.T) {
	t.Parallel()
	var f rawtable.File
	for range salvage.MaxFound + 1000 {
		f.Block("x")
	}
	found := 0
	for _, r := range rowsOf(t, f.Footer("", "")) {
		if r.Found {
			found++
		}
	}
	if found != salvage.MaxFound {
		t.Errorf("%d blocks, want %d", found, salvage.MaxFound)
	}
}

// The records of a log are in order, do not overlap and leave out no part, however damaged the log is.
func TestLogIsInOrder(t *testing.T) {
	t.Parallel()
	const maxGap = 3*wal.FragmentHeaderLen - 1 // the headers of a record in two blocks, and a block's padding
	rng := rand.New(rand.NewPCG(1, 2))
	var records []string
	for range 40 {
		records = append(records, "\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x01k"+strings.Repeat("\x00", rng.IntN(9000)))
	}
	log := filetest.Log(t, records...)
	for range 300 {
		contents := bytes.Clone(log)[:rng.IntN(len(log))]
		for range rng.IntN(3) {
			at := rng.IntN(len(contents) + 1)
			clear(contents[at:min(len(contents), at+rng.IntN(20_000))])
		}
		end := uint64(0)
		for r, err := range OfLog(bytes.NewReader(contents), int64(len(contents)), dbfile.LogFile) {
			noError(t, err)
			if r.Offset < end || r.Offset+r.Bytes > uint64(len(contents)) {
				t.Fatalf("log of %d bytes: %+v behind %d", len(contents), r, end)
			}
			if r.Offset > end+maxGap {
				t.Fatalf("log of %d bytes: no row for %d bytes at %d", len(contents), r.Offset-end, end)
			}
			end = r.Offset + r.Bytes
		}
	}
}

// A record whose header was overwritten with zeros is damage, as in wal.Log: engines do not read it.
func TestRecordsAfterZerosAreDamage(t *testing.T) {
	t.Parallel()
	const write = "\x01\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x01k"
	contents := filetest.Log(t, write, write, write)
	second := uint64(len(contents) / 3)
	clear(contents[second:][:wal.FragmentHeaderLen])
	for _, kind := range []dbfile.FileKind{dbfile.LogFile, dbfile.RecordFile} {
		var damage []Row
		for r, err := range OfLog(bytes.NewReader(contents), int64(len(contents)), kind) {
			noError(t, err)
			if r.Damage != "" {
				damage = append(damage, r)
			}
		}
		if len(damage) != 1 || damage[0].Offset != second || damage[0].Bytes != second || damage[0].Kind != unreadBytes {
			t.Errorf("%s: damage %+v; want %d bytes at %[3]d", kind, damage, second)
		}
	}
}
