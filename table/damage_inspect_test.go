package table_test

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/filtertest"
	"github.com/sievetable/sievetable/internal/rawtable"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/layout"
)

// twoBlocks is a sound table of keys a, b and c, d, each part of which can be replaced.
type twoBlocks struct {
	data1, data2 stored
	separators   [2]string
	handles      func(h1, h2 string) (string, string)
	filter       string // block; "": none
	meta         func(filter string) string
	index        func(h1, h2 string) stored
	footer       func(metaindex, index string) (string, string)
	end          func(file []byte) []byte
}

// stored is a block under a compression id.
type stored struct {
	contents string
	id       byte
}

func raw(contents string) stored { return stored{contents, 0} }

const bloomName = "filter.leveldb.BuiltinBloomFilter"

// sound returns a sound table: blocks of 22 bytes at 0 and 27, the filter of 18 at 54, the metaindex of 46 at 77,
// the index at 128.
func sound() twoBlocks {
	one := filtertest.Build(filter.NewBloom(10), "a", "b", "c", "d")
	return twoBlocks{
		data1:      raw(rawtable.Entries("a", "1", "b", "2")),
		data2:      raw(rawtable.Entries("c", "3", "d", "4")),
		separators: [2]string{"b", "e"},
		handles:    func(h1, h2 string) (string, string) { return h1, h2 },
		filter:     string(one) + "\x00\x00\x00\x00" + string([]byte{byte(len(one)), 0, 0, 0}) + "\x0b",
		meta:       func(h string) string { return rawtable.Entries(bloomName, h) },
		footer:     func(metaindex, index string) (string, string) { return metaindex, index },
		end:        func(file []byte) []byte { return file },
	}
}

func (p twoBlocks) build() []byte {
	var f rawtable.File
	h1, h2 := f.Stored(p.data1.contents, p.data1.id), f.Stored(p.data2.contents, p.data2.id)
	h1, h2 = p.handles(h1, h2)
	meta := rawtable.Entries()
	if p.filter != "" {
		meta = p.meta(f.Block(p.filter))
	}
	metaindex := f.Block(meta)
	index := raw(rawtable.Entries(p.separators[0], h1, p.separators[1], h2))
	if p.index != nil {
		index = p.index(h1, h2)
	}
	metaindex, at := p.footer(metaindex, f.Stored(index.contents, index.id))
	return p.end(f.Footer(metaindex, at))
}

// soundBut returns the table with one fault.
func soundBut(damage func(p *twoBlocks)) []byte {
	p := sound()
	damage(&p)
	return p.build()
}

var soundPairs = []workload.Pair{
	{Key: []byte("a"), Value: []byte("1")}, {Key: []byte("b"), Value: []byte("2")},
	{Key: []byte("c"), Value: []byte("3")}, {Key: []byte("d"), Value: []byte("4")},
}

// An inspection reads a table in every way, and checks that each operation, for any file, ends, stays within its
// memory, and returns an error that names the corrupt part, or entries that are in truth (nil: any).
type inspection struct {
	t        *testing.T
	name     string
	contents []byte
	o        *table.ReaderOptions
	truth    map[string][]string

	opened, forward, backward, verified error
	damage                              []error // of all operations but Verify
	entries                             int     // on the way forward
	steps                               int     // on the last way
}

// truthOf returns the truth for tables whose entries must be among pairs.
func truthOf(pairs ...workload.Pair) map[string][]string {
	m := map[string][]string{}
	for _, p := range pairs {
		m[string(p.Key)] = append(m[string(p.Key)], string(p.Value))
	}
	return m
}

// inspect tries every operation on a table. It measures the allocations of the whole process, so tests that call it
// must not run in parallel.
func inspect(t *testing.T, name string, contents []byte, o *table.ReaderOptions, truth map[string][]string) *inspection {
	t.Helper()
	in := &inspection{t: t, name: name, contents: contents, o: o, truth: truth}
	in.takeApart()
	in.sameInAnotherForm()
	var r *table.Reader
	in.do("NewReader", func() error {
		r, in.opened = table.NewReader(bytes.NewReader(contents), int64(len(contents)), o)
		return in.opened
	})
	if (in.opened == nil) != (r != nil) {
		t.Errorf("%s: NewReader = %v, %v", name, r, in.opened)
	}
	if in.opened != nil {
		in.forward, in.backward, in.verified = in.opened, in.opened, in.opened
		return in
	}
	for _, key := range []string{"", "a", "aa", "b", "c", "d", "zz"} {
		in.lookUp(r, key)
	}
	in.do("forward", func() error { in.forward, in.entries = in.walk(r.NewIter(nil), true), in.steps; return in.forward })
	in.do("backward", func() error { in.backward = in.walk(r.NewIter(nil), false); return in.backward })
	in.passOverDamage(r)
	in.resume(r)
	in.describe(r)
	in.do("Verify", func() error { in.verified = r.Verify(); return in.verified })
	if in.verified == nil && len(in.damage) > 0 {
		t.Errorf("%s: Verify finds nothing, but %v", name, errors.Join(in.damage...))
	}
	return in
}

