// Package filterfile writes and merges filter files: tables with a filter and no entries.
package filterfile

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/dustin/go-humanize"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/filter/fuse"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/table/cmd/internal/dbdir"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/memory"
	"github.com/sievetable/sievetable/table/cmd/internal/tablefilter"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/layout"
)

// checkNoFilters returns an error for a directory of filters, or the manifest of a set of them.
func checkNoFilters(path string) error {
	if !dbdir.IsDirectory(path) {
		return nil
	}
	dir, kind := path, "a directory"
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		dir, kind = filepath.Dir(path), "the manifest of a set"
	}
	isFilter := func(e os.DirEntry) bool { return filepath.Ext(e.Name()) == ".filter" }
	if entries, err := os.ReadDir(dir); err != nil || !slices.ContainsFunc(entries, isFilter) {
		return err
	}
	return fmt.Errorf("%s is %s: name its filters, %s", path, kind, filepath.Join(format.ShellPath(dir), "*.filter"))
}

// CheckOnly returns an error if a file is not only a filter. For a table with entries, advice is the command to run.
func CheckOnly(f *dbfile.File, advice string) error {
	only, err := f.FilterOnly()
	if err == nil && !only {
		err = f.Wrap(errors.New("a table, not a filter: " + advice))
	}
	return err
}

// NoteName prints a note if a filter-only table has a name that engines give to tables: they see an empty table.
func NoteName(stderr io.Writer, out string) {
	if versions.IsTableName(out) {
		text.Note(stderr, "LevelDB and other engines see %s as an empty table: use a name such as %s", out, strings.TrimSuffix(out, filepath.Ext(out))+".filter")
	}
}

// Sized returns a policy whose filters all have the size for this many keys, so that they can be merged. It
// prints a note if a filter has more keys, or if no filter is large enough.
func Sized(p filter.TableBloom, keys uint64, stderr io.Writer) (filter.TablePolicy, error) {
	p = p.SizedFor(keys)
	tablefilter.NoteBits(stderr, p, keys)
	if err := memory.Check("a filter for "+text.Count(keys, "key"), uint64(p.Size(keys)), tablefilter.MoreMemory); err != nil {
		return nil, err
	}
	noteLarger := sync.OnceFunc(func() {
		text.Note(stderr, "a filter contains more than %s, so it is larger and cannot be merged with filters for that number", text.Count(keys, "key"))
	})
	return tablefilter.Checked{TablePolicy: p, Watch: func(contents []byte) {
		if len(contents) > p.Size(1) {
			noteLarger()
		}
	}}, nil
}

// Never returns keys for WriterOptions.Never.
func Never(keys [][]byte) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for i := 0; i < len(keys) && yield(keys[i], nil); i++ {
		}
	}
}

// Exceptions returns copies of the exceptions of a table. ok is false if they are together over most times as long
// as their block: in a forged block, they can share so many bytes that they would take all memory.
func Exceptions(f *layout.Filters, most uint64) (keys [][]byte, ok bool) {
	left := most * f.NeverEntry.Length
	for key := range f.Never.All() {
		if uint64(len(key)) > left {
			return nil, false
		}
		left -= uint64(len(key))
		keys = append(keys, format.AppendNotNil(nil, key))
	}
	return keys, true
}

// ExplainTooManyKeys replaces fuse.ErrTooManyKeys by an error with the command's advice. It returns other errors
// unchanged.
func ExplainTooManyKeys(err error, advice string) error {
	if errors.Is(err, fuse.ErrTooManyKeys) {
		return fmt.Errorf("a fuse filter holds at most %s keys: %s", humanize.Comma(fuse.MaxKeys), advice)
	}
	return err
}
