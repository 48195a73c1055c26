package filterfile

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/dustin/go-humanize"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/filter/fuse"
	"github.com/sievetable/sievetable/table/cmd/internal/memory"
	"github.com/sievetable/sievetable/table/cmd/internal/tablefilter"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
)

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
	return tablefilter.Watched{TablePolicy: p, Watch: func(contents []byte) {
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
