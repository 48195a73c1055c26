// Package byprefix counts entries by the prefixes of their keys, in one pass and in memory that is
// bounded.
package byprefix

import (
	"bytes"
	"cmp"
	"slices"
)

// A Rule says what the prefix of a key is: what is up to the first Delimiter, with it, or else the
// first Length bytes.
type Rule struct {
	Delimiter []byte // nil: the prefix has a Length
	Length    int    // ≥ 1
}

// prefixOf returns the prefix of a key, or nil if it has none: it lacks the delimiter, or is shorter.
func (r Rule) prefixOf(key []byte) []byte {
	n := r.Length
	if r.Delimiter != nil {
		at := bytes.Index(key, r.Delimiter)
		if at < 0 {
			return nil
		}
		n = at + len(r.Delimiter)
	}
	if len(key) < n {
		return nil
	}
	return key[:n]
}

// A Count is what entries have together, with sizes in bytes.
type Count struct {
	Entries     uint64 `json:"entries"`
	KeyBytes    uint64 `json:"key_bytes"`
	ValueBytes  uint64 `json:"value_bytes"`
	LiveEntries uint64 `json:"-"` // those of the entries that are live
	LiveBytes   uint64 `json:"-"` // of these, keys and values
}

// Bytes is the size of keys and values.
func (c Count) Bytes() uint64 { return c.KeyBytes + c.ValueBytes }

func (c *Count) add(d Count) {
	c.Entries += d.Entries
	c.KeyBytes += d.KeyBytes
	c.ValueBytes += d.ValueBytes
	c.LiveEntries += d.LiveEntries
	c.LiveBytes += d.LiveBytes
}

// A Group is what the keys with a prefix have.
type Group struct {
	Prefix []byte
	Count
}

// compareGroups orders groups by size, the largest first, and those of one size by prefix.
func compareGroups(a, b Group) int {
	return cmp.Or(cmp.Compare(b.Bytes(), a.Bytes()), bytes.Compare(a.Prefix, b.Prefix))
}

// A Result is what a Counter has counted.
type Result struct {
	Top      []Group // the largest groups, the largest first
	Prefixes uint64  // number of prefixes; with Unknown, there are more
	Others   Count   // what the groups have that are not in Top
	Without  Count   // what keys without a prefix have
	All      Count

	// Unknown is what of Others belongs to groups that were not told apart, since there were too
	// many. One of them may be larger than those in Top. It is 0 if the keys came in runs.
	Unknown Count
}

// A Counter counts entries by prefix.
type Counter struct {
	rule    Rule
	runs    bool // all keys with a prefix come one after the other
	top     int
	full    bool              // Top of the result has at least top groups, in order
	current Group             // with runs; without a Prefix: none
	apart   map[string]*Count // without runs
	room    int               // bytes that apart may still take
	result  Result
}

// What a Counter keeps apart where keys do not come in runs.
const (
	maxRoom     = 64 << 20 // bytes
	groupMemory = 128      // bytes that a group takes besides its prefix
)

// NewCounter returns a Counter that finds the top largest groups. With runs, all keys with a prefix
// must come one after the other, as in bytewise order: the result is exact then, and no more than twice
// as many groups are in memory. Without, it is exact as far as all groups have room in 64 MiB.
func NewCounter(rule Rule, top int, runs bool) *Counter {
	return &Counter{rule: rule, runs: runs, top: top, apart: map[string]*Count{}, room: maxRoom}
}

// Add counts an entry.
func (c *Counter) Add(key, value []byte, live bool) {
	n := Count{Entries: 1, KeyBytes: uint64(len(key)), ValueBytes: uint64(len(value))}
	if live {
		n.LiveEntries, n.LiveBytes = 1, n.Bytes()
	}
	c.result.All.add(n)
	prefix := c.rule.prefixOf(key)
	switch {
	case prefix == nil:
		c.result.Without.add(n)
	case c.runs:
		c.addToRun(prefix, n)
	default:
		c.addToGroup(prefix, n)
	}
}

func (c *Counter) addToRun(prefix []byte, n Count) {
	if c.current.Prefix == nil || !bytes.Equal(prefix, c.current.Prefix) {
		c.endRun()
		c.current = Group{Prefix: bytes.Clone(prefix)}
	}
	c.current.add(n)
}

// endRun ends the run of current, if there is one.
func (c *Counter) endRun() {
	if c.current.Prefix != nil {
		c.end(c.current)
	}
}

// end takes a group that has all its entries.
func (c *Counter) end(g Group) {
	r := &c.result
	r.Prefixes++
	if c.full && compareGroups(g, r.Top[c.top-1]) > 0 {
		r.Others.add(g.Count)
		return
	}
	if r.Top = append(r.Top, g); len(r.Top) >= 2*c.top {
		c.cut()
	}
}

// cut keeps the largest groups, in order.
func (c *Counter) cut() {
	r := &c.result
	slices.SortFunc(r.Top, compareGroups)
	if c.full = len(r.Top) >= c.top; !c.full {
		return
	}
	for _, g := range r.Top[c.top:] {
		r.Others.add(g.Count)
	}
	r.Top = slices.Delete(r.Top, c.top, len(r.Top))
}

func (c *Counter) addToGroup(prefix []byte, n Count) {
	g := c.apart[string(prefix)]
	if memory := len(prefix) + groupMemory; g == nil && memory <= c.room {
		g = new(Count)
		c.apart[string(prefix)], c.room = g, c.room-memory
	}
	if g == nil {
		g = &c.result.Unknown
	}
	g.add(n)
}

// Result returns the result. The Counter cannot be used any more.
func (c *Counter) Result() *Result {
	c.endRun()
	for prefix, n := range c.apart {
		c.end(Group{[]byte(prefix), *n})
	}
	r := &c.result
	r.Others.add(r.Unknown)
	c.cut()
	return r
}
