package set_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/filtertest"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// Opening a table takes one read, of its tail and one more byte.
func TestOpenReadsEachTableOnce(t *testing.T) {
	t.Parallel()
	for _, o := range []*table.WriterOptions{nil, filtered, {FilterOnly: true, TableFilterPolicy: filter.NewTableBloom(10)}} {
		src, m := numberedSet(t, 3, o)
		var want []string
		for _, line := range m.Tables {
			want = append(want, fmt.Sprintf("%s %d+%d", line.Name, line.Size-line.TailSize, line.TailSize+1))
		}
		src.ranges = []string{}
		open(t, m, src, &set.Options{OpenAll: true, Concurrency: 1})
		checkDiff(t, "reads", want, src.ranges)
	}
}

// If a table differs from the manifest, the error names the table and the field.
func TestOpenOfOtherTables(t *testing.T) {
	t.Parallel()
	other := write(t, new(bytes.Buffer), "t1", filtered, numbered(1000, 1100))
	others, _ := sameSize(t, "VALUE %04d")
	for name, test := range map[string]struct {
		change func(s *store, t1 *set.Table)
		want   string
	}{
		"cut short":        {func(s *store, _ *set.Table) { s.files["t1"] = s.files["t1"][:len(s.files["t1"])-1] }, "size"},
		"cut in the data":  {func(s *store, _ *set.Table) { s.files["t1"] = s.files["t1"][:10] }, "size"},
		"empty":            {func(s *store, _ *set.Table) { s.files["t1"] = nil }, "size"},
		"grown":            {func(s *store, _ *set.Table) { s.files["t1"] = append(s.files["t1"], 0) }, "size"},
		"size too large":   {func(_ *store, l *set.Table) { l.Size++ }, "size"},
		"size too small":   {func(_ *store, l *set.Table) { l.Size-- }, "size"},
		"another table":    {func(s *store, l *set.Table) { s.put(t, "t1", filtered, numbered(0, 7)) }, "size"},
		"other line":       {func(_ *store, l *set.Table) { l.Size, l.TailSize = other.Size, other.TailSize }, "size"},
		"entries":          {func(_ *store, l *set.Table) { l.Entries++ }, "entries"},
		"short tail":       {func(_ *store, l *set.Table) { l.TailSize-- }, "tailSize"},
		"a footer as tail": {func(_ *store, l *set.Table) { l.TailSize = 48 }, "tailSize"},
		"smallest":         {func(_ *store, l *set.Table) { l.Smallest = []byte(key(50) + "x") }, "smallest"},
		"smallest, far":    {func(_ *store, l *set.Table) { l.Smallest = []byte(key(98)) }, "smallest"},
		"largest":          {func(_ *store, l *set.Table) { l.Largest = []byte(key(98) + "x") }, "largest"},
		"largest, far":     {func(_ *store, l *set.Table) { l.Largest = []byte(key(51)) }, "largest"},
		"largest, before":  {func(s *store, l *set.Table) { l.Largest = lastSeparator(t, s.files["t1"]) }, "largest"},
		"largest, after":   {func(_ *store, l *set.Table) { l.Largest = []byte("z") }, "largest"},
		"no entries":       {empty, "entries"},
		"largest, behind":  {func(_ *store, l *set.Table) { l.Largest = []byte(key(99) + "zzz") }, "largest"},
		"swapped": {func(s *store, _ *set.Table) {
			s.files["t1"], s.files["t2"] = s.files["t2"], s.files["t1"] // of the same size
		}, "tailSum"},
		"other values": {func(s *store, _ *set.Table) { s.files["t1"] = others.files["t1"] }, "tailSum"},
		"tailSum":      {func(_ *store, l *set.Table) { l.TailSum = strings.Repeat("0", 64) }, "tailSum"},
	} {
		src, m := sameSize(t, "value %04d")
		if test.want == "largest" {
			m.Tables = m.Tables[:2] // the next one would overlap
		}
		test.change(src, &m.Tables[1])
		want := fmt.Sprintf("set: table %q: %s: ", "t1", test.want)
		for _, mapped := range []bool{false, true} {
			if mapped && test.want == "tailSize" {
				continue // only if tables are read
			}
			t.Run(fmt.Sprintf("%s, mapped %t", name, mapped), func(t *testing.T) {
				o := set.Options{OpenAll: true, Concurrency: 1, Reader: table.ReaderOptions{Mapped: mapped}}
				_, err := set.Open(background, m, mapper{src}, &o)
				checkError(t, "Open", err, set.ErrMismatch, want)
			})
		}
	}
}

