package wal

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// A lawLog is a damaged log whose batches and damage are known.
type lawLog struct {
	sound, log []byte // as written, without truncated or lost parts; and as damaged
	batches    []lawBatch
	jumps      bool  // blocks are lost or replaced by blocks of an older log, or a batch has a wrong count
	older      int64 // offset of a block of an older log, or 0
}

// A lawBatch is a batch of a lawLog.
type lawBatch struct {
	writes   []Write
	from, to int  // its record in sound; from < 0: a part of it is lost
	endsLog  bool // its last value is a log
	cut      bool // it contains a truncated log
	fits     bool // it contains a log whose numbers include or lead to the next batch's
}

// A lawWriter writes a lawLog.
type lawWriter struct {
	*rand.Rand
	lawLog
	t    *testing.T
	file bytes.Buffer
	next uint64 // sequence number
}

// newLawLog returns a log with sequence numbers from first on, and the number after its last.
func newLawLog(t *testing.T, random *rand.Rand, first uint64) (lawLog, uint64) {
	g := &lawWriter{Rand: random, t: t, next: first}
	w := NewWriter(&g.file)
	for size := 1 + g.IntN(4*blockSize); g.file.Len() < size; {
		b, record := g.batch(w.room)
		b.from = g.file.Len()
		if w.room < FragmentHeaderLen {
			b.from += w.room
		}
		noError(t, w.Append(record))
		b.to = g.file.Len()
		if end := (b.from/blockSize + 1) * blockSize; end < b.to && !b.isShort() && g.IntN(4) == 0 { // its writing was interrupted
			g.file.Truncate(end)
			w.room = blockSize
			continue
		}
		g.batches, g.next = append(g.batches, b), g.next+uint64(len(b.writes))
	}
	g.sound, g.log = g.file.Bytes(), bytes.Clone(g.file.Bytes())
	return g.lawLog, g.next
}

// batch returns a batch that ends near the end of a block more often than by chance. A value can be a log.
func (g *lawWriter) batch(room int) (b lawBatch, record []byte) {
	writes := make([]string, 1+g.IntN(2)*g.IntN(40))
	n := len(writes)
	stored := n - 1
	if g.IntN(2) == 0 {
		stored = g.IntN(3 * n)
	}
	for i := range writes {
		switch {
		case i == stored:
			b.endsLog = i == n-1
			var first, next uint64
			writes[i], first, next = g.storedLog(n)
			b.cut = next == 0
			b.fits = first <= g.next+uint64(n) && g.next+uint64(n) <= next
		case g.IntN(2) == 0:
			writes[i] = "\x00\x00"
		default:
			writes[i] = aSet("owner", strings.Repeat("o", g.IntN(1<<g.IntN(16))>>6))
		}
	}
	if stored != 0 && g.IntN(2) == 0 {
		writes[0] = g.pad(room, writes[1:], stored-1)
	}
	count := uint32(n)
	if g.IntN(200) == 0 {
		count, g.jumps = g.Uint32N(count), true
	}
	record = []byte(batch(g.next, count, strings.Join(writes, "")))
	for w, err := range Writes(record) {
		if err == nil {
			b.writes = append(b.writes, w)
		}
	}
	return b, record
}

// pad returns a write to put before others. It makes the batch end near the end of the block, which has room bytes
// left, or near the first header of the log that is stored in one of them.
func (g *lawWriter) pad(room int, writes []string, stored int) string {
	before := len(strings.Join(writes, ""))
	if stored < len(writes) && g.IntN(4) == 0 {
		w, _ := decodeWrite([]byte(writes[stored]))
		before = len(strings.Join(writes[:stored+1], "")) - max(0, len(w.Value)-FragmentHeaderLen)
	}
	return aSet("owner", strings.Repeat("p", max(0, room-FragmentHeaderLen-batchHeaderLen-before-8-g.IntN(20))))
}

