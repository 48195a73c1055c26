package wal

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table/internalkey"
)

// Reading damaged logs, one after another, finds only their own writes, or marks others as uncertain. Writes that
// are not found are reported as lost.
func TestWhatIsFoundBehindDamage(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	for seed := range uint64(long.Rounds(400, 10_000)) {
		random := rand.New(rand.NewPCG(seed, 11))
		next := 1 + random.Uint64N(1<<random.IntN(20))
		var logs []*lawCheck
		read := Log{Start: next * uint64(random.IntN(2))}
		for range 1 + random.IntN(3) {
			c := &lawCheck{read: read, own: map[uint64]bool{}}
			c.lawLog, next = newLawLog(t, random, next)
			c.damage(t, random)
			c.jumps = c.jumps || len(logs) > 0 && logs[len(logs)-1].jumps
			c.find(t)
			logs, read = append(logs, c), c.read.Next()
		}
		for i, c := range logs {
			if wrong := c.check(logs); wrong != "" {
				t.Errorf("seed %d, log %d of %d bytes: %s: %v", seed, i, len(c.log), wrong, c.read.Damage)
			}
		}
	}
}

// A lawCheck compares what a log contains with what reading it finds.
type lawCheck struct {
	lawLog
	read    Log
	found   []Write
	own     map[uint64]bool // sequence numbers of the writes that are found
	highest uint64          // the highest of own
	foreign []Write         // other writes that are found
}

func (c *lawCheck) find(t *testing.T) {
	for w, err := range c.read.Writes(bytes.NewReader(c.log), int64(len(c.log))) {
		noError(t, err)
		c.add(w)
	}
}

// check describes a violation of the law, or returns "".
func (c *lawCheck) check(logs []*lawCheck) string {
	for _, w := range c.foreign {
		if why := c.checkForeign(w, logs); why != "" {
			return fmt.Sprintf("foreign write %d at %d is found, and %s", w.Sequence, w.Offset, why)
		}
	}
	if w := c.outOfOrder(); w != nil && !c.jumps {
		return fmt.Sprintf("write %d at %d cannot follow the one before it", w.Sequence, w.Offset)
	}
	for i, b := range c.batches {
		must := c.mustBeFound(i)
		for _, w := range b.writes {
			// Some losses at the end of a log are undetectable.
			silent := b.fits || c.isMisled(0, b.to) || b.to > len(c.log) || int64(b.from) >= c.read.Size-c.read.Tail || (b.from < 0 || c.older > 0) && c.highest < w.Sequence
			switch {
			case c.own[w.Sequence], slices.ContainsFunc(c.foreign, func(f Write) bool { return f.Sequence == w.Sequence }):
			case must != "":
				return fmt.Sprintf("write %d at %d is not found, though %s", w.Sequence, b.from, must)
			case !silent && !mayHaveLost(logs, w.Sequence):
				return fmt.Sprintf("write %d at %d is neither found nor named as lost", w.Sequence, b.from)
			}
		}
	}
	return ""
}

// outOfOrder returns a found write whose sequence number is not higher than that of the write found before it, or
// too high for their distance.
func (c *lawCheck) outOfOrder() *Write {
	for i := range max(1, len(c.found)) - 1 {
		w, next := c.found[i], &c.found[i+1]
		if b := c.batchOf(next.Sequence); b != nil && b.isShort() {
			continue // its number is known only after it was read
		}
		if c.inDamagedLog(w) {
			continue
		}
		if next.Sequence <= w.Sequence || next.Sequence-w.Sequence-1 > uint64(next.Offset-w.Offset)/minWriteLen {
			return next
		}
	}
	return nil
}

// inDamagedLog reports whether a write is from a stored log that is itself damaged.
func (c *lawCheck) inDamagedLog(w Write) bool {
	return slices.ContainsFunc(c.batches, func(b lawBatch) bool {
		in := func(w Write) bool { return w.Offset >= int64(b.from) && w.Offset < int64(b.to) }
		first := slices.IndexFunc(c.foreign, in)
		return in(w) && first >= 0 && c.damaged(int(c.foreign[first].Offset), b.to)
	})
}

// checkForeign returns why a foreign write must not be found, or must be uncertain, or "".
func (c *lawCheck) checkForeign(w Write, logs []*lawCheck) string {
	at := int(w.Offset)
	end := (at/blockSize + 1) * blockSize
	switch {
	case c.mayFit(at), c.jumps && c.highest < w.Sequence:
		return ""
	case !mayHaveLost(logs, w.Sequence):
		return "it is certain"
	case c.jumps, slices.ContainsFunc(c.batches, func(b lawBatch) bool { return b.cut && b.from <= at && at < b.to }):
		return ""
	}
	for _, b := range c.batches {
		if b.from > at && b.from < end && b.isShort() {
			return "" // its number is split over two blocks, and cannot contradict the stored log
		}
		if first := min(b.to, (b.from/blockSize+1)*blockSize); b.from >= end && first <= len(c.log) && first-b.from >= FragmentHeaderLen+batchHeaderLen && !c.damaged(at, first) {
			return fmt.Sprintf("batch %d follows without damage", b.writes[0].Sequence)
		}
	}
	return ""
}

