package set

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/sievetable/sievetable/internal/dbread"
	"github.com/sievetable/sievetable/internal/regular"
	"github.com/sievetable/sievetable/table"
)

// Options are the options of a Set. A value out of range is an error.
type Options struct {
	// Reader has the options of the tables. Name, CacheKey, TailSum, TailSize, Comparer and FilterKey must not be
	// set. With Mapped, tables in a directory are mapped into memory, and no file stays open. Tables that the system
	// cannot map, such as beyond its limit, are read. Opening a table checks its first and last key in the filters, which
	// Metrics count as two lookups.
	Reader table.ReaderOptions

	// OpenAll makes Open and Swap open all tables that were never open. If one cannot be opened, they fail. If Reader
	// lacks the policy of a filter, they fail with [table.ErrUnknownFilter]. By default, a table is opened by its first
	// lookup, which returns the error, and FilterErr reports filters that are not used.
	OpenAll bool

	// If OnLoss is not nil, Open and Swap with OpenAll call it for each such table that cannot be opened, so Swap calls
	// it again for one that is still lost. If it returns true, they continue without the table, and lookups of its keys
	// try to open it again. Otherwise they fail with l.Err. OnLoss requires OpenAll, and must not call Swap. It is not
	// called for [table.ErrUnknownFilter], or if ctx is done.
	OnLoss func(l table.Loss) bool

	// ReadTimeout limits each call of the Source's ReadAt and Map. When it expires, the lookup fails with
	// context.DeadlineExceeded. A [Dir] cannot interrupt a file system that stalls. Zero means no limit.
	ReadTimeout time.Duration

	// MemorySize limits the memory of open tables, in bytes. Mapped bytes do not count. Zero means no limit. Beyond
	// it, the least used tables are closed. Opening one again reads all of its filters and its index, so random
	// lookups become many times slower even if only 5 % do not fit. Tables in use may exceed the limit.
	MemorySize int64

	// FilterMemory limits the memory of all table filters, in bytes. Zero means no limit. Fuse filters are narrowed
	// until they fit, which adds false positives. If a filter does not fit at all, FilterErr reports it, and lookups
	// do without it. A table with only a filter keeps it. Bloom filters count but stay unchanged. Mapped filters
	// are not narrowed. After a Swap, open tables whose filters must be narrower are opened again by their next
	// lookup.
	FilterMemory int64

	// MaxOpenFiles limits the open files of OpenDir and OpenFS, up to 1048576. Beyond it, idle files are closed. Zero
	// means a quarter of the process's limit, or 4096 on Windows. For Open it must be zero.
	MaxOpenFiles int

	Concurrency int // tables opened at a time, up to 1024; zero means 16
}

const (
	defaultConcurrency = 16
	maxConcurrency     = 1024
	maxOpenFiles       = 1 << 20
)

const (
	setsItself   = "the Set sets it for each table"
	bytewiseOnly = "a set's keys are in bytewise order, and its filters contain whole keys"
)

// unset maps the Reader options that must not be set to the reason.
var unset = map[string]string{
	"Name": setsItself, "CacheKey": setsItself, "TailSum": setsItself, "TailSize": setsItself,
	"Comparer": bytewiseOnly, "FilterKey": bytewiseOnly,
}

// withDefaults returns a copy with defaults filled in. opensFiles is for OpenDir and OpenFS.
func (o *Options) withDefaults(opensFiles bool) (Options, error) {
	s := *cmp.Or(o, &Options{})
	if err := dbread.OwnOptions("set", &s.Reader, unset); err != nil {
		return s, err
	}
	switch {
	case s.MaxOpenFiles != 0 && !opensFiles:
		return s, errors.New("set: MaxOpenFiles must not be set for Open, only for OpenDir and OpenFS")
	case s.MaxOpenFiles < 0 || s.MaxOpenFiles > maxOpenFiles:
		return s, fmt.Errorf("set: MaxOpenFiles is %d: must be 0 to %d", s.MaxOpenFiles, maxOpenFiles)
	case s.MemorySize < 0:
		return s, fmt.Errorf("set: MemorySize is %d: must not be negative", s.MemorySize)
	case s.FilterMemory < 0:
		return s, fmt.Errorf("set: FilterMemory is %d: must not be negative", s.FilterMemory)
	case s.FilterMemory > 0 && s.Reader.IgnoreFilter:
		return s, errors.New("set: FilterMemory is set with Reader.IgnoreFilter: filters take no memory")
	case s.OnLoss != nil && !s.OpenAll:
		return s, errors.New("set: OnLoss is set without OpenAll: each table is opened by a lookup, which returns the error")
	case s.ReadTimeout < 0:
		return s, fmt.Errorf("set: ReadTimeout is %v: must not be negative", s.ReadTimeout)
	case s.Concurrency < 0 || s.Concurrency > maxConcurrency:
		return s, fmt.Errorf("set: Concurrency is %d: must be 0 to %d", s.Concurrency, maxConcurrency)
	}
	s.MaxOpenFiles = cmp.Or(s.MaxOpenFiles, regular.MaxOpenFiles())
	s.Concurrency = cmp.Or(s.Concurrency, defaultConcurrency)
	return s, nil
}