// do checks one operation's memory, and the form of its error, which quotes at most 64 bytes of each key.
func (in *inspection) do(operation string, f func() error) {
	in.t.Helper()
	before := allocated()
	err := f()
	if got, most := allocated()-before, uint64(64<<20+32*len(in.contents)); got > most {
		in.t.Errorf("%s: %s allocated %d bytes, want at most %d", in.name, operation, got, most)
	}
	for _, quoted := range quotedText.FindAllString(fmt.Sprint(err), -1) {
		if text, unquoteErr := strconv.Unquote(quoted); unquoteErr != nil || len(text) > 64 {
			in.t.Errorf("%s: %s quotes %d bytes, %v: %.200s", in.name, operation, len(text), unquoteErr, quoted)
		}
	}
	if operation != "Verify" && errors.Is(err, table.ErrCorrupt) {
		in.damage = append(in.damage, fmt.Errorf("%s: %w", operation, err))
	}
	var c *table.CorruptionError
	switch {
	case err == nil || errors.Is(err, table.ErrNotFound) || errors.Is(err, table.ErrFilterOnly):
	case strings.Contains(textOf(err), "no policy of that name in the options") && (operation == "NewReader" || operation == "Filters"): // not corruption
	case operation == "Verify" && strings.Contains(textOf(err), "not checked for all keys"): // not corruption
	case !errors.Is(err, table.ErrCorrupt) || !errors.As(err, &c):
		in.t.Errorf("%s: %s = %v, want a *CorruptionError", in.name, operation, err)
	case c.Block == "" || c.Offset < 0 || c.Offset > int64(len(in.contents)) || c.Err == nil:
		in.t.Errorf("%s: %s = %#v, want part, offset and cause", in.name, operation, c)
	}
}

// quotedText matches quoted text in an error.
var quotedText = regexp.MustCompile(`"(\\.|[^"\\])*"`)

// allocated returns the number of bytes allocated so far, without recent small objects. Unlike runtime.ReadMemStats,
// it does not stop the world.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// true checks an entry that was found.
func (in *inspection) true(operation string, key, value []byte) {
	in.t.Helper()
	if in.truth != nil && !slices.Contains(in.truth[string(key)], string(value)) {
		in.t.Errorf("%s: %s found %.100q=%.100q, which is not in the table", in.name, operation, key, value)
	}
}

// lookUp looks up key in every way.
func (in *inspection) lookUp(r *table.Reader, key string) {
	in.t.Helper()
	it := r.NewIter(nil)
	at := func(found bool) (k, value []byte, err error) {
		if found {
			k, value = it.Key(), it.Value()
		}
		return k, value, it.Error()
	}
	for name, look := range map[string]func(key []byte) (k, value []byte, err error){
		"Get":    func(key []byte) (_, value []byte, err error) { value, err = r.Get(key); return key, value, err },
		"Find":   r.Find,
		"FindGE": func(key []byte) (_, _ []byte, err error) { _, _, err = r.FindGE(key); return nil, nil, err },
		"Locate": func(key []byte) (_, _ []byte, err error) { _, err = r.Locate(key); return nil, nil, err },
		"GetMany": func(key []byte) (_, _ []byte, err error) {
			values, err := getMany(r, [][]byte{key}, nil)
			return key, values[0], err
		},
		"SeekGE": func(key []byte) (_, _ []byte, err error) { return at(it.SeekGE(key)) },
		"SeekLT": func(key []byte) (_, _ []byte, err error) { return at(it.SeekLT(key)) },
	} {
		in.do(name+" "+key, func() error {
			k, value, err := look([]byte(key))
			if value != nil {
				in.true(name, k, value)
			}
			return err
		})
	}
}

// describe calls the methods that describe a table.
func (in *inspection) describe(r *table.Reader) {
	in.t.Helper()
	if err := r.FilterErr(); errors.Is(err, table.ErrCorrupt) {
		in.damage = append(in.damage, err)
	}
	in.do("Properties", func() error { return errorOf(r.Properties()) })
}

