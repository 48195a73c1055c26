package database_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/internalkey"
)

// A database continues after the highest number passed to SetLastSequence, whatever its keys have.
func TestSetLastSequence(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		set  []uint64
		want uint64
	}{{nil, 7}, {[]uint64{3}, 7}, {[]uint64{50, 20}, 50}, {[]uint64{internalkey.MaxSequence}, internalkey.MaxSequence}} {
		w, parent := create(t, nil)
		for _, sequence := range tt.set {
			noError(t, w.SetLastSequence(sequence))
		}
		noError(t, w.AppendInternal(internalkey.Key{UserKey: []byte("k"), Sequence: 7, Kind: internalkey.Set}, nil))
		noError(t, w.Close())
		if _, v := read(t, filepath.Join(parent, "db"), table.BytewiseComparer); v.LastSequence != tt.want {
			t.Errorf("after %d: last sequence number %d, want %d", tt.set, v.LastSequence, tt.want)
		}
		if err := w.SetLastSequence(1); !errors.Is(err, table.ErrClosed) {
			t.Errorf("after Close: %v, want ErrClosed", err)
		}
	}
	w, _ := create(t, nil)
	if err := w.SetLastSequence(internalkey.MaxSequence + 1); err == nil || w.Close() == nil {
		t.Errorf("a number that is too high: %v, want an error that stays", err)
	}
}