// lastSeparator returns the separator before the last data block.
func lastSeparator(t *testing.T, contents []byte) []byte {
	t.Helper()
	l, err := table.ReadLayout(bytes.NewReader(contents), int64(len(contents)), nil)
	if err != nil || len(l.Data) < 2 {
		t.Fatalf("%d data blocks, want 2 or more: %v", len(l.Data), err)
	}
	return l.Data[len(l.Data)-2].Separator
}

// If a Source hands out the bytes of tables, they are not read.
func TestMappedBytesAreNotRead(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 3, filtered)
	s := open(t, m, mapper{src}, &set.Options{Reader: table.ReaderOptions{Mapped: true}})
	for i := range 3 * perTable {
		checkGet(t, s, key(i), valueOf(i))
	}
	if n, most := src.reads.Load(), int64(3*4000); n > 0 || s.MemorySize() > most {
		t.Errorf("%d reads, and %d bytes of open tables; want none, and ≤ %d", n, s.MemorySize(), most)
	}
}

// empty replaces a table by one without entries.
func empty(s *store, l *set.Table) {
	var b bytes.Buffer
	w, err := table.NewWriter(&b, nil)
	if err = errors.Join(err, w.Close()); err != nil {
		panic(err)
	}
	s.files[l.Name] = b.Bytes()
	l.Size, l.TailSize, l.TailSum = w.Size(), w.TailSize(), fmt.Sprintf("%x", w.TailSum())
}

// sameSize returns a set of three tables of the same size. The format is for the values' numbers.
func sameSize(t testing.TB, value string) (*store, *set.Manifest) {
	s, m, o := newStore(), new(set.Manifest), *filtered
	o.Compression = table.NoCompression
	for i := range 3 {
		pairs := numbered(i*perTable, (i+1)*perTable)
		for j := range pairs {
			pairs[j][1] = fmt.Sprintf(value, i*perTable+j)
		}
		m.Tables = append(m.Tables, s.put(t, fmt.Sprint("t", i), &o, pairs))
	}
	return s, m
}

// If the tail is corrupt, the error names the table and the block. For a corrupt filter there is no error, but
// FilterErr reports it. If a checksum is corrupt, the table does not match the manifest.
func TestOpenOfDamagedTables(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 3, filtered)
	line := m.Tables[1]
	contents := bytes.Clone(src.files["t001"])
	refused, unfiltered := 0, 0
	for off := line.Size - line.TailSize; off < line.Size; off += 5 {
		src.files["t001"] = bytes.Clone(contents)
		src.files["t001"][off] ^= 0x10
		s, err := set.Open(background, m, src, eager)
		if err != nil {
			if refused++; !errors.Is(err, table.ErrCorrupt) && !errors.Is(err, set.ErrMismatch) || !strings.Contains(err.Error(), "t001") {
				t.Errorf("byte %d: Open = %v, want corruption in t001", off, err)
			}
			continue
		}
		if err := s.FilterErr(); err != nil {
			if unfiltered++; !errors.Is(err, table.ErrCorrupt) || !strings.Contains(err.Error(), "t001") {
				t.Errorf("byte %d: FilterErr = %v, want corruption in t001", off, err)
			}
		}
		checkGet(t, s, key(60), "value of 60")
		checkGet(t, s, key(60)+"x", "")
		if err := s.Verify(background, nil); err == nil {
			t.Errorf("byte %d: Verify finds no corruption", off)
		}
		s.Close()
	}
	if refused == 0 || unfiltered == 0 {
		t.Errorf("%d tables refused, %d without a filter; want some of each", refused, unfiltered)
	}
}

// Errors wrap the Source's error, and name the table and the range.
func TestOpenOfUnreadableTables(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 3, filtered)
	src.before = failing(broken, "t001")
	_, err := set.Open(background, m, src, eager)
	line := m.Tables[1]
	want := fmt.Sprintf("set: table \"t001\": reading %d bytes at %d: broken", line.TailSize+1, line.Size-line.TailSize)
	if !errors.Is(err, broken) || err.Error() != want {
		t.Errorf("Open = %v, want %s", err, want)
	}
}

