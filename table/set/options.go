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

// Options are options of a Set. The zero value of each field is its default. A value out of range
// is an error of Open, OpenDir and OpenFS.
type Options struct {
	// Reader has the options of the tables. A Cache keeps the blocks of a table also while it is
	// closed because of MemorySize. Tables with filters of other kinds than Bloom filters need
	// their policies in TableFilterPolicies. It is an error to set Name, CacheKey, TailSum or TailSize, since the Set
	// knows them of each table, and to set Comparer or FilterKey, since keys are in the bytewise
	// order.
	//
	// With Mapped, a Set takes the bytes of tables from a Source that is a Mapper, as that of
	// OpenDir is. Filters and indexes are then in the system's page cache, and no file stays open.
	// Opening a table reads them once, to check them. A lookup reads only what it touches. Of very
	// many tables, the last ones are read, as [table.ReaderOptions].Mapped says.
	Reader table.ReaderOptions

	// OpenAll makes Open and Swap open each new table, and fail if one cannot be opened, unless OnLoss says
	// otherwise. By default a table is opened at its first lookup, which returns the error.
	OpenAll bool

	// If OnLoss is not nil, Open and Swap with OpenAll call it for each new table that cannot be opened. If it
	// returns true, they go on without the table: lookups of its keys try to open it again, and fail if that
	// fails, never with [table.ErrNotFound]. All other keys have their answers, and [Set.Unavailable] lists the
	// table. If OnLoss returns false, Open or Swap fails with l.Err.
	//
	// It is called for one table at a time, in the order of the Manifest's All, and must not call Swap. It is not
	// called if ctx is done, nor if the table needs a filter policy that is missing in Reader.TableFilterPolicies
	// ([table.ErrUnknownFilter]): no later try could mend that, so Open or Swap fails.
	OnLoss func(l table.Loss) bool

	// ReadTimeout is how long a call of the Source may take, for each ReadAt and each Map. Then its
	// context is done. The lookup fails with an error that is context.DeadlineExceeded and names
	// ReadTimeout, the table and the bytes, and the next lookup tries again. A Source that does not
	// return when its context is done holds the lookup up until it does. So does a [Dir] whose
	// file system stalls.
	//
	// It must be enough for the largest reads: the tail of a table, 1 MiB of Verify, and what an
	// Iter reads ahead. It does not bound a lookup, which can need several reads, and wait for
	// other tables to be opened: the context of the lookup does that. 0: no limit.
	ReadTimeout time.Duration

	// MemorySize is how many bytes of memory the open tables may take: their indexes and filters,
	// and what lookups have built to search them. Mapped bytes do not count. 0: no bound.
	//
	// Beyond the bound, the Set closes tables that were not used for a while, most often the one
	// that was opened last if it was used only once. It opens them again when they are needed.
	// Tables that are in use while they are closed come on top of the bound. A table that takes
	// more by itself is open only while it is in use. With OpenAll, Open and Swap still open every
	// new table once. They close none for a new one: those that find no room are opened again when they
	// are needed.
	//
	// To open a table again, all of its filters and its index are read and checked. So a MemorySize of
	// 95 % of what the tables take already makes lookups in random tables many times slower: README.md has
	// a table of that, under "What it costs, measured". A mapped table counts as about 1 KB, and its
	// index if that is compressed, until many lookups have built a search tree of the index.
	MemorySize int64

	// MaxOpenFiles is how many files of tables a Set of OpenDir or OpenFS may have open, 1 to
	// 1048576. Beyond that, it closes files that were not read for a while. To open one again takes
	// some microseconds. If all are being read, a read waits for one to end. 0: a quarter of the
	// open files that the system allows the process, or 4096 on Windows. For Open it must be 0,
	// since only its Source opens files.
	MaxOpenFiles int

	// Concurrency is how many tables may be opened at a time, 1 to 1024. Each takes the memory of
	// its Table.TailSize until it is open. 0: 16.
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
	if s.MaxOpenFiles != 0 && !opensFiles {
		return s, errors.New(
			"set: MaxOpenFiles is set, want it unset: Open opens no files, OpenDir and OpenFS do")
	}
	if s.MaxOpenFiles < 0 || s.MaxOpenFiles > maxOpenFiles {
		return s, fmt.Errorf("set: MaxOpenFiles is %d, want 0 to %d", s.MaxOpenFiles, maxOpenFiles)
	}
	if s.MemorySize < 0 {
		return s, fmt.Errorf("set: MemorySize is %d, want 0 or more", s.MemorySize)
	}
	if s.ReadTimeout < 0 {
		return s, fmt.Errorf("set: ReadTimeout is %v, want 0 or more", s.ReadTimeout)
	}
	if s.Concurrency < 0 || s.Concurrency > maxConcurrency {
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
