package rowblock

import "slices"

// A reverseCache holds the entries that an Iter has just passed, for Prev. Without it, each Prev would decode from
// the restart point again.
//
// There can be many entries after a restart point. The cache keeps only the last ones, up to cacheLimit bytes. That
// is enough to read a block backward in a bounded number of passes.
type reverseCache struct {
	entries  []cachedEntry // the oldest first
	suffixes []byte        // of the keys of all entries
}

// A cachedEntry is the offset of an entry, and how to get its key from the key after it: the first shared bytes of
// that key, followed by the last suffixLen bytes of reverseCache.suffixes.
type cachedEntry struct{ offset, shared, suffixLen uint32 }

func (c *reverseCache) reset() {
	c.entries, c.suffixes = c.entries[:0], c.suffixes[:0]
}

// push adds an entry. It first drops the oldest entries if the cache would otherwise take more than limit bytes.
func (c *reverseCache) push(offset, shared int, suffix []byte, limit int) {
	for len(c.entries) > 0 && (len(c.suffixes)+len(suffix) > limit || len(c.entries) >= limit/minEntry) {
		c.dropOldest((len(c.entries) + 1) / 2)
	}
	if len(suffix) > limit {
		return
	}
	c.entries = append(growTo(c.entries, 1, limit/minEntry), cachedEntry{uint32(offset), uint32(shared), uint32(len(suffix))})
	c.suffixes = append(growTo(c.suffixes, len(suffix), limit), suffix...)
}

// minEntry is the minimum size of a stored entry: three lengths, and a byte in which its key differs from the key
// before.
const minEntry = 4

// growTo returns s with capacity for n more elements. If s has to grow for the second
// time, it gets its final capacity at once.
func growTo[E any](s []E, n, final int) []E {
	if len(s)+n <= cap(s) || len(s) == 0 {
		return s
	}
	return slices.Grow(s, final-len(s))
}

// dropOldest drops the n oldest entries.
func (c *reverseCache) dropOldest(n int) {
	size := 0
	for _, e := range c.entries[:n] {
		size += int(e.suffixLen)
	}
	c.entries = append(c.entries[:0], c.entries[n:]...)
	c.suffixes = append(c.suffixes[:0], c.suffixes[size:]...)
}

// pop removes the newest entry and returns it with its suffix, which is valid until the
// next push.
func (c *reverseCache) pop() (e cachedEntry, suffix []byte) {
	n := len(c.entries) - 1
	e, c.entries = c.entries[n], c.entries[:n]
	start := len(c.suffixes) - int(e.suffixLen)
	suffix, c.suffixes = c.suffixes[start:], c.suffixes[:start]
	return e, suffix
}

// cacheLimit returns how many bytes of the block the reverse cache may cover.
func (it *Iter) cacheLimit() int { return max(4096, len(it.b.parts.Entries)/64) }

// readUntil moves to the entry that ends at end, and caches the last entries before it.
func (it *Iter) readUntil(end int) {
	from := end - it.cacheLimit()
	for it.next < end {
		if it.Valid() && it.offset >= from {
			it.cacheEntry()
		}
		it.read()
	}
}

// cacheEntry adds the current entry to the reverse cache, before the Iter moves to the
// next one.
func (it *Iter) cacheEntry() {
	shared, _ := uvarint(it.b.parts.Entries, it.next)
	var suffix []byte // the bytes that the next key overwrites; keys in the block are read again
	if last := &it.keys.last; last.InBuf {
		suffix = last.Key[shared:]
	}
	it.passed.push(it.offset, shared, suffix, it.cacheLimit())
}

// readCached moves to the newest entry of the reverse cache.
func (it *Iter) readCached() {
	e, suffix := it.passed.pop()
	last := &it.keys.last
	last.Buf = append(last.Buf[:e.shared], suffix...)
	last.Key, last.InBuf = last.Buf, true
	it.next = int(e.offset)
	it.read()
}