// No memory is allocated on the manifest's word alone, for a long table or a long tail.
func TestOpenTakesNoMemoryOnTheManifestsWord(t *testing.T) {
	src, m := numberedSet(t, 1, filtered)
	for _, tail := range []int64{1 << 30, 1<<62 - 1} {
		m.Tables[0].Size, m.Tables[0].TailSize = 1<<62, tail
		var err error
		taken := filtertest.AllocatedBy(func() { _, err = set.Open(background, m, src, eager) })
		if !errors.Is(err, set.ErrMismatch) || taken > 1<<20 {
			t.Errorf("tail of %d bytes: Open = %v and takes %d bytes, want ErrMismatch and < 1 MiB", tail, err, taken)
		}
	}
}

// A large tail is read too.
func TestOpenOfALargeTail(t *testing.T) {
	t.Parallel()
	src, pairs := newStore(), numbered(0, 3)
	pairs[1][1] = strings.Repeat("0123456789abcdef", 17<<16)
	m := manifestOf(src.put(t, "large", &table.WriterOptions{Compression: table.NoCompression}, pairs))
	m.Tables[0].TailSize = m.Tables[0].Size
	s := open(t, m, src, eager)
	checkReads(t, src, 2) // the first one checks the table's size
	checkGet(t, s, key(2), "value of 2")
}

func TestOpenRefusesArguments(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 1, nil)
	_, err := set.Open(background, m, nil, nil)
	checkError(t, "Open without a Source", err, nil, "nil Source")
	_, err = set.Open(background, nil, src, nil)
	checkError(t, "Open without a Manifest", err, nil, "nil Manifest")
	_, err = set.OpenFS(background, nil, ".", nil)
	checkError(t, "OpenFS without a file system", err, nil, "nil file system")
	checkError(t, "WriteManifest", set.WriteManifest(io.Discard, nil), nil, "nil Manifest")
	checkError(t, "PublishManifest", set.PublishManifest(background, dirStore(t.TempDir()), set.ManifestName, nil, nil), nil, "nil Manifest")
	m.Tables[0].Name = "../t000"
	_, err = set.Open(background, m, src, nil)
	checkError(t, "Open of a name with a path", err, nil, "../t000")
	checkReads(t, src, 0)
}

// Without a Store, functions return an error.
func TestNilStore(t *testing.T) {
	t.Parallel()
	_, m := numberedSet(t, 1, nil)
	_, build := set.NewBuilder(background, nil, nil)
	_, buildPart := set.NewBuilder(background, nil, &set.BuilderOptions{Part: 1})
	_, load := set.LoadManifest(background, nil, set.ManifestName)
	for name, err := range map[string]error{
		"NewBuilder": build, "NewBuilder of a part": buildPart, "LoadManifest": load,
		"Publish":         set.Publish(background, nil, set.Layer{Tables: m.Tables}, nil),
		"PublishManifest": set.PublishManifest(background, nil, set.ManifestName, m, nil),
		"PutTable":        set.PutTable(background, nil, m.Tables[0], strings.NewReader("")),
		"Sweep":           set.Sweep(background, nil, nil),
		"Sweep, DryRun":   set.Sweep(background, nil, &set.SweepOptions{DryRun: true}),
	} {
		checkError(t, name, err, nil, "set: nil Store")
	}
}

// The caller may modify the manifest and its keys after Open.
func TestOpenCopiesTheManifest(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 4, nil)
	m.Layers = []set.Layer{{Tables: m.Tables[2:3:3], Removals: m.Tables[3:]}}
	m.Tables = m.Tables[:2:2]
	var want []string
	for line := range m.All() {
		want = append(want, fmt.Sprintf("%+v", *line))
	}
	s := open(t, m, src, nil)
	for line := range m.All() {
		line.Name = "other"
		clear(line.Smallest)
		clear(line.Largest)
	}
	checkGet(t, s, key(70), "value of 70")
	var got []string
	for line := range s.Manifest().All() {
		got = append(got, fmt.Sprintf("%+v", *line))
	}
	checkDiff(t, "lines", want, got)
}

var _ io.Closer = (*set.Set)(nil)
