package command

import (
	"bufio"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"sync"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/tempfile"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/input"
	"github.com/sievetable/sievetable/table/cmd/internal/progress"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/merge"
)

// The values of --on-duplicate: the entry of a repeated key to take.
const (
	ruleAuto   = "auto" // for merge: newest or last
	ruleNewest = "newest"
	ruleLast   = "last"
	ruleFirst  = "first"
	ruleError  = "error"
	ruleCount  = "count" // for build: the number of entries
)

// appendPairs appends the pairs of the inputs to OUT, in the order of their keys.
func (b *build) appendPairs(c *copier) (err error) {
	b.read.Options.Temporary = c.temporary
	counts := b.flags.onDuplicate == ruleCount
	to := &chooser{to: c, compare: c.options.Comparer.Compare, rule: b.flags.onDuplicate, keysOnly: counts || c.filterOnly, internal: b.internal}
	if !b.flags.sorted && !counts {
		to.rule = "" // appendChosen drops repeated keys
	}
	pairs, dropped := b.read.Pairs(c.cmd.Context()), uint64(0)
	if b.flags.sorted {
		err = b.appendSorted(to, pairs)
	} else {
		c.bar = sync.OnceValue(func() *progress.Bar { return progress.Count(b.read.Stderr, int64(b.read.N), "writing", "pairs") })
		dropped, err = appendChosen(to, input.Sort(c.cmd.Context(), pairs, c.sorting()), b.flags.onDuplicate, b.internal)
	}
	if err == nil {
		err = to.flush()
	}
	if errors.Is(err, errRepeated) {
		return fmt.Errorf("%w: %s", err, b.repeatAdvice())
	}
	if err != nil {
		return err
	}
	if dropped > 0 {
		c.note("skipped %s with a repeated key", text.Count(dropped, "pair"))
	}
	if to.repeated > 0 {
		c.note("skipped %s", text.Count(to.repeated, "repeated key"))
	}
	if why := "--filter-only keeps keys only"; to.leftOut > 0 {
		if counts {
			why = "--on-duplicate count keeps numbers only"
		}
		c.note("dropped %s: %s", text.Count(to.leftOut, "value"), why)
	}
	return nil
}

// appendSorted appends the pairs of sorted inputs.
func (b *build) appendSorted(to appender, pairs iter.Seq2[input.Pair, error]) error {
	err := appendEach(to, pairs)
	switch {
	case errors.Is(err, errRepeated):
		return fmt.Errorf("%s: %w", b.read.Place(), err)
	case errors.Is(err, table.ErrOrder):
		return fmt.Errorf("%s: %s: sort %s, or leave out --sorted", b.read.Place(), strings.TrimPrefix(err.Error(), "table: "), b.sortAdvice())
	}
	return err
}

// errRepeated is the error for a repeated key, if the rule is ruleError.
var errRepeated = errors.New("appears twice")

// repeatAdvice says what to do about repeated keys.
func (b *build) repeatAdvice() string {
	advice := "use --on-duplicate first or last to keep one"
	if !b.filterOnly && !b.internal {
		advice += ", or count to store how often each key occurs"
	}
	return advice
}

// sortAdvice says how to sort the input for --sorted.
func (b *build) sortAdvice() string {
	switch {
	case b.internal:
		return "the input by key, and the versions of each key by descending sequence number"
	case b.order != table.BytewiseComparer:
		return "the input in the order of --comparator " + b.flags.comparator
	}
	return "the input bytewise, as by LC_ALL=C sort"
}

