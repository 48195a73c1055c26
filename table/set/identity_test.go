package set_test

import (
	"bytes"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// Two Sets share a Cache, and one Set's manifest describes another file than the one it reads: the keys and sizes
// are equal, the values are not. Each Set returns values from its own file, or an error.
func TestSetsOfOneCacheMixNoTables(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		write   func(t *testing.T, value string) ([]byte, set.Table)
		refused bool
	}{
		{"by a TableWriter", writtenTable, true},
		{"without a digest", describedTable, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			one, line := tt.write(t, "one")
			two, _ := tt.write(t, "two")
			for _, o := range []table.ReaderOptions{{}, {SkipChecksums: true}} {
				o.Cache = table.NewCache(1 << 20)
				s := open(t, manifestOf(line), storeOf(one), &set.Options{Reader: o})
				checkGet(t, s, key(7), "one")
				wrong, err := set.Open(background, manifestOf(line), storeOf(two), &set.Options{Reader: o, OpenAll: true})
				if tt.refused {
					checkError(t, "Open of another table", err, set.ErrMismatch, `set: table "t": tailSum: `)
				} else {
					noError(t, err)
					checkGet(t, wrong, key(7), "two")
					checkGet(t, wrong, key(8), "two")
				}
				checkGet(t, s, key(8), "one")
			}
		})
	}
}

// storeOf returns a store with a single table, t.
func storeOf(contents []byte) *store {
	src := newStore()
	src.files["t"] = contents
	return src
}

// A table that is rejected when it is opened is closed, and leaves nothing in the Cache.
func TestRefusedTableLeavesNothingInTheCache(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 1, filtered)
	refused := changed(m.Tables[0], func(l *set.Table) { l.Entries++ })
	sizeAfter := func(refusals int) int64 {
		c := table.NewCache(1 << 20)
		o := &set.Options{Reader: table.ReaderOptions{Cache: c}, OpenAll: true}
		for range refusals {
			_, err := set.Open(background, refused, src, o)
			checkError(t, "Open", err, set.ErrMismatch, "entries")
		}
		s := open(t, m, src, o)
		checkGet(t, s, key(7), valueOf(7))
		checkEnd(t, s)
		return c.Size()
	}
	checkDiff(t, "bytes in the Cache after two refused openings", sizeAfter(0), sizeAfter(2))
}

// If a manifest has the SHA-256 of another table by mistake, the two tables do not share blocks.
func TestWrongSHA256SharesNoBlocks(t *testing.T) {
	t.Parallel()
	one, line := writtenTable(t, "one")
	two, wrong := writtenTable(t, "two")
	wrong.SHA256 = line.SHA256
	o := &set.Options{Reader: table.ReaderOptions{Cache: table.NewCache(1 << 20)}}
	s := open(t, manifestOf(line), storeOf(one), o)
	checkGet(t, s, key(7), "one")
	noError(t, s.Verify(background, nil))
	s = open(t, manifestOf(wrong), storeOf(two), o)
	checkGet(t, s, key(7), "two")
	checkError(t, "Verify", s.Verify(background, nil), set.ErrMismatch, "sha256")
}

var plainTables = &table.WriterOptions{FilterPolicy: filter.NewBloom(10), Compression: table.NoCompression, BlockSize: 256}

// writtenTable returns a table with one value for all keys, and its line.
func writtenTable(t *testing.T, value string) ([]byte, set.Table) {
	var b bytes.Buffer
	line := write(t, &b, "t", plainTables, withValue(value, numbered(0, perTable)))
	return b.Bytes(), line
}

// describedTable returns a table that another program has written.
func describedTable(t *testing.T, value string) ([]byte, set.Table) {
	var pairs []workload.Pair
	for _, p := range withValue(value, numbered(0, perTable)) {
		pairs = append(pairs, workload.Pair{Key: []byte(p[0]), Value: []byte(p[1])})
	}
	contents := tabletest.Build(t, plainTables, pairs)
	line, err := set.Describe(bytes.NewReader(contents), int64(len(contents)), nil)
	noError(t, err)
	line.Name = "t"
	checkDiff(t, "TailSum of Describe", tailSumOf(t, contents, false), line.TailSum)
	return contents, line
}

// A table with a corrupt metaindex does not open, since its TailSum is unknown.
func TestDamagedMetaindex(t *testing.T) {
	t.Parallel()
	contents, line := writtenTable(t, "one")
	l, err := table.ReadLayout(bytes.NewReader(contents), line.Size, nil)
	noError(t, err)
	contents[l.Metaindex.Offset+3] ^= 1
	_, err = set.Open(background, manifestOf(line), storeOf(contents), eager)
	checkError(t, "Open", err, table.ErrCorrupt, "")
}

// If a table cannot be identified, Verify reports it but returns no error.
func TestVerifyNotesWhatIsNotIdentified(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		write func(t *testing.T, value string) ([]byte, set.Table)
		want  string
	}{
		"identified": {writtenTable, ""},
		"no digest":  {describedTable, `set: table "t": no digest of its data blocks: `},
	} {
		contents, line := tt.write(t, "one")
		s := open(t, manifestOf(line), storeOf(contents), nil)
		var note error
		noError(t, s.Verify(background, func(_ set.Table, err error) { note = err }))
		if tt.want != "" {
			checkError(t, name+": the report", note, set.ErrNotIdentified, tt.want)
		} else if note != nil {
			t.Errorf("%s: Verify reports %v, want nothing", name, note)
		}
	}
}
