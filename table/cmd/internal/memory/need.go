package memory

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/sievetable/sievetable/internal/alloc"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
)

// A ShortError says that something needs more memory than sst may take.
type ShortError struct {
	What  string // what needs it
	Need  uint64 // bytes
	Limit string // how much there is, and what says so
	Do    string // what the user can do
}

func (e *ShortError) Error() string {
	return fmt.Sprintf("%s needs %s of memory, %s: %s", e.What, text.Bytes(e.Need), e.Limit, e.Do)
}

// A bound is how many more bytes the process may take, and what sets that.
type bound struct {
	bytes uint64
	by    string
}

func (b bound) String() string { return fmt.Sprintf("the limit is %s (%s)", text.Bytes(b.bytes), b.by) }

// goLimit is GOMEMLIMIT. Nothing has changed the limit of Go's runtime yet.
var goLimit = debug.SetMemoryLimit(-1)

// smallest returns the smallest bound.
func smallest() bound {
	least := bound{uint64(goLimit), "GOMEMLIMIT"}
	for _, b := range systemBounds() {
		if b.bytes < least.bytes {
			least = b
		}
	}
	return least
}

// Left returns how many more bytes the process may take.
func Left() uint64 { return smallest().bytes }

// Check returns a *ShortError if the process may not take so many more bytes. do says what the user can do then.
// Whatever takes much memory is checked before it does: if the system refuses memory to Go's runtime, the process
// ends at once, with all goroutines' traces, and temporary files stay.
func Check(what string, need uint64, do string) error {
	var refused *alloc.Error
	errors.As(alloc.Check(need), &refused)
	return shortOf(what, need, refused, do)
}

// Short returns the first error of err that says that memory is short, or nil if there is none. One of the
// library says what the limit is of Go's runtime, and not which limit of the system that comes from.
func Short(err error) error {
	if short := (*ShortError)(nil); errors.As(err, &short) {
		return short
	}
	refused := (*alloc.Error)(nil)
	if !errors.As(err, &refused) {
		return nil
	}
	what := text.Program
	if file := (interface {
		error
		FileName() string
	})(nil); errors.As(err, &file) {
		what = file.FileName()
	}
	if short := shortOf(what, refused.Needed, refused, "raise the limit"); short != nil {
		return short
	}
	// Start or Apply has set the limit.
	limit := bound{refused.Limit, "what " + text.Program + " allows Go's runtime"}
	return &ShortError{what, refused.Needed, limit.String(), "use a larger --memory, or raise the limit"}
}

// shortOf returns the error if a bound or the system refuses so many more bytes, or else nil. refused may be nil.
func shortOf(what string, need uint64, refused *alloc.Error, do string) error {
	switch b := smallest(); {
	case need > b.bytes:
		return &ShortError{what, need, b.String(), do}
	case refused != nil && refused.Err != nil:
		return &ShortError{what, refused.Needed, "and the system refuses it (" + refused.Err.Error() + ")", do}
	}
	return nil
}

// Take checks so many bytes that come on top of --memory, and raises the limit of Go's runtime by them until release
// is called.
func Take(what string, need uint64, do string) (release func(), err error) {
	if err := Check(what, need, do); err != nil {
		return nil, err
	}
	before := debug.SetMemoryLimit(-1)
	return hold(max(before, int64(min(uint64(before)+need, uint64(goLimit))))), nil
}

// startMemory is how much a command takes with small files, at most.
const startMemory = 48 << 20

// Start checks that there is enough memory for small files, and keeps the garbage of Go's runtime within what there
// is, until release is called. The runtime knows of no limits of the system.
func Start() (release func(), err error) {
	if err := Check(text.Program, startMemory, "raise the limit"); err != nil {
		return nil, err
	}
	return hold(int64(min(uint64(debug.SetMemoryLimit(-1)), Left()))), nil
}

// largeEntry is the size from which on the memory for what an entry becomes is checked.
const largeEntry = 64 << 20

// CheckWrite returns a *ShortError if a large entry cannot be written to a table: it is copied to a block that grows,
// and to what that is compressed to.
func CheckWrite(key, value []byte) error { return checkEntry(key, value, 4, "raise the limit") }

// CheckPrint returns a *ShortError if a large entry cannot be printed: a byte can become 4, in memory that grows.
func CheckPrint(key, value []byte) error {
	return checkEntry(key, value, 12, "raise the limit, or use sst get --format raw")
}

func checkEntry(key, value []byte, times uint64, do string) error {
	n := uint64(len(key) + len(value))
	if n < largeEntry {
		return nil
	}
	return Check("an entry of "+text.Bytes(n), times*n, do)
}
