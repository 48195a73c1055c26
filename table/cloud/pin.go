package cloud

import (
	"fmt"
	"time"

	"gocloud.dev/blob"
)

// A Pin restricts reads and writes of an object to one of its versions, for one driver of gocloud.dev/blob. Packages
// s3pin and gcspin implement it. Its methods must be safe for concurrent use.
type Pin interface {
	// Version returns the version of the object that r reads, such as its ETag. If r belongs to another driver, or
	// the store sent no version, Version returns "".
	Version(r *blob.Reader) string

	// Require makes a read or write fail unless the object has that version; "" stands for any. It is called for
	// every read of a table. as is the argument of BeforeRead in [blob.ReaderOptions] or of BeforeWrite in
	// [blob.WriterOptions]. For another driver, Require does nothing.
	Require(version string, as func(any) bool)

	// Status returns the HTTP status of the response that err is about. If err is from another driver, or there was
	// no response, Status returns 0.
	Status(err error) int
}

// An object identifies a version of an object. The first read of a table determines it, for all later ones.
type object struct {
	size     int64
	modified time.Time
	pin      Pin // the one that returned version; nil if there is no version
	version  string
}

// objectOf identifies the version that r reads.
func objectOf(r *blob.Reader, pins []Pin) object {
	o := object{size: r.Size(), modified: r.ModTime()}
	for _, pin := range pins {
		if o.version = pin.Version(r); o.version != "" {
			o.pin = pin
			break
		}
	}
	return o
}

// String formats the version for errors.
func (o *object) String() string {
	if o.version != "" {
		return fmt.Sprintf("%d bytes, version %s", o.size, o.version)
	}
	return fmt.Sprintf("%d bytes, modified %s", o.size, o.modified.UTC().Format(time.RFC3339Nano))
}

// same reports whether o and p are the same version. Without a Pin, it compares modification times.
func (o *object) same(p *object) bool {
	if o.size != p.size || o.version != p.version {
		return false
	}
	return o.version != "" || o.modified.Equal(p.modified)
}

// require makes a read or write fail unless the object has version o. Without a Pin, it does nothing.
func (o *object) require(as func(any) bool) error {
	if o.pin != nil {
		o.pin.Require(o.version, as)
	}
	return nil
}

// requireAny has all pins prepare a read of any version.
func (s *Store) requireAny(as func(any) bool) error {
	for _, pin := range s.Pins {
		pin.Require("", as)
	}
	return nil
}
