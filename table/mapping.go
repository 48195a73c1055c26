package table

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"unsafe"
)

// A mapping is a file that is mapped into memory. The memory is unmapped when nothing has the
// mapping any more. What uses its bytes keeps the mapping, since the garbage collector does not
// follow the bytes: leave sees to that.
//
// Bytes that are not in the file any more, since another program has cut it, cannot be read: the
// processor faults. leave turns that into an error too. What reads the memory begins with
//
//	defer m.leave(m.enter(), &err)
//
// which does nothing if m is nil. Where that would take too long, the function is split.
type mapping struct {
	name string // of the file
	data Bytes
}

// MapFile maps a file of size bytes into memory, and returns it as a source for [NewReader]. It is for
// programs that open their files themselves: others set [ReaderOptions].Mapped, which says how a mapped
// file is read. The caller may close f. The memory is unmapped when nothing has the source any more, and
// no Reader of it is in use: keep the source as long as you use what its Slice returns.
//
// Give NewReader the source itself. If another type wraps it, a read of what was cut off the file ends
// the program. MapFile returns nil if the file cannot be mapped, or if too many are, as Mapped says.
// Then read the file.
func MapFile(f *os.File, size int64) SliceReaderAt {
	if m := mapFile(f, size); m != nil {
		return m
	}
	return nil
}

// ReadAt reads as io.ReaderAt says.
func (m *mapping) ReadAt(p []byte, off int64) (n int, err error) {
	defer m.leave(m.enter(), &err)
	return m.data.ReadAt(p, off)
}

// Slice returns a part of the memory.
func (m *mapping) Slice(off int64, n int) ([]byte, error) { return m.data.Slice(off, n) }

// Close does nothing: lookups may use the memory still.
func (m *mapping) Close() error { return nil }

// enter has faults of the goroutine panic, and returns whether they did before.
func (m *mapping) enter() (before bool) { return m != nil && debug.SetPanicOnFault(true) }

// leave ends what enter has begun. If the memory has faulted, it sets *err. It must be deferred.
func (m *mapping) leave(before bool, err *error) {
	if m == nil {
		return
	}
	debug.SetPanicOnFault(before)
	p := recover()
	if p == nil {
		runtime.KeepAlive(m)
		return
	}
	fault, ok := p.(interface{ Addr() uintptr })
	if !ok || !m.has(fault.Addr()) {
		panic(p)
	}
	*err = fmt.Errorf("table: %s: the mapped file cannot be read at byte %d: it was cut, or its disk fails: %w", m.name, fault.Addr()-m.start(), io.ErrUnexpectedEOF)
}

// has reports whether an address is in the memory.
func (m *mapping) has(addr uintptr) bool { return addr-m.start() < uintptr(len(m.data)) }

// start returns the address of the first byte.
func (m *mapping) start() uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(m.data))) }
