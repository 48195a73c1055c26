package filter_test

import (
	"math"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/filtertest"
)

// A failure is an error and its expected text.
type failure struct {
	want string
	err  error
}

// checkFailures checks that every error has the expected text, and begins with the package's name, once.
func checkFailures(t *testing.T, failures []failure) {
	t.Helper()
	for _, f := range failures {
		want := "filter: " + f.want
		if f.err == nil || f.err.Error() != want || strings.Count(want, "filter: ") != 1 {
			t.Errorf("error is %v, want %s", f.err, want)
		}
	}
}

func errorOf(_ any, err error) error { return err }

func TestErrorsOfFilterBlocks(t *testing.T) {
	t.Parallel()
	bloom := filter.NewBloom(10)
	const large = "filter block of more than 4294967295 bytes: write a smaller table, or use a larger base lg"
	checkFailures(t, []failure{
		{"no policy", errorOf(filter.NewBlockWriter(nil, 11))},
		{"base lg is 31: must be 0 to 30", errorOf(filter.NewBlockWriter(bloom, 31))},
		{"base lg is -1: must be 0 to 30", errorOf(filter.NewBlockWriter(bloom, -1))},
		{"data block at 9999 after the one at 10000: offsets must ascend", startBlocks(t, 11, 10_000, 10_000, 9999)},
		{large, startBlocks(t, 0, 1<<30)},
		{large, startBlocks(t, 0, 1<<62)},
		{large, startBlocks(t, 0, 1<<63)},
		{large, startBlocks(t, 0, math.MaxUint64)},
		{"the policy generated a filter of 0 bytes for 1 keys", startBlocksOf(t, silentPolicy{}, 11, 0)},
		{"no policy", errorOf(filter.NewBlockReader([]byte("\x00\x00\x00\x00\x0b"), nil))},
		{"filter block of 0 bytes is too short (minimum 5)", checkBlock("")},
		{"filter block of 4 bytes is too short (minimum 5)", checkBlock("\x00\x00\x00\x0b")},
		{"filter offsets at [5, 4): not a whole number of 4-byte offsets",
			checkBlock("\x00\x00\x00\x00\x05\x00\x00\x00\x0b")},
		{"filter offsets at [4294967295, 0): not a whole number of 4-byte offsets", checkBlock("\xff\xff\xff\xff\x0b")},
		{"filter offsets at [0, 2): not a whole number of 4-byte offsets", checkBlock("\x00\x00\x00\x00\x00\x00\x0b")},
		{"base lg is 31 (maximum 30)", checkBlock("\x00\x00\x00\x00\x1f")},
		{"base lg is 255 (maximum 30)", checkBlock("\x00\x00\x00\x00\xff")},
		{"filter 0 is at [1, 0): out of order, or outside the 0 bytes of filters",
			checkBlock("\x01\x00\x00\x00\x00\x00\x00\x00\x0b")},
		{"Bloom filter of 1 bytes is too short (minimum 9), in filter 0 of the block",
			checkBlock("\x06\x00\x00\x00\x00\x01\x00\x00\x00\x0b")},
	})
}

// startBlocks starts data blocks with one key each at the offsets. Only the last one may fail, and Finish must
// return the same error.
func startBlocks(t *testing.T, baseLg int, offsets ...uint64) error {
	t.Helper()
	return startBlocksOf(t, listPolicy{}, baseLg, offsets...)
}

func startBlocksOf(t *testing.T, p filter.Policy, baseLg int, offsets ...uint64) error {
	t.Helper()
	w, err := filter.NewBlockWriter(p, baseLg)
	for _, offset := range offsets {
		noError(t, err)
		err = w.StartBlock(offset)
		w.Add([]byte("a"))
	}
	_, finishErr := w.Finish()
	if err != nil && (w.StartBlock(math.MaxUint64) != err || finishErr != err) {
		t.Errorf("the error %v does not stay: %v", err, finishErr)
	}
	return finishErr
}

// silentPolicy writes filters of 0 bytes, which in a filter block mean "no keys".
type silentPolicy struct{ listPolicy }

func (silentPolicy) NewGenerator() filter.Generator { return silentGenerator{} }

type silentGenerator struct{}

func (silentGenerator) Add([]byte)             {}
func (silentGenerator) Generate(filter.Buffer) {}

// checkBlock opens a filter block of Bloom filters, and checks them.
func checkBlock(block string) error {
	r, err := filter.NewBlockReader([]byte(block), filter.NewBloom(10))
	if err != nil {
		return err
	}
	return r.Check()
}

