package tablefile

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"unsafe"
)

// A Mapping is a file that is mapped into memory. The memory is unmapped when nothing has the Mapping any more. What
// uses its bytes keeps the Mapping, since the garbage collector does not follow the bytes: Guard sees to that.
type Mapping struct {
	name string // of the file
	data Bytes
}

// ReadAt reads as io.ReaderAt says.
func (m *Mapping) ReadAt(p []byte, off int64) (n int, err error) {
	err = m.guard(func() (err error) {
		n, err = m.data.ReadAt(p, off)
		return err
	})
	return n, err
}

// Slice returns a part of the memory.
func (m *Mapping) Slice(off int64, n int) ([]byte, error) { return m.data.Slice(off, n) }

// Close does nothing: lookups may use the memory still.
func (m *Mapping) Close() error { return nil }

// A faultError is the error of a read that faults.
type faultError struct {
	name string // of the file
	at   uintptr
}

func (e *faultError) Error() string {
	return fmt.Sprintf("table: %s: the mapped file cannot be read at byte %d: it was cut, or its disk fails", e.name, e.at)
}

func (e *faultError) Unwrap() error { return io.ErrUnexpectedEOF }

// Guard calls use, which reads what src hands out. Bytes that are not in a mapped file any more, since another program
// has cut it, cannot be read: the processor faults. Guard turns that into an error.
func Guard(src io.ReaderAt, use func() error) error {
	if m, ok := src.(*Mapping); ok {
		return m.guard(use)
	}
	return use()
}

// Guard is Guard for the source of f.
func (f *File) Guard(use func() error) error {
	if f.Mapped != nil {
		return f.Mapped.guard(use)
	}
	return use()
}

func (m *Mapping) guard(use func() error) (err error) {
	before := debug.SetPanicOnFault(true)
	defer func() {
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
		err = &faultError{m.name, fault.Addr() - m.start()}
	}()
	return use()
}

// has reports whether an address is in the memory.
func (m *Mapping) has(addr uintptr) bool { return addr-m.start() < uintptr(len(m.data)) }

// start returns the address of the first byte.
func (m *Mapping) start() uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(m.data))) }
