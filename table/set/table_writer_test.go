package set_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// writeTable writes a table of the keys, each with the same value. It returns the table and its
// line.
func writeTable(t testing.TB, o *table.WriterOptions, keys [][]byte, value string) ([]byte, set.Table) {
	t.Helper()
	var pairs [][2]string
	for _, key := range keys {
		pairs = append(pairs, [2]string{string(key), value})
	}
	var b bytes.Buffer
	line := write(t, &b, "", o, pairs)
	return b.Bytes(), line
}

// Describe returns the same line as the TableWriter.
func TestTableWriterAndDescribe(t *testing.T) {
	urls := workload.W3(20_000).Keys
	for _, tt := range []struct {
		name    string
		options *table.WriterOptions
		keys    [][]byte
	}{
		{"defaults", nil, urls},
		{"block filters", &table.WriterOptions{FilterPolicy: filter.NewBloom(10)}, urls},
		{"both filters and properties", &table.WriterOptions{FilterPolicy: filter.NewBloom(10), TableFilterPolicy: filter.NewTableBloom(10), Properties: true}, urls},
		{"several goroutines", &table.WriterOptions{Concurrency: 4, BlockSize: 512}, urls},
		{"uncompressed", &table.WriterOptions{Compression: table.NoCompression}, urls},
		{"the order by its name", &table.WriterOptions{Comparer: table.BytewiseComparer}, urls[:100]},
		{"the empty key alone", nil, [][]byte{{}}},
		{"the empty key as a nil slice", nil, [][]byte{nil}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			contents, got := writeTable(t, tt.options, tt.keys, "v")
			sum := sha256.Sum256(contents)
			want := set.Table{
				Size: int64(len(contents)), SHA256: hex.EncodeToString(sum[:]), Entries: uint64(len(tt.keys)),
				Smallest: append([]byte{}, tt.keys[0]...), Largest: append([]byte{}, tt.keys[len(tt.keys)-1]...), // never nil
				TailSize: got.TailSize, TailSum: tailSumOf(t, contents, true),
			}
			if tt.options != nil && tt.options.TableFilterPolicy != nil {
				want.FilterSize = int64(filter.NewTableBloom(10).Size(uint64(len(tt.keys))))
			}
			checkDiff(t, "the line", want, got)
			described, err := set.Describe(bytes.NewReader(contents), got.Size, nil)
			noError(t, err)
			checkDiff(t, "Describe", got, described)
			checkTailSize(t, contents, got)
		})
	}
}

// tailSumOf returns the TailSum of a table, in hexadecimal digits.
func tailSumOf(t *testing.T, contents []byte, wantData bool) string {
	t.Helper()
	l, err := table.ReadLayout(bytes.NewReader(contents), int64(len(contents)), nil)
	noError(t, err)
	sum, withData, err := l.TailSum()
	if err != nil || withData != wantData {
		t.Fatalf("a digest of the data: %v, error %v, want %v", withData, err, wantData)
	}
	return hex.EncodeToString(sum[:])
}

// checkTailSize checks that opening the table reads exactly its tail.
func checkTailSize(t *testing.T, contents []byte, line set.Table) {
	t.Helper()
	sum, err := hex.DecodeString(line.TailSum)
	noError(t, err)
	for tail, want := range map[int64]bool{line.TailSize: true, line.TailSize - 1: false} {
		reads := 0
		src := tabletest.ReadAtFunc(func(p []byte, off int64) (int, error) {
			reads++
			return bytes.NewReader(contents).ReadAt(p, off)
		})
		o := &table.ReaderOptions{TailSize: int(tail), TailSum: [sha256.Size]byte(sum)}
		_, err := table.NewReader(src, int64(len(contents)), o)
		noError(t, err)
		if (reads == 1) != want {
			t.Errorf("%d reads to open the table with a TailSize of %d, where the table's is %d", reads, tail, line.TailSize)
		}
	}
}

