package paged_test

import (
	"testing"

	"github.com/sievetable/sievetable/filter/paged"
)

// A shapeReader looks up keys with a Shape, like a program that reads pages itself.
type shapeReader struct {
	paged.Shape
	contents []byte
}

func newReader(t testing.TB, contents []byte) *shapeReader {
	t.Helper()
	s, err := paged.ReadShape(contents, uint64(len(contents)))
	noError(t, err)
	return &shapeReader{s, contents}
}

// pageOf returns the number of the page of a key.
func (r *shapeReader) pageOf(key []byte) uint64 { return r.Page(r.Hash(key)) }

// Contains reports whether the filter may contain key. The error is an ErrCorrupt for a corrupt page.
func (r *shapeReader) Contains(key []byte) (bool, error) {
	h := r.Hash(key)
	n := r.Page(h)
	page := r.contents[n*paged.PageSize:][:paged.PageSize]
	if err := r.CheckPage(page, n); err != nil {
		return false, err
	}
	return r.InPage(page, h), nil
}
