//go:build leveldb && cgo

package leveldbcgo

// #cgo CXXFLAGS: -std=c++17 -O2 -fno-rtti
// #cgo LDFLAGS: -lleveldb
// #include <stdlib.h>
// #include "loops.h"
import "C"

import (
	"errors"
	"fmt"
	"unsafe"

	_ "github.com/sievetable/sievetable/bench/peers/internal/cxxcursor" // its cursor.h
	"github.com/sievetable/sievetable/bench/peers/internal/engine"
)

// New returns the engine.
func New() (engine.Engine, error) { return leveldb{}, nil }

type leveldb struct{}

func (leveldb) Info() engine.Info {
	return engine.Info{
		Name:    "C++ LevelDB",
		Version: fmt.Sprintf("%d.%d", C.ldb_major_version(), C.ldb_minor_version()),
	}
}

// goError makes an error of a message, and frees it.
func goError(message *C.char) error {
	if message == nil {
		return nil
	}
	defer C.free(unsafe.Pointer(message))
	return errors.New("leveldb: " + C.GoString(message))
}

// packed lends p to C++ for the call it is an argument of.
func packed(p engine.Packed) C.ldb_packed {
	return C.ldb_packed{
		data:  (*C.char)(unsafe.Pointer(unsafe.SliceData(p.Data))),
		width: C.size_t(p.Width),
		n:     C.size_t(p.N),
	}
}

func newOptions(o engine.Options, cacheBytes int) *C.ldb_options {
	snappy := C.int(0)
	if o.Snappy {
		snappy = 1
	}
	return C.ldb_options_new(C.int(o.BitsPerKey), engine.BlockSize, engine.RestartInterval, snappy, C.size_t(cacheBytes))
}

func (leveldb) Write(p engine.Pairs, o engine.Options) error {
	if o.Cores > 1 {
		return engine.ErrNone
	}
	options := newOptions(o, 0)
	defer C.ldb_options_free(options)
	return goError(C.ldb_write(options, packed(p.Keys), packed(p.Values), nil, nil))
}

func (leveldb) Build(p engine.Pairs, o engine.Options) (engine.Table, error) {
	options := newOptions(o, 0)
	defer C.ldb_options_free(options)
	t := &contents{options: o}
	if err := goError(C.ldb_write(options, packed(p.Keys), packed(p.Values), &t.data, &t.size)); err != nil {
		return nil, err
	}
	return t, nil
}

func (leveldb) NewFilters(bitsPerKey, perFilter int) (engine.Filters, error) {
	return &filters{C.ldb_filters_new(C.int(bitsPerKey), C.size_t(perFilter))}, nil
}

// filters have memory of C++'s.
type filters struct{ f *C.ldb_filters }

func (f *filters) Build(keys engine.Packed) error {
	C.ldb_filters_build(f.f, packed(keys))
	return nil
}

func (f *filters) Contains(keys engine.Packed) (positives int, err error) {
	return int(C.ldb_filters_contains(f.f, packed(keys))), nil
}

func (f *filters) Close() error {
	C.ldb_filters_free(f.f)
	return nil
}
