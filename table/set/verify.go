package set

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"strings"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table"
)

// Verify reads and checks all tables: the SHA-256, everything that [table.Reader.Verify] checks, and the manifest's
// size, entries and key range. If report is not nil, it is called for each table, with nil or [ErrNotIdentified] for
// an intact one. Verify returns the other errors, joined.
func (s *Set) Verify(ctx context.Context, report func(t Table, err error)) error {
	v, err := s.acquire()
	if err != nil {
		return err
	}
	defer v.release()
	var findings []error
	for i, m := range v.members {
		note, err := m.verify(ctx)
		if ctx.Err() != nil || s.current.Load() == nil {
			return errors.Join(append(findings, cmp.Or(ctx.Err(), table.ErrClosed))...)
		}
		findings = append(findings, err) // or nil
		if report != nil {
			report(*v.tables[i], cmp.Or(err, note))
		}
	}
	return errors.Join(findings...)
}

// verify checks one table. If it is intact, note may be ErrNotIdentified. If it is not, its file is closed, so that
// the next Verify finds a file that is put back.
func (m *member) verify(ctx context.Context) (note, err error) {
	note, err = m.verifyOnce(ctx)
	if errors.Is(err, ErrReplaced) {
		note, err = m.verifyOnce(ctx) // the Source has forgotten the old table
	}
	if isLost(err) {
		closeFile(m.s.src, m.Name)
	}
	return note, err
}

func (m *member) verifyOnce(ctx context.Context) (note, err error) {
	h := &handle{member: m, epoch: m.replaced.Load()} // which is never opened
	tail := h.tailSize.Load()
	if err := h.readTail(ctx, h.endSize(tail, true)); err != nil {
		return nil, err // other checks would be about another file
	}
	src := &sequential{h: h, tail: h.tail, ctx: ctx, hash: sha256.New()}
	h.tail = h.tail[len(h.tail)-int(h.endSize(tail, false)):] // as for lookups, which fail if it is too short
	src.rest = bufio.NewReaderSize(src, int(min(chunkSize, src.tailStart())))
	o := m.s.o.Reader
	o.Name, o.Cache, o.Metrics = m.Name, nil, nil
	r, err := table.NewReader(src, m.Size, &o)
	if err != nil {
		return nil, errors.Join(err, src.checkSum())
	}
	differs := h.check(r)
	h.tail = nil // src may now read all of the table
	var keys tableKeys
	_, damage := r.VerifyKeys(keys.add)
	if differs != nil && damage != nil && strings.Contains(damage.Error(), differs.Error()) {
		differs = nil // both have found the same corruption
	}
	if err := errors.Join(differs, damage, src.checkSum()); err != nil {
		return nil, err
	}
	if !h.known {
		note = h.errorf("no digest of its data blocks: %w: build it with set.TableWriter, or sst build -o DIR/",
			ErrNotIdentified)
	}
	return note, m.checkKeys(r, &keys)
}

// tableKeys contains the number of a table's keys, and the first and the last one.
type tableKeys struct {
	n           uint64
	first, last []byte
}

// add adds the next key. It is a callback of VerifyKeys.
func (k *tableKeys) add(key []byte, _, _ uint64) {
	if k.n++; k.n == 1 {
		k.first, k.last = append([]byte{}, key...), []byte{} // not nil
	}
	k.last = append(k.last[:0], key...)
}

// checkKeys compares the keys of a sound table with the manifest.
func (m *member) checkKeys(r *table.Reader, k *tableKeys) error {
	switch {
	case r.FilterOnly():
		return nil // check has done all that is possible without keys
	case k.n > 0 && !bytes.Equal(k.first, m.Smallest):
		return m.mismatch("smallest", "%s in the table, %s in the manifest", format.Quote(k.first), format.Quote(m.Smallest))
	case k.n != m.Entries:
		return m.mismatch("entries", "%d in the table, %d in the manifest", k.n, m.Entries)
	case !bytes.Equal(k.last, m.Largest):
		return m.mismatch("largest", "%s in the table, %s in the manifest", format.Quote(k.last), format.Quote(m.Largest))
	}
	return nil
}

// chunkSize is the number of bytes that Verify and Describe read at once.
const chunkSize = 1 << 20

// A sequential reads a table from start to end with large reads, and hashes it. It is for a Reader that reads the
// data blocks in order. It is not safe for concurrent use.
type sequential struct {
	h    *handle         // while the table is being opened, with the tail: as for lookups, only that is read then
	tail []byte          // the same, and pages of a filter before it
	ctx  context.Context // of Verify

	rest *bufio.Reader // of the part before the tail
	end  int64         // offset up to which rest has read
	hash hash.Hash     // of the bytes up to end
}

// tailStart returns the tail's offset.
func (s *sequential) tailStart() int64 { return s.h.Size - int64(len(s.tail)) }

// Read reads and hashes the next bytes for rest.
func (s *sequential) Read(p []byte) (int, error) {
	p = p[:min(int64(len(p)), s.tailStart()-s.end)]
	if len(p) == 0 {
		return 0, io.EOF
	}
	n, err := s.h.readFull(s.ctx, p, s.end)
	s.hash.Write(p[:n])
	s.end += int64(n)
	if n == len(p) {
		return n, nil
	}
	return n, err
}

// ReadAt reads from the tail or from rest. Bytes that rest has passed are read from the Source again.
func (s *sequential) ReadAt(p []byte, off int64) (n int, err error) {
	next := s.end - int64(s.rest.Buffered())
	switch {
	case s.h.tail != nil:
		return s.h.readFromTail(p, off)
	case off >= s.tailStart():
		return bytes.NewReader(s.tail).ReadAt(p, off-s.tailStart())
	case off < next:
		return s.h.read(s.ctx, p, off)
	}
	if _, err := io.CopyN(io.Discard, s.rest, off-next); err != nil { // Discard takes an int, of perhaps 32 bits
		return 0, err
	}
	n, err = io.ReadFull(s.rest, p[:min(int64(len(p)), s.tailStart()-off)])
	if err != nil {
		return n, err
	}
	if n += copy(p[n:], s.tail); n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// checkSum reads the rest of the table, and compares its SHA-256 with the manifest.
func (s *sequential) checkSum() (err error) {
	for err == nil {
		_, err = s.rest.Discard(chunkSize)
	}
	if err != io.EOF {
		return err
	}
	s.hash.Write(s.tail)
	if sum := hex.EncodeToString(s.hash.Sum(nil)); sum != s.h.SHA256 {
		return s.h.mismatch("sha256", "%s in the table, %s in the manifest", sum, s.h.SHA256)
	}
	return nil
}
