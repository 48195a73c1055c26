package tablefile

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"unsafe"
)

// A Mapping is a file mapped into memory. The memory is unmapped when the Mapping becomes unreachable. Code that
// uses its bytes must keep the Mapping alive, because the garbage collector does not track the bytes: Guard does
// that.
type Mapping struct {
	name string // of the file
	data Bytes
}

// ReadAt implements io.ReaderAt.
func (m *Mapping) ReadAt(p []byte, off int64) (n int, err error) {
	err = m.Guard(func() (err error) {
		n, err = m.data.ReadAt(p, off)
		return err
	})
	return n, err
}

// Slice returns n bytes of the memory, from off on.
func (m *Mapping) Slice(off int64, n int) ([]byte, error) { return m.data.Slice(off, n) }

// Close does nothing: lookups may still use the memory.
func (m *Mapping) Close() error { return nil }

// A faultError is returned if a read of mapped memory faults.
type faultError struct {
	name string // of the file
	at   uintptr
}

func (e *faultError) Error() string {
	return fmt.Sprintf("table: %s: the mapped file cannot be read at byte %d: it was truncated, or its disk failed", e.name, e.at)
}

func (e *faultError) Unwrap() error { return io.ErrUnexpectedEOF }

// Guard calls use, which reads bytes of m. If another program has truncated the file, reading the lost bytes faults.
// Guard converts the fault into an error. If m is nil, it only calls use.
func (m *Mapping) Guard(use func() error) (err error) {
	if m == nil {
		return use()
	}
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

// has reports whether addr is in the memory.
func (m *Mapping) has(addr uintptr) bool { return addr-m.start() < uintptr(len(m.data)) }

// start returns the address of the first byte.
func (m *Mapping) start() uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(m.data))) }