// passOverDamage continues after corrupt data blocks, which is possible in both directions if the index can be read.
// It must find at least the entries before the first such block.
func (in *inspection) passOverDamage(r *table.Reader) {
	in.t.Helper()
	steps, bounded := map[bool]int{}, false
	for _, forward := range []bool{true, false} {
		met := passOver{}
		in.do("passing over damage", func() error {
			err := in.walk(r.NewIter(&table.IterOptions{OnLoss: met.onLoss}), forward)
			steps[forward] = in.steps
			return err
		})
		for _, e := range met.met {
			bounded = bounded || strings.Contains(e.Error(), "memory for such keys is bounded") // at one block or another
			if e.KeysUpTo == nil || e.Block != layout.DataBlock {
				in.t.Errorf("%s: OnLoss(%v), which does not say what is lost", in.name, e)
			}
		}
	}
	if steps[true] != steps[false] && !bounded || steps[true] < in.entries {
		in.t.Errorf("%s: past damage there are %d entries forward and %d backward, and %d before the first damage", in.name, steps[true], steps[false], in.entries)
	}
}

// resume seeks a key from the file, which may be very long, and iterates with it as a bound.
func (in *inspection) resume(r *table.Reader) {
	in.t.Helper()
	it := r.NewIter(nil)
	if !it.Last() {
		return
	}
	last := bytes.Clone(it.Key())
	in.do("SeekGE of Key", func() error { it.SeekGE(it.Key()); return it.Error() })
	in.do("SeekLT of Key", func() error { it.SeekLT(it.Key()); return it.Error() })
	for name, o := range map[string]table.IterOptions{"up to": {Upper: last}, "from": {Lower: last}} {
		it := r.NewIter(&o)
		in.do(name+" a key, forward", func() error { return in.walk(it, true) })
		in.do(name+" a key, backward", func() error { return in.walk(it, false) })
	}
}

// walk moves to one end and from there to the other, in order.
func (in *inspection) walk(it *table.Iter, forward bool) error {
	in.t.Helper()
	first, next := it.Last, it.Prev
	if forward {
		first, next = it.First, it.Next
	}
	checked := in.o == nil || in.o.Comparer == nil
	var before []byte // not for long keys, whose memory would count
	n := 0
	for ok := first(); ok; ok = next() {
		if n++; n > 22*len(in.contents) {
			in.t.Fatalf("%s: no end after %d entries", in.name, n)
		}
		in.true("iteration", it.Key(), it.Value())
		if c := bytes.Compare(before, it.Key()); n > 1 && checked && len(before) < 1000 && (c == 0 || c < 0 != forward) {
			in.t.Errorf("%s: %q follows %q", in.name, it.Key(), before)
		}
		before = append(before[:0], it.Key()[:min(len(it.Key()), 1000)]...)
	}
	in.steps = n
	return it.Error()
}

// reports checks that iteration in both directions and Verify report the fault.
func (in *inspection) reports(want string) {
	in.t.Helper()
	for operation, err := range map[string]error{"forward": in.forward, "backward": in.backward, "Verify": in.verified} {
		checkError(in.t, in.name+": "+operation, err, nil, want)
	}
}

// costsTimeOnly checks that all entries are still found despite the fault.
func (in *inspection) costsTimeOnly() *table.Reader {
	in.t.Helper()
	if in.opened != nil || in.forward != nil || in.backward != nil || in.entries != len(soundPairs) {
		in.t.Fatalf("%s: damage that costs more than time: %+v", in.name, in)
	}
	r := open(in.t, in.contents, in.o)
	checkLookups(in.t, r, soundPairs)
	return r
}

func TestInspectASoundTable(t *testing.T) {
	contents := sound().build()
	in := inspect(t, "sound", contents, nil, truthOf(soundPairs...))
	noError(t, errors.Join(in.costsTimeOnly().FilterErr(), in.verified))
}

// takeApart reads the table's layout, and each of its blocks.
func (in *inspection) takeApart() {
	in.t.Helper()
	var l *layout.Layout
	in.do("ReadLayout", func() (err error) {
		l, err = table.ReadLayout(bytes.NewReader(in.contents), int64(len(in.contents)), in.o)
		return err
	})
	if l == nil {
		return
	}
	blocks := []layout.Handle{l.Index, l.Metaindex}
	for _, e := range l.Data {
		blocks = append(blocks, e.Handle)
	}
	in.do("Meta", func() error {
		meta, err := l.Meta()
		for _, e := range meta {
			blocks = append(blocks, e.Handle)
		}
		return err
	})
	in.do("Filters", func() error { return errorOf(l.Filters()) })
	for _, h := range blocks {
		in.do("ReadBlock", func() error {
			_, _, err := l.ReadBlock(h)
			return err
		})
	}
}
