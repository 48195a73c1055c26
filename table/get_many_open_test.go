package table_test

import (
	"context"
	"errors"
	"testing"

	"github.com/sievetable/sievetable/table"
)

// GetMany opens no table if it is asked for no key, or ctx is done.
func TestGetManyOpensNoTableWithoutNeed(t *testing.T) {
	t.Parallel()
	r, _ := openFaulty(t)
	done, cancel := context.WithCancel(context.Background())
	cancel()
	keys := [][]byte{[]byte("key000050")}
	found := func(int, []byte) error { return nil }
	for _, tt := range []struct {
		ctx  context.Context
		keys []int
		want error
	}{
		{context.Background(), []int{}, nil},
		{done, nil, context.Canceled},
		{context.Background(), nil, errBroken},
	} {
		err := table.GetMany(tt.ctx, keys, []table.GetManyPart{{Reader: r, Keys: tt.keys}}, nil, found)
		if !errors.Is(err, tt.want) || tt.want == nil && err != nil {
			t.Errorf("GetMany of keys %v: %v, want %v", tt.keys, err, tt.want)
		}
	}
}