// appendEach appends pairs in their order.
func appendEach(to appender, pairs iter.Seq2[input.Pair, error]) error {
	for p, err := range pairs {
		if err == nil {
			err = to.Append(p.Key, p.Value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// appendChosen appends the sorted records. From records with the same key, it selects by the rule. It returns the
// number of dropped records. An error names keys as internal keys if they are.
func appendChosen(to appender, records iter.Seq2[*merge.Sorted, error], rule string, internal bool) (dropped uint64, err error) {
	var before merge.Sorted
	for r, err := range records {
		if err != nil {
			return 0, err
		}
		if before.NextSameKey && rule == ruleError {
			return 0, fmt.Errorf("key %v %w (pairs %d and %d of the input)", text.Key{Stored: r.Key, Internal: internal}, errRepeated, before.Number+1, r.Number+1)
		}
		drop := before.NextSameKey && rule == ruleFirst || r.NextSameKey && rule == ruleLast
		if before = *r; drop {
			dropped++
			continue
		}
		value, err := r.Value()
		if err == nil {
			err = to.Append(r.Key, value)
		}
		if err != nil {
			return 0, err
		}
	}
	return dropped, nil
}

// A chooser forwards sorted pairs. It can drop values, and it applies a rule to repeated keys. To count them or to
// take the last one, it holds a pair back until flush.
type chooser struct {
	to       appender
	compare  func(a, b []byte) int
	rule     string // for repeated keys; "": there are none
	keysOnly bool   // values are dropped
	internal bool   // keys are internal keys
	last     []byte // the key before, if there is a rule
	value    []byte // of last, if it is held back
	count    uint64 // of last, if it is held back

	leftOut, repeated uint64 // numbers of dropped values and keys
}

func (c *chooser) Append(key, value []byte) error {
	order := -1
	if c.last != nil {
		order = c.compare(c.last, key)
	}
	switch {
	case order > 0:
		return fmt.Errorf("%w: %v after %v", table.ErrOrder, c.named(key), c.named(c.last))
	case order == 0 && c.rule == ruleFirst:
		c.repeated++
		return nil
	}
	if c.keysOnly && len(value) > 0 {
		c.leftOut++
		value = nil
	}
	if order == 0 {
		return c.repeat(value)
	}
	if err := c.flush(); err != nil {
		return err
	}
	if c.rule != "" {
		c.last = format.AppendNotNil(c.last[:0], key)
	}
	if c.rule == ruleCount || c.rule == ruleLast {
		c.count, c.value = 1, append(c.value[:0], value...)
		return nil
	}
	return c.to.Append(key, value)
}

// named returns a key for an error.
func (c *chooser) named(key []byte) text.Key { return text.Key{Stored: key, Internal: c.internal} }

// repeat handles a pair with the last key.
func (c *chooser) repeat(value []byte) error {
	switch c.rule {
	case ruleError:
		return fmt.Errorf("key %v %w", c.named(c.last), errRepeated)
	case ruleLast:
		c.repeated++
	}
	c.count, c.value = c.count+1, append(c.value[:0], value...)
	return nil
}

// flush forwards the pair that is held back, if there is one.
func (c *chooser) flush() error {
	if c.count == 0 {
		return nil
	}
	if c.rule == ruleCount {
		c.value = strconv.AppendUint(c.value[:0], c.count, 10)
	}
	c.count = 0
	return c.to.Append(c.last, c.value)
}

// A keyList has the sorted keys of --never or --delete, as a table in a temporary file that can be read several
// times.
type keyList struct {
	path string
	file tempfile.File
	r    *table.Reader
}

// read reads and sorts the keys.
func (l *keyList) read(c *copier, in input.Reader) error {
	if err := l.file.Create(c.tempDir); err != nil {
		return err
	}
	in.Paths = []string{l.path}
	ctx := c.cmd.Context()
	order, out := c.options.Comparer, bufio.NewWriterSize(l.file, 1<<20)
	w, err := table.NewWriter(out, &table.WriterOptions{Comparer: order, BlockSize: 64 << 10})
	if err != nil {
		return err
	}
	defer w.Abort() // does nothing after Close
	if _, err := appendChosen(&chooser{to: w, keysOnly: true}, input.Sort(ctx, in.Pairs(ctx), c.sorting()), ruleFirst, false); err != nil {
		return err
	}
	if err := errors.Join(w.Close(), out.Flush()); err != nil {
		return err
	}
	l.r, err = table.NewReader(l.file, w.Size(), &table.ReaderOptions{Comparer: order})
	return err
}

// within returns the listed keys in the range of a table, for WriterOptions.Never. Unknown ends of the range are
// open. A set looks up no other keys in that table.
func (l *keyList) within(keys *keyRange) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		o := &table.IterOptions{Lower: keys.first, ReadAhead: 256 << 10}
		if keys.whole {
			o.Upper = append(format.AppendNotNil(nil, keys.last), 0)
		}
		for e, err := range l.r.All(o) {
			if !yield(e.Key, err) || err != nil {
				return
			}
		}
	}
}

// A keyRange is the known key range of a table that is being written.
type keyRange struct {
	first, last []byte // nil: no key yet
	whole       bool   // no more keys follow
}

func (r *keyRange) add(key []byte) {
	if r.first == nil {
		r.first = format.AppendNotNil(nil, key)
	}
	r.last = format.AppendNotNil(r.last[:0], key)
}