// mayFit reports whether the fragment at an offset may be from a stored log that fits, in a batch whose end is
// unknown.
func (c *lawCheck) mayFit(at int) bool {
	start := at / blockSize * blockSize
	return slices.ContainsFunc(c.batches, func(b lawBatch) bool {
		f := max(start, b.from)
		return b.fits && b.from < start+blockSize && b.to > start && (c.damaged(start, f) || c.damaged(f+4, f+FragmentHeaderLen) || b.to >= start+blockSize-FragmentHeaderLen)
	})
}

func mayHaveLost(logs []*lawCheck, sequence uint64) bool {
	return slices.ContainsFunc(logs, func(c *lawCheck) bool {
		return c.read.MayHaveLost(sequence) && sequence <= c.read.HighestLost()
	})
}

// add records a found write.
func (c *lawCheck) add(w Write) {
	c.found = append(c.found, Write{Key: internalkey.Key{Sequence: w.Sequence}, Offset: w.Offset})
	if b := c.batchOf(w.Sequence); b != nil && b.has(w) {
		c.own[w.Sequence], c.highest = true, max(c.highest, w.Sequence)
	} else if c.older == 0 || c.highest > 0 { // otherwise it is undetectable
		c.foreign = append(c.foreign, w)
	}
}

// batchOf returns the batch that has a sequence number, or nil.
func (l *lawLog) batchOf(sequence uint64) *lawBatch {
	at, ok := slices.BinarySearchFunc(l.batches, sequence, func(b lawBatch, s uint64) int { return cmp.Compare(b.writes[0].Sequence, s) })
	if !ok {
		at--
	}
	if at < 0 || sequence-l.batches[at].writes[0].Sequence >= uint64(len(l.batches[at].writes)) {
		return nil
	}
	return &l.batches[at]
}

// isShort reports whether the first fragment of a batch ends within its header.
func (b *lawBatch) isShort() bool {
	room := blockSize - b.from%blockSize
	return room < FragmentHeaderLen+batchHeaderLen
}

// has reports whether a write belongs to the batch.
func (b *lawBatch) has(w Write) bool {
	if b.from >= 0 && w.Offset != int64(b.from) {
		return false
	}
	want := b.writes[w.Sequence-b.writes[0].Sequence]
	return w.Kind == want.Kind && bytes.Equal(w.UserKey, want.UserKey) && bytes.Equal(w.Value, want.Value)
}

// mustBeFound returns why a batch must be found, or "".
func (c *lawCheck) mustBeFound(i int) string {
	b := c.batches[i]
	if b.from < 0 || b.to > len(c.log) || c.damaged(b.from, b.to) {
		return ""
	}
	start := b.from / blockSize * blockSize
	switch {
	case !c.damaged(start, b.from):
		return "nothing is damaged before it in its block"
	case c.jumps || len(c.foreign) > 0:
		return ""
	case i > 0 && c.announces(c.batches[i-1]):
		return "the batch before says where that ends"
	case c.damaged(b.from, start+blockSize) || c.mayFit(b.from) || c.isMisled(start, b.from):
		return ""
	}
	return "nothing is damaged behind it in its block"
}

// isMisled reports whether the damaged length of a fragment in a part of a block leads to a fragment after that
// part, or to a fragment of a stored log that ends its batch.
func (c *lawCheck) isMisled(from, to int) bool {
	for _, at := range c.fragments() {
		if at < from || at >= to || !c.damaged(at+4, at+FragmentHeaderLen) {
			continue
		}
		block := c.log[:min(len(c.log), (at/blockSize+1)*blockSize)]
		end := at + FragmentHeaderLen + int(binary.LittleEndian.Uint16(block[at+4:]))
		inLog := slices.ContainsFunc(c.batches, func(b lawBatch) bool { return b.endsLog && b.from <= end && end < b.to })
		if end < len(block) && (end > to || inLog) && validFragmentLen(block[end:]) > 0 {
			return true
		}
	}
	return false
}

// announces reports whether a batch gives its end and the next sequence number, in a block that is read up to there.
func (c *lawCheck) announces(b lawBatch) bool {
	return b.from >= 0 && !c.damaged(b.from/blockSize*blockSize, b.from) && b.to/blockSize == b.from/blockSize &&
		!c.damaged(b.from+4, b.from+FragmentHeaderLen+batchHeaderLen)
}

// damaged reports whether a part of the log is damaged.
func (l *lawLog) damaged(from, to int) bool {
	to = min(to, len(l.log))
	return from < to && !bytes.Equal(l.sound[from:to], l.log[from:to])
}
