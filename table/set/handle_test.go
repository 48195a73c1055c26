package set

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/sievetable/sievetable/internal/alloc"
	"github.com/sievetable/sievetable/table"
)

// A handle is closed when its last reference is released, by a user, by a caller that does not wait for the opening,
// or by the opening itself.
func TestHandlesAreClosed(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		s, key := oneTableSet(t)
		s.o.MemorySize = int64(seed % 2) // 1: no table stays open
		m := s.current.Load().members[0]
		var users sync.WaitGroup
		var handles sync.Map
		for user := range uint64(4) {
			users.Go(func() {
				rng := rand.New(rand.NewPCG(seed, user))
				for range 20 {
					h := m.request(t.Context(), rng.IntN(2) == 0)
					handles.Store(h, nil)
					useHandle(t, h, rng, key)
				}
			})
		}
		users.Wait()
		if err := errors.Join(s.Close(), s.Drain(t.Context())); err != nil || s.MemorySize() != 0 {
			t.Fatalf("seed %d: Close and Drain = %v; %d bytes of Readers", seed, err, s.MemorySize())
		}
		for h := range handles.Range {
			if err := checkClosed(h.(*handle), key); err != nil {
				t.Errorf("seed %d: %v", seed, err)
			}
		}
	}
}

// useHandle releases the handle, stops waiting for it, or looks up a key.
func useHandle(t *testing.T, h *handle, rng *rand.Rand, key []byte) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	switch rng.IntN(3) {
	case 0:
		h.release()
		return
	case 1:
		go cancel()
	}
	if err := h.wait(ctx); err != nil {
		if ctx.Err() == nil {
			t.Errorf("wait = %v", err)
		}
		return
	}
	defer h.release()
	if _, err := h.reader.Get(key); err != nil {
		t.Errorf("in use: Get = %v", err)
	}
}

func checkClosed(h *handle, key []byte) error {
	if state := h.state.Load(); state != closed {
		return fmt.Errorf("a handle in state %d", state)
	}
	if h.reader == nil {
		return nil
	}
	if _, err := h.reader.Get(key); err != table.ErrClosed {
		return fmt.Errorf("Get of its Reader = %v, want %v", err, table.ErrClosed)
	}
	return nil
}

// If memory for a block of a mapped table is refused, the table is still available.
func TestRefusedMemoryIsNotTheTablesFailure(t *testing.T) {
	t.Parallel()
	h := &handle{member: new(member), mapped: true}
	h.recordLookup(fmt.Errorf("block: %w", &alloc.Error{Needed: 1, Limit: 1}))
	if err := h.failed.Load(); err != nil {
		t.Errorf("noted as the table's failure: %v", *err)
	}
	if h.recordLookup(io.ErrUnexpectedEOF); h.failed.Load() == nil {
		t.Error("a table that was cut is not noted")
	}
}