// storedLog returns a write whose value is a log or a part of one, for a batch of n writes. It also returns the
// first sequence number of that log, and the number after its last one, or 0 if the log is truncated.
func (g *lawWriter) storedLog(n int) (write string, first, next uint64) {
	m := 1 + g.IntN(20)
	if g.IntN(8) == 0 {
		m = g.IntN(1500)
	}
	after := g.next + uint64(n)
	first = []uint64{1 + g.Uint64N(after), g.next + g.Uint64N(uint64(n)+5), after - uint64(min(m, int(after)-1)), after + g.Uint64N(10_000), 1 << 40, 1 << 57}[g.IntN(6)]
	value := foreignLog(g.t, g.Rand, first, m)
	next = first + uint64(m)
	switch g.IntN(4) {
	case 0:
		value = value[g.IntN(len(value)+1):]
	case 1:
		value, next = value[:g.IntN(len(value)+1)], 0
	}
	return aSet("owner", value), first, next
}

// damage damages the log. Before it changes bytes, it may drop blocks or replace them by those of an older log.
func (l *lawLog) damage(t *testing.T, g *rand.Rand) {
	if g.IntN(4) == 0 {
		l.sound = l.sound[:g.IntN(len(l.sound)+1)]
	}
	blocks := len(l.sound) / blockSize
	if blocks > 1 && g.IntN(4) == 0 {
		l.loseBlocks(1+g.IntN(blocks-1), 1)
	}
	l.log = bytes.Clone(l.sound)
	if blocks = len(l.log) / blockSize; blocks > 1 && len(l.batches) > 0 && l.batches[0].writes[0].Sequence > 2000 && g.IntN(6) == 0 {
		at := blockSize * (1 + g.IntN(blocks-1))
		older := foreignLog(t, g, 1, 2000)
		copy(l.log[at:at+blockSize], older[blockSize*g.IntN(2):])
		l.jumps, l.older = true, int64(at)
	}
	starts := l.fragments()
	for range g.IntN(4) {
		if len(starts) == 0 || len(l.batches) == 0 {
			return
		}
		at := starts[g.IntN(len(starts))]
		if b := l.batches[g.IntN(len(l.batches))]; b.endsLog && b.from >= 0 && b.from < len(l.log) && g.IntN(2) == 0 {
			at = b.from
		}
		l.damageAt(g, at)
	}
}

func (l *lawLog) loseBlocks(at, n int) {
	from, to := at*blockSize, min((at+n)*blockSize, len(l.sound))
	l.sound, l.jumps = slices.Concat(l.sound[:from], l.sound[to:]), true
	for i := range l.batches {
		switch b := &l.batches[i]; {
		case b.from >= to:
			b.from, b.to = b.from-(to-from), b.to-(to-from)
		case b.to > from:
			b.from = -1
		}
	}
}

// fragments returns the offsets of the fragments, without those in values.
func (l *lawLog) fragments() (starts []int) {
	for at := 0; at < len(l.sound); {
		if blockSize-at%blockSize < FragmentHeaderLen {
			at = (at/blockSize + 1) * blockSize
			continue
		}
		n := validFragmentLen(l.sound[at:min(len(l.sound), (at/blockSize+1)*blockSize)])
		if n == 0 {
			return starts
		}
		starts, at = append(starts, at), at+n
	}
	return starts
}

// damageAt damages the fragment at an offset.
func (l *lawLog) damageAt(g *rand.Rand, at int) {
	b := l.log[at:min(len(l.log), (at/blockSize+1)*blockSize)]
	switch g.IntN(5) {
	case 0:
		for range 1 + g.IntN(4) {
			b[min(g.IntN(FragmentHeaderLen+20), len(b)-1)] ^= byte(1 + g.IntN(255))
		}
	case 1:
		clear(b[:min(len(b), 1+g.IntN(600))])
	case 2:
		b[g.IntN(4)] ^= 1
	case 3: // its length leads to something that looks like a fragment
		var ends []int
		for end := FragmentHeaderLen; end < len(b); end++ {
			if validFragmentLen(b[end:]) > 0 {
				ends = append(ends, end)
			}
		}
		if len(ends) > 0 {
			binary.LittleEndian.PutUint16(b[4:], uint16(ends[g.IntN(len(ends))]-FragmentHeaderLen))
		}
	default:
		b[g.IntN(len(b))] ^= byte(1 + g.IntN(255))
	}
}
