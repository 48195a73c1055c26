package set

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table"
)

// GetMany gets the values of many keys, in any order, from one manifest. It queries each table for all of its keys
// at once: see [table.GetMany]. o.Concurrency applies to all tables together. GetMany first opens the tables that
// are not open; if MemorySize is set, as many at a time as fit. If a table fails, o.NoAnswer is called for its keys,
// and GetMany returns all errors, joined. If ctx is done, GetMany returns without waiting for the Source: see Drain.
// In a set of filters, a key that may be present is an error, ErrFilterOnly.
func (s *Set) GetMany(
	ctx context.Context, keys [][]byte, o *table.GetManyOptions, found func(i int, value []byte) error,
) error {
	b := &batch{s: s, keys: keys, o: *cmp.Or(o, &table.GetManyOptions{}), answered: make([]bool, len(keys))}
	noAnswer := b.o.NoAnswer
	b.o.NoAnswer = func(i int, err error) {
		b.answered[i] = true
		if noAnswer != nil {
			noAnswer(i, err)
		}
	}
	v, err := s.acquire()
	if err != nil {
		for i := range keys {
			b.o.NoAnswer(i, err)
		}
		return err
	}
	defer v.release()
	removed := func(int, []byte) error { return nil }
	for i := range v.layers {
		l := &v.layers[i]
		err := b.getRun(ctx, &l.tables, found)
		if err == nil && len(l.removals.Tables) > 0 {
			err = b.getRun(ctx, &l.removals, removed)
		}
		if err != nil {
			return err
		}
	}
	return errors.Join(b.failed...)
}

// route distributes the keys without a result to the tables that can contain them. parts has no Readers yet.
func (r *run) route(keys [][]byte, answered []bool) (members []*member, parts []table.GetManyPart) {
	type routed struct{ table, key int }
	all := make([]routed, 0, len(keys))
	for i, key := range keys {
		if answered[i] {
			continue
		}
		if t := r.find(key); t >= 0 {
			all = append(all, routed{t, i})
		}
	}
	slices.SortFunc(all, func(a, b routed) int {
		return cmp.Or(cmp.Compare(a.table, b.table), cmp.Compare(a.key, b.key))
	})
	numbers := make([]int, len(all))
	for i, next := range all {
		numbers[i] = next.key
		if i == 0 || all[i-1].table != next.table {
			members = append(members, r.Tables[next.table])
			parts = append(parts, table.GetManyPart{Keys: numbers[i:i]})
		}
		last := &parts[len(parts)-1]
		last.Keys = last.Keys[:len(last.Keys)+1]
	}
	return members, parts
}

// A batch is one call of GetMany.
type batch struct {
	s        *Set
	keys     [][]byte
	o        table.GetManyOptions
	answered []bool // for each key, whether it was found, removed, or passed to NoAnswer

	failed []error // errors of keys without a result
}

// getRun looks up the keys without a result in a run. Its error ends the batch.
func (b *batch) getRun(ctx context.Context, r *run, found func(i int, value []byte) error) error {
	members, parts := r.route(b.keys, b.answered)
	for first := true; first || len(parts) > 0; first = false { // at least once, to check o and ctx
		n := b.groupSize(members)
		if err := b.getGroup(ctx, members[:n], parts[:n], found); err != nil {
			return err
		}
		members, parts = members[n:], parts[n:]
	}
	return nil
}

// groupSize returns the number of tables to search at a time.
func (b *batch) groupSize(members []*member) int {
	if b.s.o.MemorySize == 0 {
		return len(members)
	}
	size := int64(0)
	for i, m := range members {
		if size += m.endSize(m.tailSize.Load(), false); size > b.s.o.MemorySize && i > 0 {
			return i
		}
	}
	return len(members)
}

// getGroup opens tables and looks up parts in them. Its error ends the batch.
func (b *batch) getGroup(
	ctx context.Context, members []*member, parts []table.GetManyPart, found func(i int, value []byte) error,
) error {
	var open []table.GetManyPart
	var inUse []*handle
	defer func() { releaseAll(inUse) }()
	err := b.s.loadAll(ctx, members, false, func(i int, h *handle, err error) error {
		if err != nil {
			b.cannotOpen(members[i], parts[i].Keys, err)
			return ctx.Err()
		}
		inUse = append(inUse, h)
		open = append(open, table.GetManyPart{Reader: h.reader, Keys: parts[i].Keys})
		return nil
	})
	if err != nil {
		return err
	}
	o := b.o
	o.NoAnswer = func(i int, err error) {
		b.handleOf(inUse, i).recordLookup(err)
		b.o.NoAnswer(i, err)
	}
	var ends error
	err = table.GetMany(ctx, b.keys, open, &o, func(i int, value []byte) error {
		b.answered[i] = true
		ends = found(i, value)
		return ends
	})
	if ends = cmp.Or(ends, ctx.Err()); ends == nil && err != nil {
		b.failed = append(b.failed, err)
	}
	return ends
}

// handleOf returns the handle of the table that is searched for key i. inUse is in key order.
func (b *batch) handleOf(inUse []*handle, i int) *handle {
	return inUse[sort.Search(len(inUse), func(j int) bool { return bytes.Compare(inUse[j].Largest, b.keys[i]) >= 0 })]
}

// cannotOpen reports the error for the keys of a table that cannot be opened.
func (b *batch) cannotOpen(m *member, keys []int, err error) {
	err = fmt.Errorf("set: cannot look up keys from %s to %s: %w",
		format.Quote(m.Smallest), format.Quote(m.Largest), err)
	b.failed = append(b.failed, err)
	for _, i := range keys {
		b.o.NoAnswer(i, err)
	}
}
