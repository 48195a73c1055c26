// Package filterfile unites filters: files that are tables with a filter and no entries.
package filterfile

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/filter/fuse"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/dbdir"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/memory"
	"github.com/sievetable/sievetable/table/cmd/internal/output"
	"github.com/sievetable/sievetable/table/cmd/internal/tablefilter"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
)

// errNoUnion says what to do about filters that cannot be united.
var errNoUnion = errors.New("to unite filters, build each with the same BITS and N, by sieve build --filter table-bloom:BITS --keys N or sst build --filter-only --table-filter table-bloom:BITS --filter-keys N, or build one filter of all keys")

// Unite writes the union of the files to out.
func Unite(cmd *cobra.Command, paths []string, out string) error {
	NoteName(cmd.ErrOrStderr(), out)
	var union union
	return cli.Interruptible(cmd.Context(), func(ctx context.Context) error {
		for _, path := range paths {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := union.add(path, output.FilesOf(cmd.OutOrStdout(), "")); err != nil {
				return err
			}
		}
		return output.WriteFile(ctx, out, cmd.OutOrStdout(), func(to io.Writer) error {
			err := union.Write(to)
			if n := union.LeftOut(); err == nil && n > 0 {
				text.Note(cmd.ErrOrStderr(), "left out %s, since another of the filters may have the key", text.Count(uint64(n), "exception"))
			}
			if err == nil && union.keys > union.most {
				text.Note(cmd.ErrOrStderr(), "the union has up to %s, and a filter of its size is for %s at most: false positives are more frequent than in the filters that it is of; to avoid that, build each for more keys", text.Count(union.keys, "key"), text.Count(union.most, "key"))
			}
			return err
		})
	})
}

// A union is a FilterUnion that counts keys.
type union struct {
	table.FilterUnion
	keys uint64 // of the filters, some perhaps several times
	most uint64 // how many a filter of their size and k is made for, at most
}

// add adds the filter of a file.
func (u *union) add(path string, outputs output.Files) error {
	if err := checkNoFilters(path); err != nil {
		return err
	}
	f, err := dbfile.Open(path, dbfile.Options{ScanOnly: true, Outputs: outputs})
	if err != nil {
		return err
	}
	defer f.Close() // it was only read
	switch err = u.Add(f.Reader); {
	case errors.Is(err, table.ErrNoUnion) && !f.Reader.FilterOnly():
		err = fmt.Errorf("%w: a table with entries, want a filter only, as sst build --filter-only writes it", table.ErrNoUnion)
		fallthrough
	case errors.Is(err, table.ErrNoUnion):
		return errors.Join(f.Wrap(err), errNoUnion)
	case err == nil:
		err = u.count(f)
	}
	return f.Wrap(err)
}

// count counts the keys of a filter, and for how many it is.
func (u *union) count(f *dbfile.File) error {
	p, err := f.Reader.Properties()
	if err != nil || p.FilterEntries == 0 {
		return err
	}
	l, err := f.Reader.Layout()
	if err != nil {
		return err
	}
	filters, err := l.Filters()
	if err != nil {
		return err
	}
	var end [5]byte // k, and the number of lines
	h := filters.TableEntry.Handle
	if _, err := f.Src.ReadAt(end[:], int64(h.Offset+h.Length)-int64(len(end))); err != nil {
		return err
	}
	const most = 10 // more bits have no higher k
	bits := sort.Search(most, func(bits int) bool { return filter.NewTableBloom(bits).K() >= int(end[0]) })
	u.keys += p.FilterEntries
	u.most = 512 * uint64(binary.LittleEndian.Uint32(end[1:])) / uint64(max(bits, 1))
	return nil
}

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
	return fmt.Errorf("%s is %s, want its filters: %s", path, kind, filepath.Join(text.ShellPath(dir), "*.filter"))
}

// NoteName says what other programs see in a table with a filter only, if it gets the name of one of
// theirs.
func NoteName(stderr io.Writer, out string) {
	if ext := filepath.Ext(out); ext == ".ldb" || ext == ".sst" {
		text.Note(stderr, "%s will be an empty table for LevelDB and others: a name such as %s tells it apart", out, strings.TrimSuffix(out, ext)+".filter")
	}
}

// Sized returns the policy of filters of the size for so many keys, so that they have a union. A note says if a filter
// has more.
func Sized(p filter.TableBloom, keys uint64, stderr io.Writer) (filter.TablePolicy, error) {
	p = p.SizedFor(keys)
	if err := memory.Check("a filter for "+text.Count(keys, "key"), uint64(p.Size(keys)), tablefilter.MoreMemory); err != nil {
		return nil, err
	}
	noteLarger := sync.OnceFunc(func() {
		text.Note(stderr, "a filter has more than %s, and so another size: it has no union with filters of that size", text.Count(keys, "key"))
	})
	return tablefilter.Checked{TablePolicy: p, Watch: func(contents []byte) {
		if len(contents) > p.Size(1) {
			noteLarger()
		}
	}}, nil
}

// ExplainTooManyKeys says what to do if err is that a filter has too many keys.
func ExplainTooManyKeys(err error) error {
	if errors.Is(err, fuse.ErrTooManyKeys) {
		return fmt.Errorf("more than %s keys in one fuse filter: build several tables by --entries-per-table, or use --table-filter table-bloom:BITS", humanize.Comma(fuse.MaxKeys))
	}
	return err
}
