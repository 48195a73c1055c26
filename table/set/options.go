package set

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/sievetable/sievetable/internal/regular"
	"github.com/sievetable/sievetable/table"
)

// Options are the options of a Set. The zero value of each field is its default. A value out of range is
// an error of Open, OpenDir and OpenFS.
type Options struct {
	// Reader has the options of the tables. Tables whose filters are not Bloom filters need the filters'
	// policies in TableFilterPolicies. A Cache keeps the blocks of tables that MemorySize has closed.
	// Name, CacheKey, TailSum and TailSize must not be set, since the Set sets them for each table.
	// Comparer and FilterKey must not be set, since keys are in bytewise order.
	//
	// With Mapped, the Set maps tables into memory, if the Source is a Mapper, as that of OpenDir is.
	// Filters and indexes then stay in the system's page cache, and no file stays open. Opening a table
	// reads them once, to check them. If there are too many tables to map, the last ones are read: see
	// [table.ReaderOptions].Mapped.
	Reader table.ReaderOptions

	// OpenAll makes Open and Swap open all new tables, and fail if one cannot be opened. By default, a table
	// is opened by its first lookup, which returns the error.
	OpenAll bool

	// If OnLoss is not nil, Open and Swap with OpenAll call it for each new table that cannot be opened, in
	// the order of the Manifest's All. If it returns true, they go on without the table. Lookups of its keys
	// then try to open it again, and fail if they cannot, never with [table.ErrNotFound]. [Set.Unavailable]
	// lists the table. If OnLoss returns false, Open or Swap fails with l.Err.
	//
	// OnLoss must not call Swap. It is not called if ctx is done. If the table's filter policy is missing in
	// Reader.TableFilterPolicies, Open or Swap fails with [table.ErrUnknownFilter] instead, since no later
	// try can succeed.
	OnLoss func(l table.Loss) bool

	// ReadTimeout limits each call of the Source's ReadAt and Map. When it expires, the call's context is
	// done, and the lookup fails with an error that wraps context.DeadlineExceeded and names the table. The
	// next lookup tries again. A Source that ignores its context still delays the lookup, and so does
	// a [Dir] whose file system stalls. Zero means no limit.
	//
	// It must suffice for the largest reads: a table's tail, 1 MiB of Verify, and what an Iter reads ahead.
	// It does not limit a whole lookup, which may need several reads. The lookup's context does.
	ReadTimeout time.Duration

	// MemorySize limits the memory of open tables, in bytes: their indexes and filters, and the search
	// trees that lookups build. Mapped bytes do not count. Zero means no limit.
	//
	// Beyond the limit, the Set closes tables that were not used for a while, and opens them again when they
	// are needed. A closed table that is still in use comes on top of the limit. A table that takes more
	// than the limit is open only while it is in use. With OpenAll, Open and Swap open every new table once,
	// but close no table to make room for it.
	//
	// Opening a table again reads and checks all of its filters and its index. A MemorySize of 95 % of what
	// the tables take already makes random lookups many times slower: README.md has a table under "What
	// it costs, measured". A mapped table counts as about 1 KB, plus its index if that is compressed, until
	// many lookups have built a search tree of the index.
	MemorySize int64

	// FilterMemory limits the memory of the table filters, in bytes, as if all tables of the manifest were
	// open. Filters whose policy has a method AtMost, as the fuse filters have, are narrowed until all fit,
	// the widest and largest first. They then have more false positives. If the fewest bits do not fit, a
	// filter is not loaded, which FilterErr reports; a table that has only a filter keeps it. Zero means no
	// limit. After a Swap, tables that have to give up bits are opened again by their next lookup. Others
	// may get more bits when they are opened again.
	//
	// Bloom filters, and filters of tables that were written with Never, count but stay as they are, as do
	// filters that the manifest does not describe, which do not count: manifests of older versions have no
	// FilterSize. Filters that are read by the page do not count either. Write such a manifest again. With Mapped and a Mapper as Source, FilterMemory has no
	// effect, since a copy of a mapped filter takes memory where the filter takes none.
	//
	// FilterMemory makes tables smaller, so that more of them fit into MemorySize, which also counts
	// indexes, and closes tables.
	FilterMemory int64

	// MaxOpenFiles limits the open files of a Set of OpenDir or OpenFS, from 1 to 1048576. Beyond the
	// limit, the Set closes files that were not read for a while. Opening one again takes some
	// microseconds. If all are being read, a read waits. Zero means a quarter of the files that the
	// system lets the process open, or 4096 on Windows. For Open it must be zero, since Open opens no files.
	MaxOpenFiles int

	// Concurrency is how many tables may be opened at a time, from 1 to 1024. Each takes TailSize bytes
	// until it is open. Zero means 16.
	Concurrency int
}

