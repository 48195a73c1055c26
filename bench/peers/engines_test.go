package main

import (
	"errors"
	"testing"

	"github.com/sievetable/sievetable/bench/peers/internal/engine"
	"github.com/sievetable/sievetable/internal/workload"
)

// Every engine tells a wrong answer from a right one: fast lookups that find
// nothing would be worth nothing.
func TestEnginesCheckAnswers(t *testing.T) {
	t.Parallel()
	set := workload.W1(2000)
	pairs := engine.Pairs{Keys: engine.Pack(set.Keys), Values: engine.Pack(set.Values)}
	absent := engine.Pack(set.Absent)
	for _, c := range columns() {
		if c.Err != nil {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			cursor := openCursor(t, c.Engine, pairs)
			for _, q := range []struct {
				keys      engine.Packed
				say, want bool
			}{
				{pairs.Keys, true, true}, {absent, false, true},
				{pairs.Keys, false, false}, {absent, true, false},
			} {
				if err := cursor.Get(q.keys, q.say); (err == nil) != q.want {
					t.Errorf("Get of keys like %q, said to be there: %v: error %v", q.keys.At(0), q.say, err)
				}
			}
		})
	}
}

// openCursor has the engine write and open the table, until the test ends.
func openCursor(t *testing.T, e engine.Engine, pairs engine.Pairs) engine.Cursor {
	t.Helper()
	table, err := e.Build(pairs, engine.Options{BitsPerKey: 10, Snappy: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { noError(t, table.Close()) })
	r, err := table.Open(engine.Warm)
	if errors.Is(err, engine.ErrNone) {
		r, err = table.Open(engine.Cold)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { noError(t, r.Close()) })
	cursor, err := r.NewCursor()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { noError(t, cursor.Close()) })
	return cursor
}

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}
