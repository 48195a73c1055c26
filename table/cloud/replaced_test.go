package cloud_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// If an object is written again with the same bytes, or deleted and restored, lookups fail at most once. An object
// with other bytes never yields a value, and lookups continue once the right one is back.
func TestObjectsThatComeBack(t *testing.T) {
	urls := workload.W3(500)
	plain := &table.WriterOptions{Compression: table.NoCompression}
	for _, s := range stores {
		t.Run(s.name, func(t *testing.T) {
			bucket := s.bucket(t)
			m := putSet(t, bucket, plain, urls.Keys, len(urls.Keys), "one")
			other := putTables(t, bucket, plain, urls.Keys, len(urls.Keys), "two")
			name := m.Tables[0].Name
			one, two := object(t, bucket, name), object(t, bucket, other.Tables[0].Name)
			opened := openSet(t, bucket, newStore(bucket), eager)
			it := opened.NewIter(t.Context(), nil)
			it.First()

			replaceObject(t, bucket, name, one)
			checkGoesOn(t, opened, urls.Keys, set.ErrReplaced)

			noError(t, bucket.Delete(t.Context(), name))
			if _, err := opened.Get(t.Context(), urls.Keys[7]); gcerrors.Code(err) != gcerrors.NotFound {
				t.Errorf("Get from an object that is missing: %v, want NotFound", err)
			}
			putObject(t, bucket, name, one)
			checkGoesOn(t, opened, urls.Keys, set.ErrReplaced)

			replaceObject(t, bucket, name, two)
			for range 3 {
				if got, err := opened.Get(t.Context(), urls.Keys[7]); !errors.Is(err, set.ErrReplaced) && !errors.Is(err, set.ErrMismatch) {
					t.Errorf("Get from another object: %q, %v", got, err)
				}
			}
			replaceObject(t, bucket, name, one)
			checkGoesOn(t, opened, urls.Keys, set.ErrReplaced)
			for it.Next() {
				if string(it.Value()) != "one" {
					t.Fatalf("the Iter is at value %q", it.Value())
				}
			}
			if err := it.Close(); err != nil && !errors.Is(err, set.ErrReplaced) {
				t.Errorf("an Iter from before: %v", err)
			}
		})
	}
}

// checkGoesOn checks that after at most two such errors all keys are found.
func checkGoesOn(t *testing.T, s *set.Set, keys [][]byte, most error) {
	t.Helper()
	for range 2 {
		if _, err := s.Get(t.Context(), keys[7]); err != nil && !errors.Is(err, most) {
			t.Fatalf("Get: %v, want at most %v", err, most)
		}
	}
	found := 0
	err := s.GetMany(t.Context(), keys, nil, func(i int, value []byte) error {
		if found++; string(value) != "one" {
			t.Errorf("GetMany: %q", value)
		}
		return nil
	})
	if err != nil || found != len(keys) {
		t.Errorf("GetMany: %d of %d keys, %v", found, len(keys), err)
	}
}

// object returns the contents of an object.
func object(t *testing.T, bucket *blob.Bucket, key string) string {
	t.Helper()
	contents, err := bucket.ReadAll(context.Background(), key)
	noError(t, err)
	return string(contents)
}

// If a table was truncated when it was opened, lookups succeed once it is whole again: the Source does not remember
// the truncated object.
func TestObjectThatWasTooShort(t *testing.T) {
	urls := workload.W3(500)
	for _, s := range stores {
		for _, readBefore := range []bool{false, true} { // whether the Source already knows the size
			t.Run(fmt.Sprintf("%s/read before: %v", s.name, readBefore), func(t *testing.T) {
				bucket := s.bucket(t)
				m := putSet(t, bucket, blockFilters, urls.Keys, len(urls.Keys), "one")
				name := m.Tables[0].Name
				whole := object(t, bucket, name)
				replaceObject(t, bucket, name, whole[:10])
				src := newStore(bucket)
				if readBefore {
					_, err := src.ReadAt(t.Context(), name, make([]byte, 10), 0)
					noError(t, err)
				}
				opened := openSet(t, bucket, src, nil)
				if _, err := opened.Get(t.Context(), urls.Keys[7]); !errors.Is(err, set.ErrMismatch) {
					t.Errorf("Get from an object that is too short: %v, want ErrMismatch", err)
				}
				replaceObject(t, bucket, name, whole)
				if value, err := opened.Get(t.Context(), urls.Keys[7]); string(value) != "one" || err != nil {
					t.Errorf("when it is back: %q, %v", value, err)
				}
			})
		}
	}
}
