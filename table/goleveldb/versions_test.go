package goleveldb_test

import (
	"fmt"
	"io"
	"reflect"

	"github.com/syndtr/goleveldb/leveldb/cache"
	"github.com/syndtr/goleveldb/leveldb/opt"
	ltable "github.com/syndtr/goleveldb/leveldb/table"
)

// The tests are built with several versions of goleveldb. This file has what differs.

// theirWriter returns goleveldb's Writer. Where NewWriter takes a pool and a size, they are zero
// unless they are given.
func theirWriter(f io.Writer, o *opt.Options, poolAndSize ...any) writer {
	create := reflect.ValueOf(ltable.NewWriter)
	args := []reflect.Value{reflect.ValueOf(f), reflect.ValueOf(o)}
	for i := len(args); i < create.Type().NumIn(); i++ {
		arg := reflect.Zero(create.Type().In(i))
		if i-2 < len(poolAndSize) {
			arg = reflect.ValueOf(poolAndSize[i-2])
		}
		args = append(args, arg)
	}
	return create.Call(args)[0].Interface().(writer)
}

// withFilterBaseLg returns o with a FilterBaseLg, where options have one.
func withFilterBaseLg(o opt.Options, lg int) opt.Options {
	if f := reflect.ValueOf(&o).Elem().FieldByName("FilterBaseLg"); f.IsValid() {
		f.SetInt(int64(lg))
	}
	return o
}

// closeCache closes a cache.
func closeCache(c *cache.Cache) {
	switch c := any(c).(type) {
	case interface{ Close(force bool) }:
		c.Close(false)
	case interface{ Close() error }:
		_ = c.Close() // it returns none
	default:
		panic(fmt.Sprintf("%T has no Close", c))
	}
}
