package set_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// Two Sets share a Cache, and the manifest of one is of another file than it has: the keys and
// sizes are equal, the values are not. Each Set answers from its own file, or not at all.
func TestSetsOfOneCacheMixNoTables(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		write   func(t *testing.T, value string) ([]byte, set.Table)
		refused bool
	}{
		{"by a TableWriter", writtenTable, true},
		{"without tailSum", func(t *testing.T, value string) ([]byte, set.Table) {
			contents, line := writtenTable(t, value)
			line.TailSum = ""
			return contents, line
		}, false},
		{"without a digest", describedTable, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			one, line := tt.write(t, "one")
			two, _ := tt.write(t, "two")
			for _, o := range []table.ReaderOptions{{}, {SkipChecksums: true}} {
				o.Cache = table.NewCache(1 << 20)
				honest, liar := newStore(), newStore()
				honest.files["t"], liar.files["t"] = one, two
				m := &set.Manifest{Tables: []set.Table{line}}
				s := open(t, m, honest, &set.Options{Reader: o})
				checkGet(t, s, key(7), "one")
				wrong, err := set.Open(background, m, liar, &set.Options{Reader: o, OpenAll: true})
				if tt.refused {
					if !errors.Is(err, set.ErrMismatch) || !strings.HasPrefix(err.Error(), `set: table "t": tailSum: `) {
						t.Errorf("Open of another table: %v, want ErrMismatch of the tailSum", err)
					}
				} else if err != nil {
					t.Error(err)
				} else {
					checkGet(t, wrong, key(7), "two")
					checkGet(t, wrong, key(8), "two")
				}
				checkGet(t, s, key(8), "one")
			}
		})
	}
}

// A table that is refused when it is opened is closed: in the Cache, what is left of it takes as much
// memory as if it had never been opened.
func TestRefusedTableLeavesNothingInTheCache(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 1, filtered)
	refused := m.Tables[0]
	refused.Entries++
	sizeAfter := func(lines ...set.Table) int64 {
		c := table.NewCache(1 << 20)
		o := &set.Options{Reader: table.ReaderOptions{Cache: c}, OpenAll: true}
		for _, line := range lines {
			s, err := set.Open(background, &set.Manifest{Tables: []set.Table{line}}, src, o)
			if err == nil {
				checkGet(t, s, key(7), valueOf(7))
				err = errors.Join(s.Close(), s.Drain(background))
			}
			if wrong := line.Entries == refused.Entries; errors.Is(err, set.ErrMismatch) != wrong || err != nil && !wrong {
				t.Errorf("a table of %d entries: %v", line.Entries, err)
			}
		}
		return c.Size()
	}
	if got, want := sizeAfter(refused, refused, m.Tables[0]), sizeAfter(m.Tables[0]); got != want {
		t.Errorf("the Cache has %d bytes in the end, want %d as without the refused openings", got, want)
	}
}

// If a manifest has the SHA-256 of another table by mistake, the two share no blocks.
func TestWrongSHA256SharesNoBlocks(t *testing.T) {
	t.Parallel()
	src := newStore()
	var lines []set.Table
	for _, value := range []string{"one", "two"} {
		contents, line := writtenTable(t, value)
		line.Name = value
		src.files[value] = contents
		lines = append(lines, line)
	}
	lines[1].SHA256 = lines[0].SHA256
	o := &set.Options{Reader: table.ReaderOptions{Cache: table.NewCache(1 << 20)}}
	for _, line := range lines {
		s := open(t, &set.Manifest{Tables: []set.Table{line}}, src, o)
		checkGet(t, s, key(7), line.Name)
		if err := s.Verify(background, nil); (err != nil) != (line.Name == "two") {
			t.Errorf("Verify of %s: %v", line.Name, err)
		}
	}
}

var plainTables = &table.WriterOptions{FilterPolicy: filter.NewBloom(10), Compression: table.NoCompression, BlockSize: 256}

// sameValues returns pairs with one value.
func sameValues(value string) [][2]string {
	pairs := numbered(0, perTable)
	for i := range pairs {
		pairs[i][1] = value
	}
	return pairs
}

// writtenTable returns a table with that value for all keys, and its line.
func writtenTable(t *testing.T, value string) ([]byte, set.Table) {
	var b bytes.Buffer
	line := write(t, &b, "t", plainTables, sameValues(value))
	return b.Bytes(), line
}