const (
	defaultConcurrency = 16
	maxConcurrency     = 1024
	maxOpenFiles       = 1 << 20
)

// withDefaults returns a copy with defaults filled in. opensFiles is for OpenDir and OpenFS.
func (o *Options) withDefaults(opensFiles bool) (Options, error) {
	var s Options
	if o != nil {
		s = *o
	}
	if err := checkUnset(&s.Reader); err != nil {
		return s, err
	}
	switch {
	case s.MaxOpenFiles != 0 && !opensFiles:
		return s, errors.New("set: MaxOpenFiles is set, want it unset: Open opens no files, OpenDir and OpenFS do")
	case s.MaxOpenFiles < 0 || s.MaxOpenFiles > maxOpenFiles:
		return s, fmt.Errorf("set: MaxOpenFiles is %d, want 0 to %d", s.MaxOpenFiles, maxOpenFiles)
	case s.MemorySize < 0:
		return s, fmt.Errorf("set: MemorySize is %d, want 0 or more", s.MemorySize)
	case s.FilterMemory < 0:
		return s, fmt.Errorf("set: FilterMemory is %d, want 0 or more", s.FilterMemory)
	case s.ReadTimeout < 0:
		return s, fmt.Errorf("set: ReadTimeout is %v, want 0 or more", s.ReadTimeout)
	case s.Concurrency < 0 || s.Concurrency > maxConcurrency:
		return s, fmt.Errorf("set: Concurrency is %d, want 0 to %d", s.Concurrency, maxConcurrency)
	}
	s.MaxOpenFiles = cmp.Or(s.MaxOpenFiles, defaultMaxOpenFiles())
	s.Concurrency = cmp.Or(s.Concurrency, defaultConcurrency)
	// A file without bytes is damaged, but only if the options are good.
	if _, err := table.NewReader(bytes.NewReader(nil), 0, &s.Reader); !errors.Is(err, table.ErrCorrupt) {
		return s, err
	}
	return s, nil
}

// checkUnset checks the options of Readers that a Set does not take.
func checkUnset(r *table.ReaderOptions) error {
	const (
		setsItself   = "the Set gives each table its own"
		bytewiseOnly = "keys of a set are in the bytewise order, and filters have whole keys"
	)
	for _, option := range []struct {
		name string
		set  bool
		why  string
	}{
		{"Name", r.Name != "", setsItself},
		{"CacheKey", r.CacheKey != "", setsItself},
		{"TailSum", r.TailSum != [sha256.Size]byte{}, setsItself},
		{"TailSize", r.TailSize != 0, setsItself},
		{"Comparer", r.Comparer != nil, bytewiseOnly},
		{"FilterKey", r.FilterKey != nil, bytewiseOnly},
	} {
		if option.set {
			return fmt.Errorf("set: Reader.%s is set, want it unset: %s", option.name, option.why)
		}
	}
	return nil
}

// defaultMaxOpenFiles is the default of MaxOpenFiles.
func defaultMaxOpenFiles() int { return min(regular.MaxOpenFiles(), maxOpenFiles) }
