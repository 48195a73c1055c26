// Package memory divides the memory that --memory allows, makes the process keep to it, and checks that large
// allocations fit before they are made.
package memory

import (
	"cmp"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/sievetable/sievetable/internal/alloc"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
)

// A Limit is the value of --memory. A command uses at most about this much memory plus 64 MiB. Zero means
// DefaultLimit, for a command without the flag.
type Limit int64

// MinLimit is the smallest limit. A smaller one would not cover the fixed costs of sorting and compression.
const MinLimit Limit = 32 << 20

const (
	pairShare  = 16 // a pair has several copies in memory: as text, in blocks, compressed
	indexShare = 2
	fileShare  = 4 // blocks found in a file take about as much memory again
	sortShare  = 4 // the pairs that are being read need memory too

	minPair = 2 << 20 // a pair may always take this much
	maxPair = 1 << 30 // the largest block in a table; a pair in it has at most 32 bytes less

	// A goroutine that compresses blocks has an encoder, and several blocks before and
	// after compression.
	workerMemory = 32 << 20
	workerBlocks = 16

	// gcHeadroom is added to the limit of the garbage collector. The rest of the 64 MiB
	// is used by the program itself.
	gcHeadroom = 36 << 20
)

// DefaultLimit is the Limit without --memory, if there is that much memory.
const DefaultLimit Limit = 1 << 30

// overhead is the most that a command uses beyond its Limit.
const overhead = 64 << 20

// slack is the memory that a process may take between two checks, for example for a thread.
const slack = 8 << 20

// Usual returns the Limit without --memory: DefaultLimit, or less if there is less memory.
func Usual() (Limit, error) {
	l := min(DefaultLimit, Limit(Left())-overhead)
	return l, max(l-slack, MinLimit).Check()
}

// Check returns an error if there is not enough memory for l.
func (l Limit) Check() error {
	do := "raise the limit"
	if most := int64(Left()) - overhead; most >= int64(MinLimit) {
		do = fmt.Sprintf("use --memory %dMiB, or raise the limit", most>>20)
	}
	return Check(fmt.Sprintf("%s with --memory %dMiB", text.Program, l>>20), uint64(l)+overhead, do)
}

// Apply sets the memory limit of the garbage collector until release is called.
func (l Limit) Apply() (release func()) {
	return hold(min(debug.SetMemoryLimit(-1), int64(l)+gcHeadroom)) // GOMEMLIMIT may be lower
}

// hold sets the memory limit of Go's runtime until release is called.
func hold(limit int64) (release func()) {
	before := debug.SetMemoryLimit(limit)
	return func() { debug.SetMemoryLimit(before) }
}

// MaxPair is the maximum size of a line, of a file that becomes a value, and of a block.
func (l Limit) MaxPair() int { return int(min(cmp.Or(l, DefaultLimit)/pairShare+minPair, maxPair)) }

// SortMemory is the memory limit for sorting pairs.
func (l Limit) SortMemory() int64 { return int64(l / sortShare) }

// MaxWorkers is the maximum number of goroutines that compress blocks of this size.
func (l Limit) MaxWorkers(blockSize int) int {
	each := max(workerMemory, workerBlocks*Limit(blockSize))
	return int(max(1, min(l/each, 1024)))
}

// CheckPair returns an error if size > MaxPair.
func (l Limit) CheckPair(size int64) error {
	if size > maxPair {
		return fmt.Errorf("%d bytes, but a pair has at most %d", size, maxPair-32)
	}
	if size > int64(l.MaxPair()) {
		if l == 0 {
			return fmt.Errorf("%d bytes, above the limit of %d", size, l.MaxPair())
		}
		return fmt.Errorf("%d bytes, above the limit of %d (1/16 of --memory plus 2 MiB): %s", size, l.MaxPair(), suggestLimit(size-minPair, pairShare))
	}
	return nil
}

// CheckFile returns an error if a file of this size is too large to be read into memory.
func (l Limit) CheckFile(size int64) error {
	if most := int64(l / fileShare); size > most {
		return fmt.Errorf("%d bytes, above the limit of %d (1/4 of --memory): %s", size, most, suggestLimit(size, fileShare))
	}
	return nil
}

// CheckIndex returns an error if an index of this size is too large. The Writer has up to two copies of the
// index.
func (l Limit) CheckIndex(size int64) error {
	if most := int64(l / indexShare); size > most {
		return fmt.Errorf("the table's index is above the limit of %d bytes (1/2 of --memory): use a larger --block-size or --memory", most)
	}
	return nil
}