// Only the TableWriter can describe a table with only a filter.
func TestTableWriterFilterOnly(t *testing.T) {
	o := &table.WriterOptions{FilterOnly: true, TableFilterPolicy: filter.NewTableBloom(10)}
	contents, got := writeTable(t, o, workload.W3(1000).Keys, "")
	if got.Entries != 1000 || got.TailSize != got.Size || len(got.Smallest) == 0 || bytes.Compare(got.Smallest, got.Largest) >= 0 {
		t.Errorf("%d entries, size %d, tailSize %d, keys %q to %q, want 1000 entries, two keys, and all of the file", got.Entries, got.Size, got.TailSize, got.Smallest, got.Largest)
	}
	_, err := set.Describe(bytes.NewReader(contents), got.Size, nil)
	const want = "set: the table has only a filter, not its keys: only the TableWriter that writes it can describe it"
	if err == nil || err.Error() != want {
		t.Errorf("Describe: %v, want %s", err, want)
	}
}

func TestNewTableWriterRefuses(t *testing.T) {
	for _, tt := range []struct {
		name    string
		w       io.Writer
		options table.WriterOptions
		want    string
	}{
		{"no io.Writer", nil, table.WriterOptions{}, "set: nil io.Writer"},
		{"internal keys", io.Discard, table.WriterOptions{Comparer: table.InternalComparer(table.BytewiseComparer)}, `set: Comparer is "leveldb.InternalKeyComparator": must be "leveldb.BytewiseComparator" or nil`},
		{"a FilterKey", io.Discard, table.WriterOptions{FilterKey: bytes.Clone}, "set: FilterKey must not be set"},
		{"an option of the Writer", io.Discard, table.WriterOptions{BlockSize: -1}, "table: BlockSize is -1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if w, err := set.NewTableWriter(tt.w, &tt.options); err == nil || w != nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("%v, %v, want %s", w, err, tt.want)
			}
			o := table.ReaderOptions{Comparer: tt.options.Comparer, FilterKey: tt.options.FilterKey}
			if _, err := set.Describe(strings.NewReader(""), 0, &o); err == nil || strings.HasPrefix(tt.want, "set: C") && !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("Describe: %v, want %s", err, tt.want)
			}
		})
	}
}

// Close returns the error of a failed Append, and no line.
func TestTableWriterErrors(t *testing.T) {
	for _, tt := range []struct {
		name string
		keys []string
		want string
	}{
		{"no entries", nil, "set: the table: entries is 0: a set has no empty tables"},
		{"a wrong order", []string{"b", "a", "c"}, `table: keys are not in increasing order: "a" after "b"`},
		{"a long key", []string{"a", strings.Repeat("b", 256<<10+1), "c"}, "set: key of 262145 bytes exceeds the limit of 262144"},
	} {
		w, err := set.NewTableWriter(io.Discard, nil)
		noError(t, err)
		for i, key := range tt.keys {
			if err := w.Append([]byte(key), nil); (i > 0) != (err != nil) {
				t.Errorf("%s: Append of key %d: %v", tt.name, i, err)
			}
		}
		line, err := w.Close()
		checkError(t, tt.name+": Close", err, nil, tt.want)
		checkDiff(t, tt.name+": the line", set.Table{}, line)
		_, err = w.Close()
		checkError(t, tt.name+": the second Close", err, table.ErrClosed, "")
	}
}

// Describe returns an error for a table that is corrupt or cannot be read.
func TestDescribeRefuses(t *testing.T) {
	contents, line := writeTable(t, &table.WriterOptions{FilterPolicy: filter.NewBloom(10)}, workload.W3(2000).Keys, "v")
	for _, offset := range []int64{0, line.Size / 2, line.Size - line.TailSize, line.Size - 1} {
		damaged := bytes.Clone(contents)
		damaged[offset] ^= 1
		if got, err := set.Describe(bytes.NewReader(damaged), line.Size, nil); !errors.Is(err, table.ErrCorrupt) || got.Size != 0 {
			t.Errorf("byte %d of %d changed: %v, %v, want ErrCorrupt", offset, line.Size, got, err)
		}
	}
	for n := range int64(4) {
		_, err := set.Describe(bytes.NewReader(contents), line.Size*n/4, nil)
		checkError(t, fmt.Sprintf("Describe of %d quarters of a table", n), err, table.ErrCorrupt, "")
	}
	unreadable := tabletest.ReadAtFunc(func([]byte, int64) (int, error) { return 0, broken })
	_, err := set.Describe(unreadable, 1000, nil)
	checkError(t, "Describe", err, broken, "")
}
