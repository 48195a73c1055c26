// Package byprefix counts entries by the prefixes of their keys, in one pass and in bounded memory.
package byprefix

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/table/cmd/internal/printable"
)

// A Count is the number of entries and their total sizes in bytes.
type Count struct {
	Entries    uint64 `json:"entries"`
	KeyBytes   uint64 `json:"key_bytes"`
	ValueBytes uint64 `json:"value_bytes"`
	*Live             // nil: all entries are live
}

// Live counts the live entries. LiveBytes is the size of their keys and values.
type Live struct {
	LiveEntries uint64 `json:"live_entries"`
	LiveBytes   uint64 `json:"live_bytes"`
}

// Bytes is the size of keys and values.
func (c Count) Bytes() uint64 { return c.KeyBytes + c.ValueBytes }

func (c *Count) add(d Count) {
	c.Entries += d.Entries
	c.KeyBytes += d.KeyBytes
	c.ValueBytes += d.ValueBytes
	if c.Live != nil {
		c.LiveEntries += d.LiveEntries
		c.LiveBytes += d.LiveBytes
	}
}

// A Group counts the entries whose keys have a prefix.
type Group struct {
	Prefix       []byte  `json:"-"`
	Text         *string `json:"prefix,omitempty"` // Prefix, if it is UTF-8
	PrefixBase64 []byte  `json:"prefix_base64,omitempty"`
	Count
}

// compareGroups orders groups by size, largest first, and groups of equal size by prefix.
func compareGroups(a, b Group) int {
	return cmp.Or(cmp.Compare(b.Bytes(), a.Bytes()), bytes.Compare(a.Prefix, b.Prefix))
}

// A Result is the result of a Counter.
type Result struct {
	Count            // of all entries
	Prefixes uint64  `json:"prefixes"`       // number of prefixes; more if there are Unknown entries
	Top      []Group `json:"top"`            // the largest groups, the largest first
	Others   Count   `json:"others"`         // entries of groups that are not in Top
	Without  Count   `json:"without_prefix"` // entries whose keys have no prefix

	// Unknown is the part of Others in groups that were not counted separately because there were too many. One of
	// them may be larger than those in Top. With runs, Unknown is 0.
	Unknown Count `json:"others_not_told_apart"`
}

// A Counter counts entries by prefix.
type Counter struct {
	prefix   filter.Prefixer
	top      int
	runs     bool // all keys with the same prefix are adjacent
	versions bool // entries may not be live
	room     int  // bytes left for groups, without runs
	live     Live // of the entry that Add counts
	groups   map[string]*Group
	result   Result
}

// Limits for counting groups separately without runs.
const (
	maxRoom     = 64 << 20 // bytes
	groupMemory = 128      // bytes that a group takes in addition to its prefix
)

// NewCounter returns a Counter that finds the top largest groups. If runs is true, all keys with the same prefix
// must be adjacent, as in bytewise order. The result is then exact, and at most 2*top groups are in memory.
// Otherwise the result is exact if all groups fit into 64 MiB. If versions is true, some entries may not be live.
func NewCounter(prefix filter.Prefixer, top int, runs, versions bool) *Counter {
	c := &Counter{prefix: prefix, top: top, runs: runs, versions: versions, room: maxRoom, groups: map[string]*Group{}}
	c.result = Result{Top: []Group{}, Count: c.newCount(), Others: c.newCount(), Without: c.newCount(), Unknown: c.newCount()}
	return c
}

func (c *Counter) newCount() (n Count) {
	if c.versions {
		n.Live = new(Live)
	}
	return n
}

// Add counts an entry.
func (c *Counter) Add(key, value []byte, live bool) {
	n := Count{Entries: 1, KeyBytes: uint64(len(key)), ValueBytes: uint64(len(value)), Live: &c.live}
	if c.live = (Live{}); live {
		c.live = Live{1, n.Bytes()}
	}
	c.result.add(n)
	if length := c.prefix.PrefixLen(key); length == 0 {
		c.result.Without.add(n)
	} else {
		c.countOf(key[:length]).add(n)
	}
}

// countOf returns the Count for entries with a prefix.
func (c *Counter) countOf(prefix []byte) *Count {
	if g := c.groups[string(prefix)]; g != nil {
		return &g.Count
	}
	switch memory := len(prefix) + groupMemory; {
	case c.runs:
		c.endGroups()
	case memory > c.room:
		return &c.result.Unknown
	default:
		c.room -= memory
	}
	g := &Group{Prefix: bytes.Clone(prefix), Count: c.newCount()}
	c.groups[string(prefix)] = g
	return &g.Count
}

// endGroups adds the current groups, which are complete, to the result.
func (c *Counter) endGroups() {
	r := &c.result
	for _, g := range c.groups {
		r.Prefixes++
		if r.Top = append(r.Top, *g); len(r.Top) >= 2*c.top {
			c.cut()
		}
	}
	clear(c.groups)
}

// cut keeps only the largest groups in Top, in order.
func (c *Counter) cut() {
	r := &c.result
	slices.SortFunc(r.Top, compareGroups)
	n := min(c.top, len(r.Top))
	for _, g := range r.Top[n:] {
		r.Others.add(g.Count)
	}
	r.Top = slices.Delete(r.Top, n, len(r.Top))
}

// Result returns the result. The Counter must not be used afterwards.
func (c *Counter) Result() *Result {
	c.endGroups()
	c.cut()
	r := &c.result
	r.Others.add(r.Unknown)
	for i := range r.Top {
		r.Top[i].Text, r.Top[i].PrefixBase64 = printable.StringOrBytes(r.Top[i].Prefix)
	}
	return r
}