// suggestLimit advises the smallest --memory of which 1/part is at least size.
func suggestLimit(size, part int64) string {
	return fmt.Sprintf("use --memory %dMiB", (size-1)/(1<<20/part)+1)
}

// LongLineError is the error for a line longer than MaxPair, whose full length is unknown.
func (l Limit) LongLineError() error {
	if l.MaxPair() == maxPair {
		return l.CheckPair(maxPair + 1)
	}
	if l == 0 {
		return fmt.Errorf("longer than the limit of %d bytes", l.MaxPair())
	}
	return fmt.Errorf("longer than the limit of %d bytes (1/16 of --memory plus 2 MiB): use a --memory of 16 times the line", l.MaxPair())
}

// A ShortError reports that something needs more memory than sst may take.
type ShortError struct {
	What  string // what needs it
	Need  uint64 // bytes
	Limit string // how much there is, and where the limit comes from
	Do    string // what the user can do
}

func (e *ShortError) Error() string {
	return fmt.Sprintf("%s needs %s of memory, but %s: %s", e.What, text.Bytes(e.Need), e.Limit, e.Do)
}

// A bound is the number of further bytes that the process may take, and the limit that it comes from.
type bound struct {
	bytes uint64
	by    string
}

func (b bound) String() string { return fmt.Sprintf("the limit is %s (%s)", text.Bytes(b.bytes), b.by) }

// goLimit is GOMEMLIMIT: at initialization, nothing has changed the runtime's limit yet.
var goLimit = debug.SetMemoryLimit(-1)

// smallest returns the smallest bound.
func smallest() bound {
	all := append([]bound{{uint64(goLimit), "GOMEMLIMIT"}}, systemBounds()...)
	return slices.MinFunc(all, func(a, b bound) int { return cmp.Compare(a.bytes, b.bytes) })
}

// Left returns the number of further bytes that the process may take. It is at most math.MaxInt64, as GOMEMLIMIT
// is.
func Left() uint64 { return smallest().bytes }

// Check returns a *ShortError if the process may not take need further bytes. do is advice for the user. Check
// large allocations before making them: if the system refuses memory to Go's runtime, the process ends at once,
// prints the traces of all goroutines, and leaves temporary files behind.
func Check(what string, need uint64, do string) error {
	var refused *alloc.Error
	errors.As(alloc.Check(need), &refused)
	return shortOf(what, need, refused, do)
}

// Short returns the first error in err about a lack of memory as a *ShortError, or nil if there is none. An error
// of the library names the limit of Go's runtime. If that comes from a limit of the system, Short names this
// instead.
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
	limit := bound{refused.Limit, text.Program + "'s limit for the Go runtime"}
	return &ShortError{what, refused.Needed, limit.String(), "use a larger --memory, or raise the limit"}
}

// shortOf returns a *ShortError if a bound or the system refuses need further bytes, or else nil. refused may be
// nil.
func shortOf(what string, need uint64, refused *alloc.Error, do string) error {
	switch b := smallest(); {
	case need > b.bytes:
		return &ShortError{what, need, b.String(), do}
	case refused != nil && refused.Err != nil:
		return &ShortError{what, refused.Needed, "the system refuses it (" + refused.Err.Error() + ")", do}
	}
	return nil
}

// Take checks for need bytes on top of --memory, and raises the limit of Go's runtime by them until release is
// called.
func Take(what string, need uint64, do string) (release func(), err error) {
	if err := Check(what, need, do); err != nil {
		return nil, err
	}
	before := debug.SetMemoryLimit(-1)
	return hold(max(before, int64(min(uint64(before)+need, uint64(goLimit))))), nil
}

// startMemory is the most memory that a command takes with small files.
const startMemory = 48 << 20

// Start checks that there is enough memory for small files. Until release is called, it limits Go's runtime to
// the memory that there is, since the runtime does not know the limits of the system.
func Start() (release func(), err error) {
	if err := Check(text.Program, startMemory, "raise the limit"); err != nil {
		return nil, err
	}
	return hold(int64(min(uint64(debug.SetMemoryLimit(-1)), Left()))), nil
}

// largeEntry is the smallest size of an entry whose copies are checked for memory.
const largeEntry = 64 << 20

// CheckWrite returns a *ShortError if there is not enough memory to write a large entry to a table. It is copied
// to a growing block, which is then compressed.
func CheckWrite(key, value []byte) error { return checkEntry(key, value, 4, "raise the limit") }

// CheckPrint returns a *ShortError if there is not enough memory to print a large entry. A byte can become 4, in
// a growing buffer.
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