// describedTable returns a table of another program.
func describedTable(t *testing.T, value string) ([]byte, set.Table) {
	var b bytes.Buffer
	w, err := table.NewWriter(&b, plainTables)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range sameValues(value) {
		if err := w.Append([]byte(p[0]), []byte(p[1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	line, err := set.Describe(bytes.NewReader(b.Bytes()), w.Size(), nil)
	if err != nil {
		t.Fatal(err)
	}
	line.Name = "t"
	if want := tailSumOf(t, b.Bytes(), false); line.TailSum != want {
		t.Errorf("Describe: TailSum %s, want %s", line.TailSum, want)
	}
	return b.Bytes(), line
}

// A table whose metaindex is damaged opens without its filters if there is nothing to compare it
// with.
func TestDamagedMetaindexOfAnOldLine(t *testing.T) {
	t.Parallel()
	contents, line := writtenTable(t, "one")
	l, err := table.ReadLayout(bytes.NewReader(contents), line.Size, nil)
	if err != nil {
		t.Fatal(err)
	}
	contents[l.Metaindex.Offset+3] ^= 1
	src := newStore()
	src.files["t"] = contents
	if _, err := set.Open(background, &set.Manifest{Tables: []set.Table{line}}, src, eager); !errors.Is(err, table.ErrCorrupt) {
		t.Errorf("Open = %v, want damage of the metaindex", err)
	}
	line.TailSum = ""
	s := open(t, &set.Manifest{Tables: []set.Table{line}}, src, eager)
	checkGet(t, s, key(7), "one")
	if err := s.FilterErr(); !errors.Is(err, table.ErrCorrupt) {
		t.Errorf("FilterErr = %v, want damage of the metaindex", err)
	}
}

// Verify reports, and does not return, that a table cannot be told from others.
func TestVerifyNotesWhatIsNotIdentified(t *testing.T) {
	t.Parallel()
	written, writtenLine := writtenTable(t, "one")
	oldLine := writtenLine
	oldLine.TailSum = ""
	described, describedLine := describedTable(t, "one")
	for name, tt := range map[string]struct {
		contents []byte
		line     set.Table
		want     string
	}{
		"identified": {written, writtenLine, ""},
		"no tailSum": {written, oldLine, `set: table "t": no tailSum in the manifest: `},
		"no digest":  {described, describedLine, `set: table "t": no digest of its data blocks: `},
	} {
		t.Run(name, func(t *testing.T) {
			src := newStore()
			src.files["t"] = tt.contents
			s := open(t, &set.Manifest{Tables: []set.Table{tt.line}}, src, nil)
			var note error
			if err := s.Verify(background, func(_ set.Table, err error) { note = err }); err != nil {
				t.Errorf("Verify: %v", err)
			}
			if tt.want == "" && note != nil {
				t.Errorf("Verify reports %v, want nothing", note)
			}
			if tt.want != "" && (!errors.Is(note, set.ErrNotIdentified) || !strings.HasPrefix(note.Error(), tt.want)) {
				t.Errorf("Verify reports %v, want %q", note, tt.want)
			}
		})
	}
}

// A table that a manifest lists without a tailSum, and the next one with it, is opened again by
// another name only: its Reader was not compared.
func TestSwapToTailSum(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 1, filtered)
	old := changed(m.Tables[0], func(l *set.Table) { l.TailSum = "" })
	s := open(t, old, src, eager)
	if err := s.Swap(background, m); err == nil || !strings.HasPrefix(err.Error(), `set: table "t000" is in use with another tailSum: `) {
		t.Errorf("Swap = %v, want an error about tailSum", err)
	}
	other := open(t, m, src, eager)
	if err := other.Swap(background, old); err != nil {
		t.Errorf("Swap to the old manifest: %v", err)
	}
}

// A table that was closed to save memory is compared again when it is opened again.
func TestReplacedTableIsNoticed(t *testing.T) {
	t.Parallel()
	one, line := writtenTable(t, "one")
	two, _ := writtenTable(t, "two")
	src := newStore()
	src.files["t"] = one
	s := open(t, &set.Manifest{Tables: []set.Table{line}}, src, &set.Options{MemorySize: 1})
	checkGet(t, s, key(7), "one")
	src.files["t"] = two
	if got, err := s.Get(background, []byte(key(7))); !errors.Is(err, set.ErrMismatch) || !strings.Contains(err.Error(), "tailSum") {
		t.Errorf("Get from another table: %q, %v, want ErrMismatch of the tailSum", got, err)
	}
	src.files["t"] = one
	checkGet(t, s, key(7), "one")
}
