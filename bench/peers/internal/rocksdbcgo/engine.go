//go:build rocksdb && cgo

package rocksdbcgo

// #cgo CXXFLAGS: -std=c++17 -O2 -fno-rtti
// #cgo LDFLAGS: -lrocksdb
// #include <stdlib.h>
// #include "loops.h"
import "C"

import (
	"errors"
	"unsafe"

	_ "github.com/sievetable/sievetable/bench/peers/internal/cxxcursor" // its cursor.h
	"github.com/sievetable/sievetable/bench/peers/internal/engine"
)

// New returns the engine.
func New() (engine.Engine, error) { return rocksdb{}, nil }

type rocksdb struct{}

// Info names it by whether the library has assertions, which those who measure RocksDB leave out.
func (rocksdb) Info() engine.Info {
	name := "RocksDB"
	if C.rdb_asserts() != 0 {
		name += " with assertions"
	}
	return engine.Info{Name: name, Version: C.GoString(C.rdb_version())}
}

// goError makes an error of a message, and frees it.
func goError(message *C.char) error {
	if message == nil {
		return nil
	}
	defer C.free(unsafe.Pointer(message))
	return errors.New("rocksdb: " + C.GoString(message))
}

// packed lends p to C++ for the call it is an argument of.
func packed(p engine.Packed) C.rdb_packed {
	return C.rdb_packed{
		data:  (*C.char)(unsafe.Pointer(unsafe.SliceData(p.Data))),
		width: C.size_t(p.Width),
		n:     C.size_t(p.N),
	}
}

func options(o engine.Options) C.rdb_options {
	c := C.rdb_options{bits_per_key: C.int(o.BitsPerKey), block_size: engine.BlockSize, restart_interval: engine.RestartInterval}
	if o.Snappy {
		c.snappy = 1
	}
	return c
}

func (rocksdb) Write(p engine.Pairs, o engine.Options) error {
	if o.Cores > 1 {
		return engine.ErrNone
	}
	return goError(C.rdb_write(options(o), packed(p.Keys), packed(p.Values)))
}

func (rocksdb) Build(p engine.Pairs, o engine.Options) (engine.Table, error) {
	t := &table{}
	return t, goError(C.rdb_build(options(o), packed(p.Keys), packed(p.Values), &t.t))
}

// NewFilters is an error: RocksDB's filters are parts of its tables only.
func (rocksdb) NewFilters(int, int) (engine.Filters, error) { return nil, engine.ErrNone }