func TestErrorsOfBloomFilters(t *testing.T) {
	t.Parallel()
	array := make([]byte, 8)
	sound, zero, seven, reserved := append(array, 6), append(array, 0), append(array, 7), append(array, 31)
	longer := append(make([]byte, 9), 6)
	small, few := newDynamicBloom(t, 10, 10), newDynamicBloom(t, 1, 10)
	const (
		tooMany = " bits each exceeds 4294967288 bits: use several filters, or module filter/blocked"
		noK     = "Bloom filter with k = 0 (minimum 1)"
		noAdd   = "Bloom filter with k = 31 (maximum 30): keys cannot be added"
		unequal = ": sizes and k must be equal"
	)
	checkFailures(t, []failure{
		{"Bloom filter of 0 bytes is too short (minimum 9)", filter.NewBloom(10).Check(nil)},
		{"Bloom filter of 8 bytes is too short (minimum 9)", filter.NewBloom(10).Check(array)},
		{noK, filter.NewBloom(10).Check(zero)},
		{"Bloom filter of 8 bytes is too short (minimum 9)", errorOf(filter.Probe(array, nil))},
		{noK, errorOf(filter.Probe(zero, nil))},
		{"Bloom filter of 5 bytes is too short (minimum 9)", errorOf(filter.Inspect([]byte("short")))},
		{"Bloom filter of 0 bits per key (minimum 1)", errorOf(filter.NewDynamicBloom(10, 0))},
		{"Bloom filter of -1 bits per key (minimum 1)", errorOf(filter.NewDynamicBloom(10, -1))},
		{"Bloom filter of 429496729 keys with 11" + tooMany, errorOf(filter.NewDynamicBloom(429_496_729, 11))},
		{"Bloom filter of 3 keys with 2147483647" + tooMany, errorOf(filter.NewDynamicBloom(3, math.MaxInt32))},
		{"Bloom filter of 9223372036854775808 keys with 2" + tooMany, errorOf(filter.NewDynamicBloom(1<<63, 2))},
		{"counting Bloom filter of 0 bits per key (minimum 1)", errorOf(filter.NewCountingBloom(10, 0))},
		{"counting Bloom filter of 4294967296 keys with 1 bits each exceeds 4294967288 bits: use several filters", errorOf(filter.NewCountingBloom(1<<32, 1))},
		{"Bloom filter of 8 bytes is too short (minimum 9)", errorOf(filter.OpenDynamicBloom(array))},
		{noK, errorOf(filter.OpenDynamicBloom(zero))},
		{noAdd, errorOf(filter.OpenDynamicBloom(reserved))},
		{"union of filters of 14 and 126 bytes, with k = 6 and 6" + unequal, small.Union(newDynamicBloom(t, 100, 10))},
		{"union of filters of 9 and 9 bytes, with k = 6 and 5" + unequal, few.Union(newDynamicBloom(t, 8, 8))},
		{"intersection of filters of 14 and 9 bytes, with k = 6 and 6" + unequal, small.Intersect(few)},
		{"union of filters of 9 and 10 bytes, with k = 6 and 6" + unequal, errorOf(filter.Union(sound, longer))},
		{"intersection of filters of 9 and 9 bytes, with k = 6 and 7" + unequal, errorOf(filter.Intersect(sound, seven))},
		{noAdd + ", in the first filter of a union", errorOf(filter.Union(reserved, reserved))},
		{noK + ", in the second filter of an intersection", errorOf(filter.Intersect(sound, zero))},
		{"false-positive rate 2: must be > 0 and < 1", errorOf(filter.ForRate(filter.NewBloom, 1, 2))},
		{"no filter of 1 key with ≤ 64 bits per key has a false-positive rate of 1e-15: use module filter/fuse (lowest rate 2^-16) or filter/blocked (1e-9)",
			errorOf(filter.ForRate(filter.NewTableBloom, 1, 1e-15))},
	})
}

func TestErrorsOfTableFilters(t *testing.T) {
	t.Parallel()
	line := string(make([]byte, 64))
	open := func(contents string) error { return errorOf(filter.NewTableBloom(10).Open([]byte(contents))) }
	p := filter.NewTableBloom(10)
	small, large := filtertest.BuildTable(t, p, "a"), filtertest.BuildTable(t, p.SizedFor(1000), "a")
	const (
		short   = " bytes is too short (minimum 69)"
		most    = ": must be 1 to 127"
		size    = " bytes: a line has 64 bytes"
		unequal = ": sizes and k must be equal"
	)
	checkFailures(t, []failure{
		{"table filter of 0" + short, open("")},
		{"table filter of 5" + short, open("\x06\x01\x00\x00\x00")}, // cut short
		{"table filter of 5" + short, open("\x01\x00\x00\x00\x00")}, // no lines, but k
		{"table filter of 0 lines in 64" + size, open(line + "\x06\x00\x00\x00\x00")},
		{"table filter of 2 lines in 64" + size, open(line + "\x06\x02\x00\x00\x00")},
		{"table filter of 1 lines in 128" + size, open(line + line + "\x06\x01\x00\x00\x00")},
		{"table filter of 4294967295 lines in 64" + size, open(line + "\x06\xff\xff\xff\xff")},
		{"table filter of 1 lines in 96" + size, open(line + line[:32] + "\x06\x01\x00\x00\x00")},
		{"table filter with k = 0" + most, open(line + "\x00\x01\x00\x00\x00")},
		{"table filter with k = -1" + most, open(line + "\xff\x01\x00\x00\x00")}, // RocksDB's FastLocalBloom
		{"table filter with k = -128" + most, open(line + "\x80\x01\x00\x00\x00")},
		{"table filter of 5" + short, errorOf(filter.InspectTable([]byte("short")))},
		{"table filter of 2" + short + ", in the first filter of a union", errorOf(filter.UnionTable([]byte("ab"), small))},
		{"table filter of 2" + short + ", in the second filter of a union", errorOf(filter.UnionTable(small, []byte("ab")))},
		{"union of table filters of 1 lines with k = 6 and 21 lines with k = 6" + unequal,
			errorOf(filter.UnionTable(small, large))},
		{"union of table filters of 1 lines with k = 6 and 1 lines with k = 2" + unequal,
			errorOf(filter.UnionTable(small, filtertest.BuildTable(t, filter.NewTableBloom(3), "a")))},
	})
}
