package set

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// A Source reads the tables of one [Set] by name. [NewDir] returns a Source for a directory, and the
// module table/cloud has one for object storage. A Source must be safe for concurrent use.
//
// If a Source is also a [Forgetter], each Set needs a Source of its own.
type Source interface {
	// ReadAt reads len(p) bytes of the table name, from off on. It returns what io.ReaderAt.ReadAt
	// returns: an error if n < len(p), and io.EOF where the table ends. When ctx is done, it soon
	// returns an error.
	ReadAt(ctx context.Context, name string, p []byte, off int64) (n int, err error)
}

// A Mapper is a Source that can hand out the bytes of its tables, as a [Dir] does. A [Set] uses
// them if Mapped of Options.Reader is set.
type Mapper interface {
	// Map returns the bytes of the table name, and how many there are. src is one for
	// [table.NewReader], such as a [table.SliceReaderAt]. It stays usable until nothing uses it any
	// more, also after Forget. If src is nil, the Set reads the table by ReadAt. When ctx is done,
	// Map soon returns an error.
	Map(ctx context.Context, name string) (src io.ReaderAt, size int64, err error)
}

// A Forgetter is a Source that keeps something for each table, such as an open file. A [Set] calls
// Forget when it does not read the table any more, and after [ErrReplaced]. Reads of the table can
// be under way then: the Set does not use what they return. Forget must not panic: a goroutine of
// the Set can be the caller, where no program can recover.
type Forgetter interface {
	Forget(name string)
}

// ErrReplaced is in the chain of a Source's error when a table's name now leads to another file or
// object than at earlier reads. If the Source is a [Forgetter], and the manifest has the TailSum of
// the table, the Set then calls Forget, and opens the table again for the next lookup. If it is the
// same table, such as an object that was put again, lookups go on. If not, they fail as in a table
// that cannot be opened, until the right table is back.
//
// A table without a digest of its data blocks cannot be told from others: for it, ErrReplaced
// stays. It also stays for Iters that were on the table.
var ErrReplaced = errors.New(
	"the table was replaced since it was opened: try again, or open the set again with its present manifest")

// callSource makes a call of the Source, whose context is done after ReadTimeout.
func (s *Set) callSource(ctx context.Context, call func(context.Context) error) error {
	limit := s.o.ReadTimeout
	if limit == 0 {
		return call(ctx)
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := call(limited)
	if err == nil || err == io.EOF || ctx.Err() != nil || limited.Err() == nil {
		return err
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("%w: %w", context.DeadlineExceeded, err)
	}
	return fmt.Errorf("the Source had no answer within ReadTimeout, %v: %w", limit, err)
}
